/** Schedules the sealing of emails: two seconds after they arrive, one account after another. */
import type { Clock, Timer } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Packer } from './pack.ts'

interface Packing {
  /** Reports accounts that may have emails to seal. */
  note(accountIds: readonly Id[]): void
  /** Resolves when the account in progress is done. */
  close(): Promise<void>
}

/** A burst of emails becomes one job per account in this time. */
const SEAL_DELAY_MS = 2_000

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
    timer ??= clock.timer(SEAL_DELAY_MS, () => {
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
