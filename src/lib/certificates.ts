/**
 * TLS certificates of the listeners: loaded from files and reloaded when the files change, issued by an
 * authority, or self-signed.
 *
 * Called by `app/certificates.ts`, which passes the certificates to the listeners.
 */

import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { type Clock, every } from './clock.ts'
import { selfSigned } from './x509.ts'

/** Certificate and private key in PEM. */
export interface CertificatePair {
  /** The certificate, followed by its chain. */
  cert: string
  key: string
}

export interface Certificates {
  current(): CertificatePair
  /**
   * Calls the listener with each new pair; `withDailyTicketKeys` calls it daily, too.
   * @returns a function that removes the listener
   */
  onChange(listener: (pair: CertificatePair) => void): () => void
  close(): void
}

/**
 * Returns a certificate for the host name that a TLS client requests, or undefined when the listener's
 * certificate is to be used.
 */
export type ContextFor = (name: string) => SecureContext | undefined

/**
 * Groups for the key exchange that cost a server little. The default of the runtime adds finite fields, P-521
 * and X448: a client that sends the same hello again and again would cost ten times as much.
 */
const CHEAP_GROUPS = 'X25519MLKEM768:X25519:prime256v1'

/** P-384 costs a millisecond. On port 25 and the relay, the alternative of a peer may be plain text. */
export const MAIL_GROUPS = `${CHEAP_GROUPS}:secp384r1`

/**
 * TLS options of listeners for browsers and mail programs, which all know modern suites: TLS 1.2 only with
 * forward secrecy and authenticated encryption (RFC 9325 §4.1, §4.2). Port 25 and the relay keep the suites
 * of the runtime, because the peers' alternative there is plain text.
 */
export const STRICT_TLS = {
  minVersion: 'TLSv1.2',
  ecdhCurve: CHEAP_GROUPS,
  ciphers: [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
} as const satisfies SecureContextOptions

interface FollowOptions {
  certFile: string
  keyFile: string
  clock: Clock
  /** Called when new files cannot be used. The previous pair stays in use. */
  onError(error: unknown): void
}

const CHECK_INTERVAL_MS = 60_000
const DAY_MS = 86_400_000
/** Some programs refuse certificates that are valid for more than 825 days, even trusted ones. */
const VALIDITY_DAYS_MAX = 825
const BACKDATED_MS = DAY_MS
const VALIDITY_MS = (VALIDITY_DAYS_MAX - 1) * DAY_MS
/** A self-signed certificate is replaced this long before it expires. */
const RENEW_BEFORE_MS = 30 * DAY_MS
const OWN_FILE = 'self-signed.pem'

/**
 * Reads both files now and whenever one of them has changed.
 * @throws when the first pair cannot be used
 */
export function followCertificate({ certFile, keyFile, clock, onError }: FollowOptions): Certificates {
  const read = (): CertificatePair => {
    const pair = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
    createSecureContext(pair)
    return pair
  }
  const changedAt = () => Math.max(statSync(certFile).mtimeMs, statSync(keyFile).mtimeMs)
  const listeners = new Set<(pair: CertificatePair) => void>()
  let seen = changedAt()
  let pair = read()
  const refresh = () => {
    try {
      const at = changedAt()
      if (at === seen) return
      pair = read()
      seen = at
      for (const listener of listeners) listener(pair)
    } catch (error) {
      onError(error)
    }
  }
  const looking = every(clock, CHECK_INTERVAL_MS, refresh)
  return {
    current: () => pair,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => looking.cancel(),
  }
}

/**
 * Calls the listeners of the certificate once a day, too. They then create a new secure context, which has
 * new keys for session tickets. A recorded session can therefore be decrypted only with keys of its own day
 * (RFC 9325 §3.4); older tickets lead to a full handshake.
 */
export function withDailyTicketKeys(certificates: Certificates, clock: Clock): Certificates {
  const listeners = new Set<(pair: CertificatePair) => void>()
  const daily = every(clock, DAY_MS, () => {
    for (const listener of listeners) listener(certificates.current())
  })
  return {
    current: certificates.current,
    onChange(listener) {
      const stopFollowing = certificates.onChange(listener)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
        stopFollowing()
      }
    },
    close() {
      daily.cancel()
      certificates.close()
    },
  }
}

/** Certificate that `use` replaces while the listeners run. */
export function heldCertificate(first: CertificatePair): Certificates & { use(pair: CertificatePair): void } {
  const listeners = new Set<(pair: CertificatePair) => void>()
  let current = first
  return {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    use(pair) {
      if (pair.cert === current.cert) return
      current = pair
      for (const listener of listeners) listener(pair)
    },
    close: () => listeners.clear(),
  }
}

/**
 * Self-signed certificate, stored in the folder. It encrypts but does not authenticate. It is replaced when a
 * host is missing in it, or before it expires.
 * @param hosts DNS names and IPv4 addresses, the most important one first
 */
export function ownCertificate(folder: string, hosts: readonly string[], now: number): Certificates {
  const file = join(folder, OWN_FILE)
  const pair = keptPair(file, hosts, now) ?? newPair(file, hosts, now)
  return { current: () => pair, onChange: () => () => {}, close() {} }
}

/** @returns undefined also when the file is truncated, which a power failure can cause */
function keptPair(file: string, hosts: readonly string[], now: number): CertificatePair | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  const pair = { cert: text, key: text }
  try {
    createSecureContext(pair)
    const certificate = new X509Certificate(text)
    const isGood =
      hosts.every(
        host => (isIPv4(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined,
      ) && Date.parse(certificate.validTo) > now + RENEW_BEFORE_MS
    return isGood ? pair : undefined
  } catch {
    return undefined
  }
}

function newPair(file: string, hosts: readonly string[], now: number): CertificatePair {
  const pair = selfSigned({
    hosts,
    notBefore: now - BACKDATED_MS,
    notAfter: now - BACKDATED_MS + VALIDITY_MS,
  })
  writeFileSync(file, pair.cert + pair.key, { mode: 0o600, flush: true })
  return pair
}
