/**
 * TLSA records (RFC 6698) as mail takes them (RFC 7672 §3.1): what they say, and whether a host's
 * certificates fit.
 */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

export interface Tlsa {
  /** 2: the record names an authority of the chain; 3: the host's own certificate. */
  usage: 2 | 3
  /** 0: the whole certificate; 1: its public key. */
  selector: 0 | 1
  /** 0: the octets themselves; 1: their SHA-256; 2: their SHA-512. */
  matching: 0 | 1 | 2
  data: Buffer
}

const DIGEST_BYTES = [undefined, 32, 64] as const
const HASHES = [undefined, 'sha256', 'sha512'] as const
const CHAIN_CERTIFICATES_MAX = 10

/**
 * Undefined for a record that mail cannot use: another usage, or a form that is not known (RFC 7672 §3.1.3).
 */
export function parseTlsa(bytes: Uint8Array): Tlsa | undefined {
  const [usage, selector, matching, ...rest] = bytes
  if ((usage !== 2 && usage !== 3) || (selector !== 0 && selector !== 1)) return undefined
  if (matching !== 0 && matching !== 1 && matching !== 2) return undefined
  const wanted = DIGEST_BYTES[matching]
  if (rest.length === 0 || (wanted !== undefined && rest.length !== wanted)) return undefined
  return { usage, selector, matching, data: Buffer.from(rest) }
}

/** As zones have it. */
export function tlsaText({ usage, selector, matching, data }: Tlsa): string {
  return `${usage} ${selector} ${matching} ${data.toString('hex')}`
}

/** The host's certificate and those above it, as the host has sent them. */
export function chainOf(leaf: X509Certificate | undefined): X509Certificate[] {
  const chain: X509Certificate[] = []
  for (let at = leaf; at && chain.length < CHAIN_CERTIFICATES_MAX; at = at.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === at!.fingerprint256)) break
    chain.push(at)
  }
  return chain
}

/**
 * @param chain the host's own certificate first
 * @param names under which the host may be certified; for usage 2 alone
 * @returns why no record fits; undefined when one does
 */
export function daneFault(
  records: readonly Tlsa[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  now: number,
): string | undefined {
  const leaf = chain[0]
  if (!leaf) return 'the host has shown no certificate'
  if (records.some(record => record.usage === 3 && fits(record, leaf))) return undefined
  let fault = 'no TLSA record fits the certificate of the host'
  for (const record of records) {
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
 * The certificates up to the authority that the record names, each signed by the next; undefined when it is
 * not reached.
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

/** An authority that hosts need not send, since the record has it in full (RFC 7671 §5.2.2). */
function isSignedByAnchor(certificate: X509Certificate, record: Tlsa): boolean {
  if (record.matching !== 0) return false
  try {
    if (record.selector === 1)
      return isSignedBy(certificate, createPublicKey({ key: record.data, format: 'der', type: 'spki' }))
    const anchor = new X509Certificate(record.data)
    return anchor.ca && certificate.checkIssued(anchor) && isSignedBy(certificate, anchor.publicKey)
  } catch {
    return false // the record's data is no certificate or key
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
