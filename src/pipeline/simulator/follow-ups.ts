/** Records the events that follow a simulated delivery. */

import type { recipientCommands } from '../../resources/events/commands.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import { simulate } from './simulate.ts'

/** Records the complaint, open or click that the address stands for. */
export async function recordFollowUps(
  run: Run<typeof recipientCommands>,
  delivery: ClaimedDelivery,
  { kind }: { kind: string },
  at: number,
): Promise<void> {
  if (kind !== 'delivered') return
  const { accountId, emailId, ordinal, domain } = delivery
  const ref = { accountId, emailId, ordinal, at }
  const visitor = { ip_address: '192.0.2.1', user_agent: 'Simulator' }
  for (const event of simulate(delivery).followedBy)
    if (event === 'complained')
      await run('complain', { ...ref, data: { complaint: { type: 'abuse' } }, suppress: false })
    else if (event === 'opened') await run('opened', { ...ref, data: { open: visitor } })
    else await run('clicked', { ...ref, data: { click: { link: `https://${domain}/`, ...visitor } } })
}
