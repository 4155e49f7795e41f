/**
 * The suppression list of an account: search, add, remove. The API routes call it. Mail is checked against
 * the list when it is accepted and before each attempt.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db, SuppressionReason, SuppressionRow } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import {
  listSuppressions,
  type SuppressionFilter,
  type SuppressionPage,
  type SuppressionsFound,
} from './list.ts'
import { findSuppression, type SuppressionRef, type suppressionCommands } from './suppression-rows.ts'

export interface Suppressions {
  /** @throws TooManyWaiting if too many searches are waiting */
  list(accountId: Id, filter: SuppressionFilter, page: SuppressionPage): Promise<SuppressionsFound>
  find(accountId: Id, ref: SuppressionRef): Promise<SuppressionRow | undefined>
  /**
   * Adds folded addresses. Existing entries stay unchanged.
   * @returns the entries in the order of the addresses
   */
  add(
    accountId: Id,
    emails: readonly string[],
    reason: SuppressionReason,
  ): Promise<{ row: SuppressionRow; isNew: boolean }[]>
  /** @returns the removed entries in the order of the references, undefined where there was none */
  remove(accountId: Id, refs: readonly SuppressionRef[]): Promise<(SuppressionRow | undefined)[]>
}

interface SuppressionOptions {
  db: Db
  find: Find
  run: Run<typeof suppressionCommands>
  clock: Clock
}

/** A search reads every entry of the account, so the number of concurrent searches is limited. */
const CONCURRENT_SEARCHES_MAX = 2
const WAITING_SEARCHES_MAX = 50

export function createSuppressions({ db, find, run, clock }: SuppressionOptions): Suppressions {
  const searches = createSemaphore(CONCURRENT_SEARCHES_MAX, WAITING_SEARCHES_MAX)
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
