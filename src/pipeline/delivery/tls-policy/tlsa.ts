/**
 * TLSA records (RFC 6698) in the profile for SMTP (RFC 7672 §3.1): parses them, and matches them with the
 * certificates of a host.
 */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

export interface Tlsa {
  /** 2: the record names a certificate authority of the chain; 3: the certificate of the host. */
  usage: 2 | 3
  /** 0: the whole certificate; 1: its public key. */
  selector: 0 | 1
  /** 0: the bytes themselves; 1: their SHA-256; 2: their SHA-512. */
  matching: 0 | 1 | 2
  data: Buffer
}

const DIGEST_BYTES = [undefined, 32, 64] as const
const HASHES = [undefined, 'sha256', 'sha512'] as const
const CHAIN_CERTIFICATES_MAX = 10

/** Undefined for a record that SMTP cannot use: another usage, or an unknown form (RFC 7672 §3.1.3). */
export function parseTlsa(bytes: Uint8Array): Tlsa | undefined {
  const [usage, selector, matching, ...rest] = bytes
  if ((usage !== 2 && usage !== 3) || (selector !== 0 && selector !== 1)) return undefined
  if (matching !== 0 && matching !== 1 && matching !== 2) return undefined
  const wanted = DIGEST_BYTES[matching]
  if (rest.length === 0 || (wanted !== undefined && rest.length !== wanted)) return undefined
  return { usage, selector, matching, data: Buffer.from(rest) }
}

/** Zone file syntax. */
export function tlsaText({ usage, selector, matching, data }: Tlsa): string {
  return `${usage} ${selector} ${matching} ${data.toString('hex')}`
}

/** Returns the certificate of the host and those above it, as the host presented them. */
export function chainOf(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = []
  for (let at = leaf; at && chain.length < CHAIN_CERTIFICATES_MAX; at = at.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === at!.fingerprint256)) break
    chain.push(at)
  }
  return chain
}

/**
 * @param chain certificates, the host's first
 * @param names host names that the certificate may be for; used for usage 2 only
 * @returns why no record matches; undefined when one does
 */
export function daneFault(
  records: readonly Tlsa[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  now: number,
): string | undefined {
  const leaf = chain[0]
  if (!leaf) return 'the host has shown no certificate'
  const counted = withStrongestDigests(records)
  if (counted.some(record => record.usage === 3 && fits(record, leaf))) return undefined
  let fault = 'no TLSA record fits the certificate of the host'
  for (const record of counted) {
    if (record.usage !== 2) continue
    const anchored = chainTo(record, chain)
    if (!anchored) continue
    if (!names.some(name => leaf.checkHost(name) !== undefined)) fault = 'the certificate is for another name'
    else if (anchored.some(certificate => !isCurrent(certificate, now))) fault = 'a certificate has expired'
    else return undefined
  }
  return fault
}

/**
 * Of the digests for one usage and selector only the strongest counts, so that a weak one cannot be attacked
 * (RFC 7671 §9). Records with the bytes themselves always count.
 */
function withStrongestDigests(records: readonly Tlsa[]): readonly Tlsa[] {
  return records.filter(
    ({ usage, selector, matching }) =>
      matching === 0 ||
      !records.some(
        other => other.usage === usage && other.selector === selector && other.matching > matching,
      ),
  )
}

/**
 * Certificates up to the authority that the record names, each signed by the next one. Undefined when the
 * chain does not reach the authority.
 */
function chainTo(record: Tlsa, chain: readonly X509Certificate[]): readonly X509Certificate[] | undefined {
  for (const [i, certificate] of chain.entries()) {
    if (i > 0 && certificate.ca && fits(record, certificate)) return chain.slice(0, i + 1)
    const above = chain[i + 1]
    if (above?.ca && isSignedBy(certificate, above.publicKey) && certificate.checkIssued(above)) continue
    return isSignedByAnchor(certificate, record) ? chain.slice(0, i + 1) : undefined
  }
  return undefined
}

/** Hosts need not present an authority that the record contains completely (RFC 7671 §5.2.2). */
function isSignedByAnchor(certificate: X509Certificate, record: Tlsa): boolean {
  if (record.matching !== 0) return false
  try {
    if (record.selector === 1)
      return isSignedBy(certificate, createPublicKey({ key: record.data, format: 'der', type: 'spki' }))
    const anchor = new X509Certificate(record.data)
    return anchor.ca && certificate.checkIssued(anchor) && isSignedBy(certificate, anchor.publicKey)
  } catch {
    return false // the data of the record is neither a certificate nor a key
  }
}

function isSignedBy(certificate: X509Certificate, key: KeyObject): boolean {
  return certificate.verify(key)
}

function fits({ selector, matching, data }: Tlsa, certificate: X509Certificate): boolean {
  const octets =
    selector === 0 ? certificate.raw : certificate.publicKey.export({ type: 'spki', format: 'der' })
  const hash = HASHES[matching]
  return (hash === undefined ? octets : createHash(hash).update(octets).digest()).equals(data)
}

function isCurrent({ validFromDate, validToDate }: X509Certificate, now: number): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}
