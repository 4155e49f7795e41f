/** The account at a certificate authority (RFC 8555 §7.3): a key of ours, and what it is called there. */
import { AcmeFault } from './fault.ts'
import type { AcmeSession } from './session.ts'

/**
 * Of a key that has an account already, that one. Who asks for certificates agrees to the terms.
 * @param email null for an account without an address
 * @returns its URL @throws AcmeFault
 */
export async function openAccount(session: AcmeSession, email: string | null): Promise<string> {
  const { newAccount } = await session.directory()
  const contact = email === null ? {} : { contact: [`mailto:${email}`] }
  const { location } = await session.post(newAccount, { termsOfServiceAgreed: true, ...contact }, null)
  if (location === null) throw new AcmeFault('unreadable', 'the authority does not say where the account is')
  return location
}
