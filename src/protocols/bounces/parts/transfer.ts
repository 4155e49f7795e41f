/**
 * Decodes the content transfer encodings of reports (RFC 2045 §6), tolerating errors. Octets are strings of
 * one character each.
 */
import { base64Decoder } from './base64.ts'
import { decodeOctets, type OctetDecoder } from './octet-decoder.ts'
import { quotedPrintableDecoder } from './quoted-printable.ts'

const BASE64_LINE = /^[A-Za-z0-9+/=\t ]*$/
/** Encoded, and not said to be: lines of equal length with nothing else in them. */
const LOOKS_ENCODED =
  /^[A-Za-z0-9+/]{60,76}\n(?:[A-Za-z0-9+/]{60,76}\n){0,8}[A-Za-z0-9+/]{0,76}={0,2}\s{0,4}$/
const LINE_SCAN_CHARACTERS = 700

/** @param body lines end in LF @param encoding as in `Content-Transfer-Encoding`, in any case */
export function decodeTransfer(body: string, encoding: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return fromBase64(body)
    case 'quoted-printable':
      return decoded(body, quotedPrintableDecoder())
    default:
      return body.length < LINE_SCAN_CHARACTERS && LOOKS_ENCODED.test(body) ? fromBase64(body) : body
  }
}

/** Up to the first line that is none: gateways write their notices behind the encoded text. */
function fromBase64(body: string): string {
  let end = 0
  for (let at = 0; at < body.length; at = end) {
    const newline = body.indexOf('\n', at)
    const lineEnd = newline < 0 ? body.length : newline
    if (!BASE64_LINE.test(body.slice(at, lineEnd))) break
    end = Math.min(lineEnd + 1, body.length)
  }
  return /\S/.test(body.slice(0, end)) ? decoded(body.slice(0, end), base64Decoder()) : body
}

function decoded(body: string, decoder: OctetDecoder): string {
  const octets = Buffer.from(body, 'latin1')
  return decodeOctets(decoder, octets, octets.length).toString('latin1')
}
