/** Decides when emails are sealed: a while after they came, one account after the other. */
import type { Clock, Timer } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Packer } from './pack.ts'

interface Packing {
  /** Accounts that have, or may have, emails to be sealed. */
  note(accountIds: readonly Id[]): void
  /** Resolves when the account under way is done. */
  close(): Promise<void>
}

/** By then a burst has made one account's work out of many. */
const PATIENCE_MS = 2_000

export function createPacking({
  packer,
  clock,
  onError,
}: {
  packer: Packer
  clock: Clock
  onError(error: unknown): void
}): Packing {
  const noted = new Map<string, Id>()
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let isClosed = false

  const work = async () => {
    for (const [key, accountId] of noted) {
      if (isClosed) return
      noted.delete(key)
      await packer.pack(accountId).catch(onError)
    }
    timer = undefined
    if (noted.size > 0) schedule()
  }
  const schedule = () => {
    timer ??= clock.timer(PATIENCE_MS, () => {
      running = work()
    })
  }
  return {
    note(accountIds) {
      for (const accountId of accountIds) noted.set(idKey(accountId), accountId)
      if (noted.size > 0 && !isClosed) schedule()
    },
    close() {
      isClosed = true
      timer?.cancel()
      return running
    },
  }
}
