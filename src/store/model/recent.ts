/**
 * Cache of recently accepted emails in the writer. Most are delivered at once, so the next claim need not
 * read and decompress them. The database already has them.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import { Slab } from '../../lib/slab.ts'
import type { EmailSource } from './schema/emails.ts'

export interface RecentEmails {
  put(emailId: Id, source: EmailSource): void
  /** The email for one of its deliveries, or undefined when it must be read. */
  take(emailId: Id): EmailSource | undefined
  /** Drops emails that were not taken within `STALE_AFTER_MS`. */
  dropStale(): void
}

interface Entry {
  source: EmailSource
  size: number
  /** Number of deliveries that have not taken the email yet. */
  left: number
  at: number
}

const TOTAL_CHARACTERS_MAX = 16 * 1024 * 1024
const RESULT_CHARACTERS_MAX = 64 * 1024
/** Time by which a delivery that is to be claimed at once has been claimed. */
const STALE_AFTER_MS = 10_000

/**
 * Creates the cache. A full cache does not accept new emails: those that wait longest are claimed first.
 *
 * @param now returns a monotonic time in ms
 */
export function createRecentEmails(now: () => number = () => performance.now()): RecentEmails {
  const entries = new Slab<Entry>()
  /** Numbers in `entries` by email, the oldest first. */
  const numbers = new Map<string, number>()
  let total = 0

  const drop = (key: string, number: number) => {
    numbers.delete(key)
    total -= entries.take(number)!.size
  }
  const dropStaleAt = (time: number) => {
    for (const [key, number] of numbers) {
      if (time - entries.at(number)!.at < STALE_AFTER_MS) return
      drop(key, number)
    }
  }

  return {
    put(emailId, source) {
      const at = now()
      dropStaleAt(at)
      const key = idKey(emailId)
      const former = numbers.get(key)
      if (former !== undefined) drop(key, former)
      const size = (source.content.html?.length ?? 0) + (source.content.text?.length ?? 0)
      if (size > RESULT_CHARACTERS_MAX) return
      if (total + size > TOTAL_CHARACTERS_MAX) return
      numbers.set(key, entries.put({ source, size, left: source.recipientCount, at }))
      total += size
    },
    take(emailId) {
      const key = idKey(emailId)
      const number = numbers.get(key)
      if (number === undefined) return undefined
      const entry = entries.at(number)!
      if (--entry.left <= 0) drop(key, number)
      return entry.source
    },
    dropStale: () => dropStaleAt(now()),
  }
}
