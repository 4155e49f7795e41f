/** The tables of certificates that are got from an authority. */
import type { Json } from './values.ts'

export interface AcmeAccountRow {
  directoryUrl: string
  /** Sealed PEM. */
  key: Uint8Array
  /** Null until the authority has said it. */
  url: string | null
  createdAt: number
}

/**
 * The certificate of the listeners, or of a host of links; the order that is under way for the next one, and
 * who sees to it.
 */
export interface CertificateRow {
  /** The provider host, or that of the links. */
  host: string
  directoryUrl: string
  /** What the next one is to be for: a list of hosts. */
  names: Json
  /** PEM; null before the first. */
  chain: string | null
  /** Sealed PEM. */
  key: Uint8Array | null
  startsAt: number | null
  endsAt: number | null
  /** When the next one is asked for. */
  nextAt: number
  orderUrl: string | null
  /** Sealed PEM, of the order under way. */
  orderKey: Uint8Array | null
  /** In a row. */
  failures: number
  /** Why it failed last; null since it succeeded. */
  fault: string | null
  failedAt: number | null
  /** Of the process that orders; null while none does. */
  leaseOwner: string | null
  leaseUntil: number
}

/** What whoever wants a proof is told, at any of our processes. */
export interface AcmeChallengeRow {
  token: string
  type: 'http-01' | 'dns-01'
  name: string
  answer: string
  expiresAt: number
}
