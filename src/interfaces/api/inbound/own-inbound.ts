/**
 * Finds the received message that a request names. It must belong to the account, be in the retention window,
 * and be accessible to the credential.
 */

import { findInbound, type InboundAccess, type ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { Find } from '../../../store/reading/read.ts'
import { orNotFound } from '../api-error.ts'
import { boundDomain } from '../auth/bound-key.ts'
import { type ApiRequest, type Credential, pathId } from '../route/route.ts'

export interface InboundSightParts {
  store: { find: Find }
  /** Messages received at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
}

export async function sightOf(credential: Credential, horizonOf: Plans['horizonOf']): Promise<InboundAccess> {
  const { accountId } = credential
  return { accountId, horizon: await horizonOf(accountId), domain: boundDomain(credential) }
}

/**
 * Finds the received message with the `:id` of the path.
 *
 * @throws ApiError 404
 */
export async function findOwnInbound(
  { store, horizonOf }: InboundSightParts,
  request: Pick<ApiRequest, 'params' | 'credential'>,
): Promise<ShownInbound> {
  const id = pathId(request, 'inb')
  const sight = await sightOf(request.credential, horizonOf)
  return orNotFound(await findInbound(store.find, sight, id), 'Received message')
}
