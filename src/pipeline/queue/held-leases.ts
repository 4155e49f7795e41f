/**
 * Which leases a worker holds, as its commands tell: those it was given and has neither finished nor given
 * back. A lease whose claim was committed but never answered is not among them; nobody keeps it, and it runs
 * out.
 */
import { idKey } from '../../lib/ids.ts'
import { type Claim, type Run, StorageUnavailable } from '../../store/command.ts'
import type { LeaseRef, queueCommands } from './commands.ts'

export interface HeldLeases {
  /** What the worker is to run its commands by. */
  run: Run<typeof queueCommands>
  all(): LeaseRef[]
}

export function trackLeases(run: Run<typeof queueCommands>): HeldLeases {
  const held = new Map<string, LeaseRef>()
  const tracked = async (name: keyof typeof queueCommands, input: never) => {
    if (name === 'release') held.delete(keyOf(input))
    try {
      const output = await run(name, input)
      if (name === 'finish') held.delete(keyOf(input))
      if (name === 'claim')
        for (const { deliveries } of output as Claim[])
          for (const { accountId, emailId, ordinal, attempt } of deliveries)
            held.set(keyOf({ emailId, ordinal }), { accountId, emailId, ordinal, attempt })
      return output
    } catch (error) {
      if (name === 'finish' && !(error instanceof StorageUnavailable)) held.delete(keyOf(input))
      throw error
    }
  }
  return { run: tracked as Run<typeof queueCommands>, all: () => [...held.values()] }
}

function keyOf({ emailId, ordinal }: Pick<LeaseRef, 'emailId' | 'ordinal'>): string {
  return `${idKey(emailId)} ${ordinal}`
}
