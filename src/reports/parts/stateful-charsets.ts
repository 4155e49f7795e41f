/** Charsets of seven bits in which what a byte means depends on what came before it, and which no platform decodes. */

/** By label; each takes one character a byte. */
export const STATEFUL: ReadonlyMap<string, (bytes: string) => string> = new Map([
  ['utf-7', fromUtf7],
  ['unicode-1-1-utf-7', fromUtf7],
  ['hz-gb-2312', fromHz],
  ['iso-2022-kr', fromIso2022Kr],
])

/** RFC 2152 §2. */
function fromUtf7(bytes: string): string {
  return bytes.replace(/\+([A-Za-z0-9+/]*)-?/g, (_, units: string) => {
    if (units === '') return '+'
    const text = Buffer.from(units, 'base64')
    return text
      .subarray(0, text.length & ~1)
      .swap16()
      .toString('utf16le')
  })
}

/** RFC 1843. */
function fromHz(bytes: string): string {
  return bytes
    .replace(/~\{((?:[\x21-\x77][\x21-\x7e])*)(?:~\}|$)/gm, (_, pairs: string) => shifted(pairs, 'gb18030'))
    .replace(/~~/g, '~')
    .replace(/~\r?\n/g, '')
}

/** RFC 1557. */
function fromIso2022Kr(bytes: string): string {
  return bytes
    .replaceAll('\x1b$)C', '')
    .replace(/\x0e([\x21-\x7e]*)\x0f?/g, (_, pairs: string) => shifted(pairs, 'euc-kr'))
    .replaceAll('\x0f', '')
}

/** The same characters with the eighth bit set. */
function shifted(pairs: string, encoding: string): string {
  const octets = Uint8Array.from(pairs, character => character.charCodeAt(0) | 0x80)
  return new TextDecoder(encoding).decode(octets)
}
