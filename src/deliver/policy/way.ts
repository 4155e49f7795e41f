/** What the way to a domain must fulfil: what its owner asks of senders, and what the sender asks for one message. */
import type { MxHost } from '../../dns/mx-hosts.ts'

/**
 * What the sender asks. `any`: encrypted where it can be. `enforced`: TLS with a certificate that verifies, by the
 * sending domain's setting. `required`: that, and the same of every later hop (RFC 8689). `waived`: delivery matters more
 * than the receiving domain's policies (RFC 8689 §5).
 */
export type MessageTls = 'any' | 'enforced' | 'required' | 'waived'

export interface Way {
  /** The recipient's domain. */
  domain: string
  hosts: readonly MxHost[]
  /** Under which its sessions are kept: shared among deliveries that ask no more of them. */
  sessions: string
  /** Whether certificates must verify. */
  verified: boolean
}

export function wayTo(domain: string, site: string, hosts: readonly MxHost[], asked: MessageTls): Way {
  const verified = asked === 'enforced' || asked === 'required'
  return { domain, hosts, sessions: verified ? `${site} verified` : site, verified }
}
