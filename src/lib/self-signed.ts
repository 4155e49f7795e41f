/** Creates a self-signed certificate (RFC 5280 §4.1). It encrypts but does not authenticate. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import {
  altNames,
  BIT_STRING,
  COMMON_NAME,
  CONTEXT_0,
  CONTEXT_3,
  der,
  ECDSA_WITH_SHA256,
  GENERALIZED_TIME,
  INTEGER,
  pem,
  SEQUENCE,
  SET,
  UTC_TIME,
  UTF8_STRING,
} from './der.ts'

interface SelfSignedOptions {
  /** Its common name and only alternative name; a DNS name. */
  host: string
  /** Epoch ms. */
  notBefore: number
  notAfter: number
}

const SERIAL_BYTES = 16

/** With a new key on P-256. @returns PEM */
export function selfSigned({ host, notBefore, notAfter }: SelfSignedOptions): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256)
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(host)))))
  const body = der(
    SEQUENCE,
    der(CONTEXT_0, der(INTEGER, Buffer.of(2))),
    der(INTEGER, serial()),
    algorithm,
    name,
    der(SEQUENCE, time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(CONTEXT_3, der(SEQUENCE, altNames([host]))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem('CERTIFICATE', der(SEQUENCE, body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Positive, and not zero in front. */
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
