/** Emails: sent and looked at. */
import type { Accept } from '../../accept/accept.ts'
import { LONGEST_KEY } from '../../accept/idempotency.ts'
import { isRefusal } from '../../accept/refusal.ts'
import type { IdempotencyToken } from '../../accept/submission.ts'
import type { Plans } from '../../accounts/plans.ts'
import { parseWireId, wireId } from '../../lib/ids.ts'
import { findEmailParts } from '../../store/emails.ts'
import type { ReadTogether } from '../../store/read.ts'
import type { Db } from '../../store/schema.ts'
import { SEND_BODY_LIMIT_BYTES } from '../body.ts'
import { boundDomain, mayTouch } from '../bound-key.ts'
import { notFound, Refused, refusedBy } from '../refused.ts'
import { type ApiRequest, ok, type Route } from '../route.ts'
import { emailView } from '../wire/email-view.ts'
import { readSendEmail } from '../wire/send-email.ts'

interface EmailRoutesOptions {
  accept: Accept
  /** Emails that ended then or before are out of the account's sight. */
  horizonOf: Plans['horizonOf']
  store: { db: Db; readTogether: ReadTogether }
}

export function emailRoutes({ accept, horizonOf, store }: EmailRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/emails',
      access: 'key',
      bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
      async handle(request) {
        const { body, idempotency } = await readRepeatable(request, '/emails')
        const submission = readSendEmail(body)
        const accepted = await accept.send(senderOf(request), submission, idempotency)
        if (isRefusal(accepted)) throw refusedBy(accepted)
        return ok({ id: wireId('eml', accepted.ids[0]!) })
      },
    },
    {
      method: 'GET',
      path: '/emails/:id',
      access: 'key',
      async handle({ params, credential }) {
        const { accountId } = credential
        const id = parseWireId('eml', params.id!)
        const parts = id && (await findEmailParts(store, accountId, id, await horizonOf(accountId)))
        if (!parts || !mayTouch(credential, parts.email)) throw notFound('Email')
        return ok(emailView(parts))
      },
    },
  ]
}

function senderOf({ credential }: ApiRequest) {
  const apiKeyId = credential.kind === 'key' ? credential.apiKeyId : null
  return { accountId: credential.accountId, apiKeyId, domain: boundDomain(credential) }
}

/** The body, and what makes the request known when it is repeated. @throws Refused 400 when the key is unusable */
async function readRepeatable(
  request: ApiRequest,
  endpoint: string,
): Promise<{ body: unknown; idempotency: IdempotencyToken | null }> {
  const key = request.headers['idempotency-key']
  if (key === undefined) return { body: await request.body(), idempotency: null }
  const { body, hash: bodyHash } = await request.hashedBody()
  if (typeof key !== 'string' || key.trim() === '' || key.length > LONGEST_KEY)
    throw new Refused(
      400,
      'invalid_idempotency_key',
      `The Idempotency-Key header must have 1 to ${LONGEST_KEY} characters.`,
    )
  return { body, idempotency: { endpoint, key, bodyHash } }
}
