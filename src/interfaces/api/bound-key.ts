/**
 * What an API key that is bound to one domain may see and do; sessions and other keys act for the whole
 * account.
 */
import { isSentFrom } from '../../resources/emails/email-rows.ts'
import { ApiError } from './api-error.ts'
import type { Credential } from './route.ts'

/** The only domain whose mail the credential sends and sees, or null when it may all. */
export function boundDomain(credential: Credential): string | null {
  return credential.kind === 'key' ? credential.domain : null
}

/** Whether an email is one the credential may see or change; to others it must look as if there were none. */
export function mayTouch(credential: Credential, email: { sender: string }): boolean {
  return isSentFrom(boundDomain(credential), email)
}

/**
 * Refuses keys that are bound to a domain where the whole account is concerned.
 *
 * @throws ApiError 403
 */
export function insistOnWholeAccount(credential: Credential): void {
  const domain = boundDomain(credential)
  if (domain !== null)
    throw new ApiError(
      403,
      'invalid_access',
      `This API key is restricted to the domain ${domain} and cannot change data of the whole account.`,
    )
}
