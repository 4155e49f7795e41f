/** Connects the simulator to delivery: the result of an attempt, and the events that follow it. */

import { formatReply } from '../../protocols/smtp/reply.ts'
import type { recipientCommands } from '../../resources/events/commands.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import { type Simulated, simulate } from './simulate.ts'

/** Result of a simulated attempt, in the format of a real attempt. */
interface SimulatedAttempt {
  kind: Simulated['outcome']
  class: Simulated['class']
  phase: string
  reply: Simulated['reply']
  text: string
  hostAttempts: []
  retryAfterMs?: number
  simulated: true
}

export function simulatedAttempt({ address, attempt }: ClaimedDelivery): SimulatedAttempt {
  const { outcome, class: bounceClass, reply, retryAfterMs } = simulate(address, attempt)
  return {
    kind: outcome,
    class: bounceClass,
    phase: outcome === 'delivered' ? 'final-dot' : 'rcpt',
    reply,
    text: formatReply(reply),
    hostAttempts: [],
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    simulated: true,
  }
}

/** Records the complaint, open or click that the address stands for. */
export async function recordFollowUps(
  run: Run<typeof recipientCommands>,
  { accountId, emailId, ordinal, address, domain, attempt }: ClaimedDelivery,
  { kind }: { kind: string },
  at: number,
): Promise<void> {
  if (kind !== 'delivered') return
  const ref = { accountId, emailId, ordinal, at }
  const visitor = { ip_address: '192.0.2.1', user_agent: 'Simulator' }
  for (const event of simulate(address, attempt).followedBy)
    if (event === 'complained')
      await run('complain', { ...ref, data: { complaint: { type: 'abuse' } }, suppress: false })
    else if (event === 'opened') await run('opened', { ...ref, data: { open: visitor } })
    else await run('clicked', { ...ref, data: { click: { link: `https://${domain}/`, ...visitor } } })
}
