/** Limits of sessions and transactions that a peer announces (RFC 9422). */

export interface SessionLimits {
  /** Transactions per session (MAILMAX). */
  mails: number
  /** Recipients per transaction (RCPTMAX). */
  recipients: number
  /** Recipient domains per session (RCPTDOMAINMAX). */
  domains: number
}

export const NO_LIMITS: SessionLimits = { mails: Infinity, recipients: Infinity, domains: Infinity }
const LIMIT = /^(MAILMAX|RCPTMAX|RCPTDOMAINMAX)=([1-9]\d{0,5})$/i
const NAMES = { MAILMAX: 'mails', RCPTMAX: 'recipients', RCPTDOMAINMAX: 'domains' } as const

/** @param parameter of the EHLO keyword LIMITS; unknown limits are ignored (RFC 9422 §4) */
export function limitsOf(parameter: string | undefined): SessionLimits {
  if (parameter === undefined) return NO_LIMITS
  const limits = { ...NO_LIMITS }
  for (const word of parameter.split(/[ ;]+/)) {
    const [, name, value] = LIMIT.exec(word) ?? []
    if (name !== undefined) limits[NAMES[name.toUpperCase() as keyof typeof NAMES]] = Number(value)
  }
  return limits
}
