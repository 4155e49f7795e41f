/** A mail server as the MX of many domains, one for each way in which it can be set up to receive. */
import type { Maildirs } from '../../kit/maildir.ts'
import type { CertificateName } from '../../kit/tls.ts'

/**
 * One address that a receiver listens on, the only MX host of the domain `<name>.test`, as
 * `<name>.there.test`.
 */
export interface Listener {
  name: string
  host: string
  /**
   * Certificate of the listener; null where STARTTLS is not offered. `tls-1.1` has a good one, and at most
   * TLS 1.1.
   */
  certificate: CertificateName | 'tls-1.1' | null
  pipelining: boolean
  chunking: boolean
  maxBytes: number
}

export interface ReceiverOptions {
  listeners: readonly Listener[]
  domains: readonly string[]
  /** Local parts that have a mailbox in each of the domains. */
  mailboxes: readonly string[]
}

export interface Receiver extends Maildirs {
  /** At all addresses. */
  readonly port: number
  readonly version: string
  log(): string
  close(): Promise<void>
}

export type ListenerName =
  | 'good'
  | 'self-signed'
  | 'expired'
  | 'wrong-name'
  | 'old'
  | 'plain'
  | 'stuffed'
  | 'simple'
  | 'small'

const MAX_BYTES = 3_000_000
export const SMALL_BYTES = 20_000

const listener = (name: ListenerName, last: number, over: Partial<Listener> = {}): Listener => ({
  name,
  host: `127.0.0.${last}`,
  certificate: null,
  pipelining: true,
  chunking: true,
  maxBytes: MAX_BYTES,
  ...over,
})

export const LISTENERS: readonly Listener[] = [
  listener('good', 10, { certificate: 'good' }),
  listener('self-signed', 11, { certificate: 'self-signed' }),
  listener('expired', 12, { certificate: 'expired' }),
  listener('wrong-name', 13, { certificate: 'wrong-name' }),
  listener('old', 14, { certificate: 'tls-1.1' }),
  listener('plain', 15),
  listener('stuffed', 16, { chunking: false }),
  listener('simple', 17, { chunking: false, pipelining: false }),
  listener('small', 18, { maxBytes: SMALL_BYTES }),
]

export function certificateFile({ certificate }: Listener): string {
  return `${certificate === 'tls-1.1' ? 'good' : certificate}.pem`
}
