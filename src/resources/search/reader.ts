/**
 * Searches emails. In: a scope, a filter and a page. Out: rows and a total, each answered from one snapshot.
 * The query worker calls it for the API and the dashboard.
 */

import type { Id } from '../../lib/ids.ts'
import { machineMemoryBytes, searchCacheCharacters } from '../../lib/machine-memory.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Snapshot } from '../../store/reading/read.ts'
import { isSentFrom } from '../emails/email-rows.ts'
import { visibleSince } from '../emails/visible.ts'
import { type Batch, readExportBatch } from './export.ts'
import type { EmailFilter, Scope } from './facets.ts'
import { type EmailPage, listEmails, type SearchPage } from './list.ts'
import { TextCache } from './texts.ts'

export interface EmailReader {
  /** Returns undefined if the page begins at an email outside the scope. */
  listEmails(input: { scope: Scope; filter: EmailFilter; page: SearchPage }): Promise<EmailPage | undefined>
  /** @param from `next` of the previous batch; null for the first */
  readBatch(input: { scope: Scope; filter: EmailFilter; from: Id | null }): Promise<Batch>
}

export function createEmailReader({ snapshot }: { snapshot: Snapshot }): EmailReader {
  const texts = new TextCache(searchCacheCharacters(machineMemoryBytes()))
  return {
    readBatch: ({ scope, filter, from }) =>
      snapshot(db => readExportBatch({ db, texts }, scope, filter, from)),
    listEmails: ({ scope, filter, page }) =>
      snapshot(async db => {
        const edge = page.after ?? page.before
        if (edge && !(await isInScope(db, scope, edge))) return undefined
        return listEmails({ db, texts }, scope, filter, page)
      }),
  }
}

async function isInScope(db: Db, { accountId, horizon, domain }: Scope, id: Id): Promise<boolean> {
  const email = await db
    .selectFrom('emails')
    .select('sender')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .where(visibleSince(horizon))
    .executeTakeFirst()
  return email !== undefined && isSentFrom(domain, email)
}
