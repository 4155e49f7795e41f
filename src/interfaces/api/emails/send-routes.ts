/** Serves `POST /emails` and `GET /emails/:id`. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import type { Accept } from '../../../pipeline/accept/accept.ts'
import { isRefusal } from '../../../pipeline/accept/refusal.ts'
import { explainParts } from '../../../pipeline/queue/explained.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { findEmailParts } from '../../../resources/emails/email-rows.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find, ReadTogether } from '../../../store/reading/read.ts'
import { apiErrorOf, notFound } from '../api-error.ts'
import { mayTouch } from '../auth/bound-key.ts'
import { ok, pathId, type Route } from '../route/route.ts'
import { warningsSchema, withWarnings } from '../route/warnings.ts'
import { idSchema } from '../schema/reply-schemas.ts'
import { createFindPersonalLinks } from '../unsubscribe/url.ts'
import { idempotencyHeader, readIdempotent, senderOf } from './idempotency-header.ts'
import { suppressionsOf } from './own-email.ts'
import { emailSchema, emailView } from './schema.ts'
import { sendEmailSchema } from './send-schema.ts'
import { warningsOfSend } from './send-warnings.ts'
import { SEND_BODY_LIMIT_BYTES } from './send-work.ts'

interface EmailRoutesOptions {
  accept: Accept
  /** Emails that ended at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
  store: { db: Db; find: Find; readTogether: ReadTogether }
  secrets: SecretKeys
  pathsTo: PathsTo
  isDiskFull(): Promise<boolean>
  now(): number
}

export function emailRoutes(options: EmailRoutesOptions): Route[] {
  const { accept, horizonOf, store, secrets, pathsTo, isDiskFull, now } = options
  const linksOf = createFindPersonalLinks({ find: store.find, secrets })
  return [
    {
      method: 'POST',
      path: '/emails',
      access: 'key',
      scopes: ['emails:send'],
      bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
      summary: 'Send or schedule an email',
      body: sendEmailSchema,
      headers: idempotencyHeader,
      replies: { 200: z.object({ id: idSchema('eml'), warnings: warningsSchema }) },
      async handle(request) {
        const { prepared, idempotency } = await readIdempotent(request, '/emails', null)
        const warnings = warningsOfSend(prepared)
        const accepted = await accept.send(senderOf(request), prepared, idempotency)
        if (isRefusal(accepted)) throw apiErrorOf(accepted)
        return ok(withWarnings({ id: wireId('eml', accepted.ids[0]!) }, warnings))
      },
    },
    {
      method: 'GET',
      path: '/emails/:id',
      access: 'key',
      summary: 'Retrieve an email: content, recipients, delivery attempts and events',
      replies: { 200: emailSchema },
      async handle(request) {
        const { credential } = request
        const { accountId } = credential
        const id = pathId(request, 'eml')
        const parts = await findEmailParts(store, accountId, id, await horizonOf(accountId))
        if (!parts || !mayTouch(credential, parts.email)) throw notFound('Email')
        const explained = await explainParts({ db: store.db, pathsTo, isDiskFull, now: now() }, parts)
        const suppressions = await suppressionsOf(store.find, parts)
        return ok(emailView(parts, explained, suppressions, await linksOf(parts.email)))
      },
    },
  ]
}
