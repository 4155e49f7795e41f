/**
 * Finds the email that a request names. It must belong to the account, be in the retention window, and be
 * accessible to the credential. Replies with the email after a change.
 */

import type { Id } from '../../../lib/ids.ts'
import { explainParts } from '../../../pipeline/queue/explained.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { type EmailParts, findEmailParts } from '../../../resources/emails/email-rows.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import { findSuppressions } from '../../../resources/suppressions/suppression-rows.ts'
import type { Db, EmailRow } from '../../../store/model/schema.ts'
import type { Find, ReadTogether } from '../../../store/reading/read.ts'
import { notFound, orNotFound } from '../api-error.ts'
import { mayTouch } from '../auth/bound-key.ts'
import { type ApiReply, type ApiRequest, ok, pathId } from '../route/route.ts'
import { emailView } from './schema.ts'

export interface OwnEmailOptions {
  store: { find: Find }
  /** Emails that ended at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
}

/**
 * Finds the email with the `:id` of the path, with the given columns.
 *
 * @throws ApiError 404
 */
export async function findOwnEmail<C extends keyof EmailRow>(
  { store, horizonOf }: OwnEmailOptions,
  request: Pick<ApiRequest, 'params' | 'credential'>,
  columns: readonly C[],
): Promise<Pick<EmailRow, C> & { accountId: Id; id: Id; horizon: number }> {
  const { credential } = request
  const { accountId } = credential
  const id = pathId(request, 'eml')
  const horizon = await horizonOf(accountId)
  const needed = [...new Set([...columns, 'sender', 'endedAt'] as const)]
  const [email] = await store.find('emails', [{ accountId, id }], needed)
  if (!email || !isVisible(email, horizon) || !mayTouch(credential, email)) throw notFound('Email')
  return { ...email, accountId, id, horizon }
}

/** Parts that a reply with a whole email needs. */
export interface ShownEmailParts extends OwnEmailOptions {
  store: { db: Db; find: Find; readTogether: ReadTogether }
  pathsTo: PathsTo
  isDiskFull(): Promise<boolean>
  now(): number
}

/** @returns entries of the recipients in the suppression list, in the order of the deliveries */
export function suppressionsOf(find: Find, { email, deliveries }: EmailParts) {
  const addresses = deliveries.map(({ address }) => address)
  return findSuppressions(find, email.accountId, addresses)
}

/**
 * Replies with an email as it is now.
 *
 * @throws ApiError 404 when it has been deleted meanwhile
 */
export async function replyWithEmail(
  { store, pathsTo, isDiskFull, now }: ShownEmailParts,
  { accountId, id, horizon }: { accountId: Id; id: Id; horizon: number },
): Promise<ApiReply> {
  const stored = orNotFound(await findEmailParts(store, accountId, id, horizon), 'Email')
  const explained = await explainParts({ db: store.db, pathsTo, isDiskFull, now: now() }, stored)
  return ok(emailView(stored, explained, await suppressionsOf(store.find, stored)))
}
