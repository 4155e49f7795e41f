/**
 * Finds the email that a request names. It must belong to the account, be in the retention window, and be
 * accessible to the credential.
 */

import type { Id } from '../../../lib/ids.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import type { EmailRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { notFound } from '../api-error.ts'
import { mayTouch } from '../auth/bound-key.ts'
import { type ApiRequest, pathId } from '../route/route.ts'

export interface OwnEmailParts {
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
  { store, horizonOf }: OwnEmailParts,
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
