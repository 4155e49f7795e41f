/**
 * Restricts API keys that are bound to one domain. Sessions, access tokens and other keys act for the whole
 * account.
 */
import { isSentFrom } from '../../../resources/emails/email-rows.ts'
import { ApiError } from '../api-error.ts'
import type { Credential } from '../route/route.ts'

/** Returns the domain that a credential is restricted to, or null without a restriction. */
export function boundDomain(credential: Credential): string | null {
  return credential.kind === 'key' ? credential.domain : null
}

/** Tells whether a credential may access an email. If not, the API answers as if the email did not exist. */
export function mayTouch(credential: Credential, email: { sender: string }): boolean {
  return isSentFrom(boundDomain(credential), email)
}

/**
 * Refuses API keys that are bound to a domain, on routes that affect the whole account.
 *
 * @throws ApiError 403
 */
export function requireWholeAccount(credential: Credential): void {
  const domain = boundDomain(credential)
  if (domain !== null)
    throw new ApiError(
      403,
      'invalid_access',
      `This API key is restricted to the domain ${domain} and cannot change data of the whole account.`,
    )
}
