/**
 * TLS preference of the sender of a message: its TLS-Required header field (RFC 8689 §5), or the setting of
 * the sending domain.
 */
import type { MessageTls } from './next-hop.ts'

const FIELD = 'tls-required'

export type TlsPreference = Extract<MessageTls, 'required' | 'waived'> | undefined
type Headers = readonly (readonly [name: string, value: string])[]

/**
 * RFC 8689 defines `TLS-Required: No`. `Yes` is an extension for submitting a message with REQUIRETLS; that
 * field is not sent.
 * @returns the preference, and the header fields to send
 */
export function tlsPreferenceOf(headers: Headers): { wish: TlsPreference; headers: Headers } {
  const field = headers.find(([name]) => name.toLowerCase() === FIELD)
  const value = field?.[1].trim().toLowerCase()
  if (value === 'yes') return { wish: 'required', headers: headers.filter(header => header !== field) }
  return { wish: value === 'no' ? 'waived' : undefined, headers }
}

/** A message can raise the requirement of its domain, but not lower it. */
export function messageTlsOf(wish: TlsPreference, domain: 'opportunistic' | 'enforced'): MessageTls {
  if (wish === 'required') return 'required'
  return domain === 'enforced' ? 'enforced' : (wish ?? 'any')
}
