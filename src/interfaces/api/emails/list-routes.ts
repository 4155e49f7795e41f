/** Serves the list, the search and the export of emails. */

import type { Id } from '../../../lib/ids.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { EmailReader } from '../../../resources/search/reader.ts'
import { orNotFound } from '../api-error.ts'
import { boundDomain } from '../auth/bound-key.ts'
import { csvFile, exportReply } from '../route/export.ts'
import { type ApiRequest, ok, type Route } from '../route/route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { CSV_HEADER } from './csv.ts'
import { emailFilterQuery, emailPageQuery, readEmailFilter, readEmailPage } from './list-query.ts'
import { emailRowSchema, emailRowView } from './schema.ts'

interface EmailListRoutesOptions {
  reader: Pick<EmailReader, 'listEmails'> & {
    /** Returns a batch of emails as CSV lines, and the position of the next batch. */
    exportEmails(
      input: Parameters<EmailReader['readBatch']>[0],
    ): Promise<{ csv: Uint8Array; next: Id | null }>
  }
  /** Emails that ended at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
}

export function emailListRoutes({ reader, horizonOf }: EmailListRoutesOptions): Route[] {
  const scopeOf = async ({ credential }: ApiRequest) => ({
    accountId: credential.accountId,
    horizon: await horizonOf(credential.accountId),
    domain: boundDomain(credential),
  })
  return [
    {
      method: 'GET',
      path: '/emails',
      access: 'key',
      summary: 'List and search emails, newest first',
      query: { ...emailFilterQuery, ...emailPageQuery },
      replies: { 200: listSchema(emailRowSchema) },
      async handle(request) {
        const filter = readEmailFilter(request.query)
        const page = readEmailPage(request.query)
        const found = await reader.listEmails({ scope: await scopeOf(request), filter, page })
        const { total, hasMore, emails } = orNotFound(found, 'Email')
        return ok({ object: 'list', total, has_more: hasMore, data: emails.map(emailRowView) })
      },
    },
    {
      method: 'GET',
      path: '/emails/export',
      access: 'key',
      summary: 'Export emails as CSV',
      query: emailFilterQuery,
      replies: { 200: 'text/csv' },
      async handle(request) {
        const filter = readEmailFilter(request.query)
        const scope = await scopeOf(request)
        const first = await reader.exportEmails({ scope, filter, from: null })
        const following = (from: Id) => reader.exportEmails({ scope, filter, from })
        return exportReply('emails', 'csv', csvFile(CSV_HEADER, first, following))
      },
    },
  ]
}
