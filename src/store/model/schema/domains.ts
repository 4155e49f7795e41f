/** Tables of sending domains and their keys. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag, Json } from './values.ts'

export type DomainStatus = 'pending' | 'verified' | 'temporary_failure' | 'failed'

export interface DomainRow {
  id: Id
  accountId: Id
  name: string
  region: string
  status: DomainStatus
  verificationToken: string
  openTracking: Flag
  clickTracking: Flag
  /** Host of tracking links, relative to the domain; null when the common host is used. */
  trackingSubdomain: string | null
  /**
   * Id of the first of the link terms (`linkTerms`) for that host; null while the host is not known to lead
   * to this service.
   */
  trackingTerms: number | null
  /** Whether mail is accepted from the domain once it is verified. */
  sending: Flag
  receiving: Flag
  /** TLS policy of outgoing mail: `enforced` requires TLS with a valid certificate. */
  tls: 'opportunistic' | 'enforced'
  createdAt: number
  verifiedAt: number | null
  lastCheckedAt: number | null
  /** Time since which checks have not found the records; null while they do. */
  failingSince: number | null
  /** Result of the last check, as the API shows it. */
  checks: Json | null
  /** Time of the next automatic check; null when none is planned. */
  checkAt: number | null
  /**
   * Time at which the name was claimed from another account. While the domain is pending, it is reserved for
   * this account. Null if it was not claimed, or was claimed by another account since.
   */
  claimedAt: number | null
}

/** A claim to a name that another account has verified. */
export interface DomainClaimRow {
  id: Id
  accountId: Id
  /** The claimant's domain. */
  domainId: Id
  /** Part of the TXT record that proves the claim. */
  token: string
  /** `blocked`: proven, and held up by scheduled emails of the other account. */
  status: 'pending' | 'blocked' | 'completed' | 'superseded'
  /** Why the last verification failed, as a sentence. */
  failure: string | null
  provenAt: number | null
  createdAt: number
  expiresAt: number
}

/** Name, colour and logo of a domain's sender, for the pages that recipients see. */
export interface DomainBrandRow {
  domainId: Id
  name: string | null
  /** `#rrggbb` in lower case. */
  color: string | null
  logoType: 'image/png' | 'image/jpeg' | 'image/webp' | null
  /** SHA-256 of the logo. */
  logoHash: Uint8Array | null
  logo: Uint8Array | null
}

/** A deleted domain whose mail may still wait in the queue. */
export interface DeletedDomainRow {
  id: Id
  accountId: Id
  name: string
  deletedAt: number
}

export interface DkimKeyRow {
  id: Id
  domainId: Id
  /** 1 and 2 alternate RSA keys, 3 is Ed25519. */
  slot: number
  /** Selector at the customer's domain and name in the provider zone. */
  token: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  /** Public key in base64, as in the `p=` tag (RFC 6376 §3.6.1). */
  publicKey: string
  /** PKCS#8, sealed. */
  privateKey: Uint8Array
  createdAt: number
  /** Time from which the key signs; null while it is only published. */
  activeFrom: number | null
  /** Time from which the key no longer signs. It stays published for a while. */
  retiredAt: number | null
  /** Time from which the record states that the key is revoked. */
  revokedAt: number | null
}

/** A replaced key. It is kept so that mail which it signed can be shown as it was sent. */
export interface FormerDkimKeyRow {
  id: Id
  domainId: Id
  token: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  publicKey: string
  retiredAt: number
  /** PKCS#8, sealed; null when no mail that the key signed is shown any more. */
  privateKey: Uint8Array | null
}

/** A domain whose keys are to be rotated before their time. */
export interface KeyRotationRow {
  domainId: Id
  wantedAt: number
}
