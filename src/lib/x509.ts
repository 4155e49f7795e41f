/**
 * Writes what certificates need in DER: self-signed certificates (RFC 5280 §4.1) for listeners that have no
 * other, and signing requests (PKCS #10, RFC 2986) for a certificate authority. Both use keys on P-256.
 */
import { createPublicKey, generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto'
import {
  altNames,
  BIT_STRING,
  COMMON_NAME,
  CONTEXT_0,
  CONTEXT_3,
  der,
  ECDSA_WITH_SHA256,
  EXTENSION_REQUEST,
  GENERALIZED_TIME,
  INTEGER,
  keyIdentifiers,
  pem,
  SEQUENCE,
  SET,
  serverUsage,
  UTC_TIME,
  UTF8_STRING,
} from './der.ts'

interface SelfSignedOptions {
  /** DNS names and IPv4 addresses: the alternative names. The first one is the common name, too. */
  hosts: readonly string[]
  /** Start of the validity, in ms since the epoch. */
  notBefore: number
  /** End of the validity, in ms since the epoch. */
  notAfter: number
}

const SERIAL_BYTES = 16
const KEY_IDENTIFIER_BYTES = 20

/**
 * Creates a self-signed certificate with a new key. It encrypts but does not authenticate.
 * @returns PEM
 */
export function selfSigned({ hosts, notBefore, notAfter }: SelfSignedOptions): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256)
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(hosts[0]!)))))
  const body = der(
    SEQUENCE,
    der(CONTEXT_0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, serial()),
    algorithm,
    name,
    der(SEQUENCE, time(notBefore), time(notAfter)),
    name,
    spki,
    der(CONTEXT_3, der(SEQUENCE, altNames(hosts), serverUsage(), ...keyIdentifiers(identifierOf(spki)))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem('CERTIFICATE', der(SEQUENCE, body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Any unique value may identify a key (RFC 5280 §4.2.1.2). */
function identifierOf(spki: Buffer): Buffer {
  return hash('sha256', spki, 'buffer').subarray(0, KEY_IDENTIFIER_BYTES)
}

/** The serial number must be positive, and DER allows no leading zero byte. */
function serial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

/** Years before 2050 have two digits (RFC 5280 §4.1.2.5). */
function time(at: number): Buffer {
  const digits = `${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050'
    ? der(UTC_TIME, Buffer.from(digits.slice(2)))
    : der(GENERALIZED_TIME, Buffer.from(digits))
}

/**
 * The request has no subject: the hosts are alternative names.
 * @param key private key on P-256
 * @returns DER
 */
export function certificateRequest(key: KeyObject, hosts: readonly string[]): Buffer {
  const body = der(
    SEQUENCE,
    der(INTEGER, Buffer.of(0)),
    der(SEQUENCE),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(CONTEXT_0, der(SEQUENCE, EXTENSION_REQUEST, der(SET, der(SEQUENCE, altNames(hosts))))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, key))
  return der(SEQUENCE, body, der(SEQUENCE, ECDSA_WITH_SHA256), signature)
}
