/** Restricts routes to operators of the installation. */
import { ApiError } from './api-error.ts'
import { type ApiRequest, sessionOf } from './route.ts'

export function isOperator(request: ApiRequest): boolean {
  return sessionOf(request).operator
}

/** @throws ApiError 403 */
export function insistOnOperator(request: ApiRequest): void {
  if (!isOperator(request))
    throw new ApiError(403, 'invalid_access', 'This endpoint requires a session of an operator.')
}
