/** TLS certificates of the listeners: loaded from files and reloaded when these change, or self-signed. */

import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext, type SecureContext } from 'node:tls'
import { type Clock, every } from './clock.ts'
import { selfSigned } from './x509.ts'

/** PEM. */
export interface CertificatePair {
  /** With the chain behind it. */
  cert: string
  key: string
}

export interface Certificates {
  current(): CertificatePair
  /** @returns stops listening */
  onChange(listener: (pair: CertificatePair) => void): () => void
  close(): void
}

/** Another than the current one, for a name that a client asks for; undefined where that will do. */
export type ContextFor = (name: string) => SecureContext | undefined

interface FollowOptions {
  certFile: string
  keyFile: string
  clock: Clock
  /** A new pair cannot be used: the former one stays. */
  onError(error: unknown): void
}

const LOOK_EVERY_MS = 60_000
const DAY_MS = 86_400_000
const GOOD_FOR_MS = 3 * 365 * DAY_MS
/** A certificate of ours is made anew before it ends. */
const MARGIN_MS = 30 * DAY_MS
const OWN_FILE = 'self-signed.pem'

/** Reads both files, and again when one has changed. @throws when the first pair cannot be used */
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
  const look = () => {
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
  const looking = every(clock, LOOK_EVERY_MS, look)
  return {
    current: () => pair,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => looking.cancel(),
  }
}

/** One that is put in place of another by whoever has got it. */
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

/** One of our own for a host name, kept in a folder: it encrypts, and proves nothing. */
export function ownCertificate(folder: string, host: string, now: number): Certificates {
  const file = join(folder, OWN_FILE)
  const pair = keptPair(file, host, now) ?? newPair(file, host, now)
  return { current: () => pair, onChange: () => () => {}, close() {} }
}

/** Undefined also where the file has been cut short: a machine that loses its power may do that. */
function keptPair(file: string, host: string, now: number): CertificatePair | undefined {
  if (!existsSync(file)) return undefined
  const text = readFileSync(file, 'utf8')
  const pair = { cert: text, key: text }
  try {
    createSecureContext(pair)
    const certificate = new X509Certificate(text)
    const isGood =
      certificate.checkHost(host) !== undefined && Date.parse(certificate.validTo) > now + MARGIN_MS
    return isGood ? pair : undefined
  } catch {
    return undefined
  }
}

function newPair(file: string, host: string, now: number): CertificatePair {
  const pair = selfSigned({ host, notBefore: now - DAY_MS, notAfter: now + GOOD_FOR_MS })
  writeFileSync(file, pair.cert + pair.key, { mode: 0o600, flush: true })
  return pair
}
