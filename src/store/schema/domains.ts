/** Tables of sending domains and their keys. */
import type { Id } from '../../lib/ids.ts'
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
  /** The host that links of its mail lead to, without the domain; null: to that of all. */
  trackingSubdomain: string | null
  /** The first of the terms (`linkTerms`) under that host; null while it is not known to be served by us. */
  trackingTerms: number | null
  receiving: Flag
  /** What its outgoing mail asks of connections: `enforced` is TLS with a certificate that verifies. */
  tls: 'opportunistic' | 'enforced'
  createdAt: number
  verifiedAt: number | null
  lastCheckedAt: number | null
  /** Since when checks have not found the records; null while they do. */
  failingSince: number | null
  /** Result of the last check, as the API shows it. */
  checks: Json | null
  /** When it is checked next by itself; null when it is not. */
  checkAt: number | null
}

/** A domain that is gone, while mail from it may still wait. */
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
  /** Base64, as in the `p=` tag. */
  publicKey: string
  /** PKCS#8, sealed. */
  privateKey: Uint8Array
  createdAt: number
  /** Signs from then on; null while it is only published. */
  activeFrom: number | null
  /** Signs no more from then on, and stays published for a while. */
  retiredAt: number | null
  /** From then on its record says that it is not to be trusted. */
  revokedAt: number | null
}

/** A key whose place another one has taken: mail that it has signed can be shown as it was sent. */
export interface FormerDkimKeyRow {
  id: Id
  domainId: Id
  token: string
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
  publicKey: string
  retiredAt: number
  /** PKCS#8, sealed; null once no mail that it has signed is shown any more. */
  privateKey: Uint8Array | null
}

/** A domain whose keys shall change before it is their time. */
export interface KeyRotationRow {
  domainId: Id
  wantedAt: number
}
