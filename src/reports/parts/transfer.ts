/** Undoes content transfer encodings (RFC 2045 §6), broken ones as far as they go. Bytes are strings of one character each. */

const BASE64_LINE = /^[A-Za-z0-9+/=\t ]*$/
/** Encoded, and not said to be: lines of equal length with nothing else in them. */
const LOOKS_ENCODED =
  /^[A-Za-z0-9+/]{60,76}\n(?:[A-Za-z0-9+/]{60,76}\n){0,8}[A-Za-z0-9+/]{0,76}={0,2}\s{0,4}$/
const LONGEST_LOOKED_AT = 700

/** @param encoding as in `Content-Transfer-Encoding`, in any case */
export function decodeTransfer(body: string, encoding: string): string {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return fromBase64(body)
    case 'quoted-printable':
      return fromQuotedPrintable(body)
    default:
      return body.length < LONGEST_LOOKED_AT && LOOKS_ENCODED.test(body) ? fromBase64(body) : body
  }
}

/** Up to the first line that is none: gateways write their notices behind the encoded text. */
function fromBase64(body: string): string {
  let encoded = ''
  for (const line of body.split('\n')) {
    if (!BASE64_LINE.test(line)) break
    encoded += line
  }
  return encoded === '' ? body : decodedBase64(encoded)
}

/** Pieces that were encoded one by one and joined have padding in the middle. */
function decodedBase64(encoded: string): string {
  return encoded
    .split(/(?<==)(?=[A-Za-z0-9+/])/)
    .map(piece => Buffer.from(piece, 'base64').toString('latin1'))
    .join('')
}

function fromQuotedPrintable(body: string): string {
  return body
    .replace(/=[\t ]{0,80}\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
