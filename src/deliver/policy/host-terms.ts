/** On which terms one MX host is spoken to: the strictest that apply to it. */
import type { SecureContext } from 'node:tls'
import type { Clock } from '../../lib/clock.ts'
import { createTickets, type Tickets } from '../client/tickets.ts'
import { createClientContext } from '../client/tls.ts'
import type { Failure, SessionOptions, TlsMode } from '../client/types.ts'
import { type BrokenTls, createBrokenTls } from './broken-tls.ts'
import type { Way } from './way.ts'

/** By which rule TLS is demanded. */
export const POLICY_NAMES = ['none', 'domain'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

export interface HostTerms {
  policy: PolicyName
  mode: TlsMode
  /** Why it is plain text from the start. */
  brokenTls: string | null
  /** What a session on these terms is opened with. */
  options: Pick<SessionOptions, 'tls' | 'secureContext' | 'rejectUnauthorized' | 'tickets'>
}

export interface TermsBook {
  termsOf(way: Way, host: string): HostTerms
  /** A session had to go on in plain text. */
  brokeTls(host: string, failure: Failure): void
}

interface TermsOptions {
  clock: Clock
  /** PEM of the authorities to trust, in place of the runtime's. */
  authorities?: string[] | undefined
}

export function createTermsBook({ clock, authorities }: TermsOptions): TermsBook {
  const secureContext = createClientContext(authorities)
  const broken = createBrokenTls(clock)
  const loose = termsWith(secureContext, 'none', createTickets(clock))
  const plain = { ...loose, mode: 'none' as const, options: { tls: 'none' as const } }
  const verified = termsWith(secureContext, 'domain', createTickets(clock))
  return {
    termsOf({ verified: mustVerify }, host) {
      if (mustVerify) return verified
      const reason = broken.reasonOf(host)
      return reason === undefined ? loose : { ...plain, brokenTls: reason }
    },
    brokeTls: (host, failure) => rememberBroken(broken, host, failure),
  }
}

function termsWith(secureContext: SecureContext, policy: PolicyName, tickets: Tickets): HostTerms {
  const mode = policy === 'none' ? 'opportunistic' : 'required'
  const rejectUnauthorized = policy !== 'none'
  return { policy, mode, brokenTls: null, options: { tls: mode, secureContext, rejectUnauthorized, tickets } }
}

/** A host that says it cannot do TLS now may well do it the next time; one that fails at it mostly fails again. */
function rememberBroken(broken: BrokenTls, host: string, { phase, message }: Failure) {
  if (phase === 'tls') broken.remember(host, message)
}
