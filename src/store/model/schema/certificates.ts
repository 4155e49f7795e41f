/** Tables of certificates that a certificate authority issues (ACME, RFC 8555). */
import type { Json } from './values.ts'

export interface AcmeAccountRow {
  directoryUrl: string
  /** Sealed PEM. */
  key: Uint8Array
  /** URL of the account; null until the authority has returned it. */
  url: string | null
  createdAt: number
}

/**
 * Certificate of the listeners or of a tracking host, the order in progress for the next one, and the process
 * that runs the order.
 */
export interface CertificateRow {
  /** The provider host, or the tracking host. */
  host: string
  directoryUrl: string
  /** JSON list of the host names of the next certificate. */
  names: Json
  /** Certificate chain in PEM; null before the first certificate. */
  chain: string | null
  /** Sealed PEM. */
  key: Uint8Array | null
  startsAt: number | null
  endsAt: number | null
  /** Time of the next order, in ms since the epoch. */
  nextAt: number
  orderUrl: string | null
  /** Private key of the order in progress, sealed PEM. */
  orderKey: Uint8Array | null
  /** Number of consecutive failures. */
  failures: number
  /** Reason of the last failure; null after a success. */
  fault: string | null
  failedAt: number | null
  /** Process that runs the order; null when there is none. */
  leaseOwner: string | null
  leaseUntil: number
}

/** Answer to a challenge of the authority, which any process may have to give. */
export interface AcmeChallengeRow {
  token: string
  type: 'http-01' | 'dns-01'
  name: string
  answer: string
  expiresAt: number
}
