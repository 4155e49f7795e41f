/** Restricts routes to operators of the installation: their sessions, and access tokens with their rights. */
import { ApiError } from '../api-error.ts'
import type { ApiRequest } from '../route/route.ts'

export function isOperator({ credential }: ApiRequest): boolean {
  if (credential.kind === 'session') return credential.session.operator
  return credential.kind === 'token' && credential.operator
}

/** @throws ApiError 403 */
export function requireOperator(request: ApiRequest): void {
  if (!isOperator(request))
    throw new ApiError(403, 'invalid_access', 'This endpoint requires a session of an operator.')
}
