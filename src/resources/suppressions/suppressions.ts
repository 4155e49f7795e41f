/**
 * The suppression list of an account: looked through, added to, taken from. Mail heeds it at accept and
 * before each attempt.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { Run } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import type { Db, SuppressionReason, SuppressionRow } from '../../store/schema.ts'
import {
  listSuppressions,
  type SuppressionFilter,
  type SuppressionPage,
  type SuppressionsFound,
} from './list.ts'
import { findSuppression, type SuppressionRef, type suppressionCommands } from './suppression-rows.ts'

export interface Suppressions {
  /** @throws TooManyWaiting when too many are searching already */
  list(accountId: Id, filter: SuppressionFilter, page: SuppressionPage): Promise<SuppressionsFound>
  find(accountId: Id, ref: SuppressionRef): Promise<SuppressionRow | undefined>
  /** The entries of these folded addresses, in their order; one that was there before stays as it is. */
  add(
    accountId: Id,
    emails: readonly string[],
    reason: SuppressionReason,
  ): Promise<{ row: SuppressionRow; isNew: boolean }[]>
  /** What was taken away, in the order of the references; undefined where there was nothing. */
  remove(accountId: Id, refs: readonly SuppressionRef[]): Promise<(SuppressionRow | undefined)[]>
}

interface SuppressionOptions {
  db: Db
  find: Find
  run: Run<typeof suppressionCommands>
  clock: Clock
}

/** Searches look at every entry: they are not to be what a process does all day. */
const SEARCHES_AT_ONCE = 2
const SEARCHES_WAITING = 50

export function createSuppressions({ db, find, run, clock }: SuppressionOptions): Suppressions {
  const searches = createSemaphore(SEARCHES_AT_ONCE, SEARCHES_WAITING)
  return {
    list(accountId, filter, page) {
      const list = () => listSuppressions({ db, find }, accountId, filter, page)
      return filter.search === '' && filter.reason === null ? list() : searches.run(list)
    },
    find: (accountId, ref) => findSuppression(find, accountId, ref),
    add(accountId, emails, reason) {
      const at = clock.now()
      const entries = emails.map(email => ({ accountId, email, reason, sourceId: null, at }))
      return run('suppress', entries)
    },
    remove: (accountId, refs) => run('unsuppress', { accountId, refs }),
  }
}
