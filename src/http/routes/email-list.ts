/** Emails listed and searched. */
import type { Plans } from '../../accounts/plans.ts'
import type { EmailReader } from '../../search/reader.ts'
import { boundDomain } from '../bound-key.ts'
import { notFound } from '../refused.ts'
import { type ApiRequest, ok, type Route } from '../route.ts'
import { readEmailFilter, readEmailPage } from '../wire/email-query.ts'
import { emailRowView } from '../wire/email-view.ts'

interface EmailListRoutesOptions {
  reader: Pick<EmailReader, 'listEmails'>
  /** Emails that ended then or before are out of the account's sight. */
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
      async handle(request) {
        const filter = readEmailFilter(request.query)
        const page = readEmailPage(request.query)
        const found = await reader.listEmails({ scope: await scopeOf(request), filter, page })
        if (!found) throw notFound('Email')
        const { total, hasMore, emails } = found
        return ok({ object: 'list', total, has_more: hasMore, data: emails.map(emailRowView) })
      },
    },
  ]
}
