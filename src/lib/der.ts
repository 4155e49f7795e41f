/** DER encoding of ASN.1 (X.690 §10), as far as certificates need it. */
import { isIPv4 } from 'node:net'

export const SEQUENCE = 0x30
export const SET = 0x31
export const INTEGER = 0x02
export const BIT_STRING = 0x03
const OCTET_STRING = 0x04
export const UTF8_STRING = 0x0c
export const UTC_TIME = 0x17
export const GENERALIZED_TIME = 0x18
/** Tag of the version in a certificate, and of the attributes in a request. */
export const CONTEXT_0 = 0xa0
export const CONTEXT_3 = 0xa3
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87
/** Object identifiers, encoded with tag and length. */
export const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
export const COMMON_NAME = Buffer.from('0603550403', 'hex')
export const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
const SUBJECT_KEY_IDENTIFIER = Buffer.from('0603551d0e', 'hex')
const AUTHORITY_KEY_IDENTIFIER = Buffer.from('0603551d23', 'hex')
const EXTENDED_KEY_USAGE = Buffer.from('0603551d25', 'hex')
const SERVER_AUTH = Buffer.from('06082b06010505070301', 'hex')
/** Tag of the key identifier in the identifier of the authority's key. */
const KEY_IDENTIFIER = 0x80

export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

/** Encodes the extension with host names and IPv4 addresses (RFC 5280 §4.2.1.6). */
export function altNames(hosts: readonly string[]): Buffer {
  const names = der(SEQUENCE, ...hosts.map(altName))
  return der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names))
}

function altName(host: string): Buffer {
  if (isIPv4(host)) return der(IP_ADDRESS, Buffer.from(host.split('.').map(Number)))
  return der(DNS_NAME, Buffer.from(host, 'ascii'))
}

/** Encodes the extensions with the identifiers of a key that signs itself (RFC 5280 §4.2.1.1, §4.2.1.2). */
export function keyIdentifiers(identifier: Buffer): Buffer[] {
  const authority = der(SEQUENCE, der(KEY_IDENTIFIER, identifier))
  return [
    der(SEQUENCE, SUBJECT_KEY_IDENTIFIER, der(OCTET_STRING, der(OCTET_STRING, identifier))),
    der(SEQUENCE, AUTHORITY_KEY_IDENTIFIER, der(OCTET_STRING, authority)),
  ]
}

/** Encodes the extension that allows a key for TLS servers (RFC 5280 §4.2.1.12). */
export function serverUsage(): Buffer {
  return der(SEQUENCE, EXTENDED_KEY_USAGE, der(OCTET_STRING, der(SEQUENCE, SERVER_AUTH)))
}

/** Encodes bytes as PEM (RFC 7468 §3). */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
