/**
 * What an attempt through a smart host comes to: what is wrong between it and us is never the recipient's
 * fault.
 */
import type { Outcome } from './outcome.ts'

/** Before a recipient is named. */
const PHASES_BEFORE_MAIL: ReadonlySet<string | null> = new Set([
  'dns',
  'connect',
  'banner',
  'ehlo',
  'starttls',
  'tls',
  'auth',
])
/** No login, too weak a one, a wrong one, or one that needs TLS (RFC 4954 §6). */
const LOGIN_FAILURE_CODES: ReadonlySet<number | undefined> = new Set([530, 534, 535, 538])

/**
 * Mail waits for the operator, who is told where the login is at fault. The smart host's trouble is that of
 * all who go there, on the same terms.
 */
export function relayed({ onOurTerms: _, ...outcome }: Outcome): Outcome {
  const { verdict, phase, reply } = outcome
  const isLoginFault = LOGIN_FAILURE_CODES.has(reply?.code) || (phase === 'auth' && (reply?.code ?? 0) >= 500)
  if (!isLoginFault && !PHASES_BEFORE_MAIL.has(phase)) return outcome
  return {
    ...outcome,
    ...(verdict.kind === 'bounced' && { verdict: { kind: 'deferred', class: verdict.class } }),
    hostUnavailable: true,
    ...(isLoginFault && { alert: 'smart-host-login' }),
  }
}
