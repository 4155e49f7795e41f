/** A certificate that its own key has signed (RFC 5280 §4.1): it encrypts, and proves nothing. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

interface SelfSignedOptions {
  /** Its common name and only alternative name; a DNS name. */
  host: string
  /** Epoch ms. */
  notBefore: number
  notAfter: number
}

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const VERSION = 0xa0
const EXTENSIONS = 0xa3
const DNS_NAME = 0x82
/** Object identifiers with their tag and length. */
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
const SERIAL_BYTES = 16

/** With a new key on P-256. @returns PEM */
export function selfSigned({ host, notBefore, notAfter }: SelfSignedOptions): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256)
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from(host)))))
  const altName = der(SEQUENCE, der(DNS_NAME, Buffer.from(host, 'ascii')))
  const body = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.of(2))),
    der(INTEGER, serial()),
    algorithm,
    name,
    der(SEQUENCE, time(notBefore), time(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, altName)))),
  )
  const signature = der(BIT_STRING, Buffer.of(0), sign('sha256', body, privateKey))
  return {
    cert: pem('CERTIFICATE', der(SEQUENCE, body, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Distinguished encoding (X.690 §10). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
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

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
