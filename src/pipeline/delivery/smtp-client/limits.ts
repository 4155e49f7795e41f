/** What a peer takes in one session and one transaction, where it says so (RFC 9422). */

export interface SessionLimits {
  /** Transactions in the session (MAILMAX). */
  mails: number
  /** Recipients in a transaction (RCPTMAX). */
  recipients: number
  /** Recipient domains in the session (RCPTDOMAINMAX). */
  domains: number
}

export const NO_LIMITS: SessionLimits = { mails: Infinity, recipients: Infinity, domains: Infinity }
const LIMIT = /^(MAILMAX|RCPTMAX|RCPTDOMAINMAX)=([1-9]\d{0,5})$/i
const NAMES = { MAILMAX: 'mails', RCPTMAX: 'recipients', RCPTDOMAINMAX: 'domains' } as const

/** @param parameter of the EHLO keyword LIMITS; what is unknown in it is passed over (RFC 9422 §4) */
export function limitsOf(parameter: string | undefined): SessionLimits {
  if (parameter === undefined) return NO_LIMITS
  const limits = { ...NO_LIMITS }
  for (const word of parameter.split(/[ ;]+/)) {
    const [, name, value] = LIMIT.exec(word) ?? []
    if (name !== undefined) limits[NAMES[name.toUpperCase() as keyof typeof NAMES]] = Number(value)
  }
  return limits
}
