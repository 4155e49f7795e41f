/** Text of a mail from its bytes: by the charset that it names, or by the look of the bytes where that is wrong. */

import { STATEFUL } from './stateful-charsets.ts'

/** Labels that mail uses and the Encoding Standard does not know. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['cp932', 'shift_jis'],
  ['iso-2022-jp-1', 'iso-2022-jp'],
  ['iso-2022-jp-ms', 'iso-2022-jp'],
  ['cp50220', 'iso-2022-jp'],
  ['cp50221', 'iso-2022-jp'],
  ['eucjp', 'euc-jp'],
  ['eucjp-ms', 'euc-jp'],
  ['cp936', 'gb18030'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
  ['utf8mb4', 'utf-8'],
  ['cp1250', 'windows-1250'],
  ['cp-1251', 'windows-1251'],
  ['ansi', 'windows-1252'],
])
/** What these say of bytes beyond ASCII is nothing, or seldom true. */
const TELLS_NOTHING = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'iso-8859-1', 'latin1', 'unknown-8bit'])
const ISO_2022_JP = /\x1b\$[@B]/
const BEYOND_ASCII = /[\x80-\xff]/

/** @param bytes one character a byte @param label as in `charset=`; never fails, whatever it is */
export function decodeText(bytes: string, label: string | undefined): string {
  const name = label?.toLowerCase().trim() ?? ''
  const stateful = STATEFUL.get(name)
  if (stateful) return stateful(bytes)
  if (ISO_2022_JP.test(bytes)) return decode(bytes, 'iso-2022-jp')!
  if (!BEYOND_ASCII.test(bytes) && !name.startsWith('utf-16')) return bytes
  const known = name === '' || TELLS_NOTHING.has(name) ? undefined : (OTHER_NAMES.get(name) ?? name)
  if (known !== undefined && known !== 'utf-8') {
    const text = decode(bytes, known)
    if (text !== undefined) return text
  }
  return decode(bytes, 'utf-8', true) ?? decode(bytes, known === 'utf-8' ? 'utf-8' : 'windows-1252')!
}

function decode(bytes: string, encoding: string, fatal = false): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal }).decode(Buffer.from(bytes, 'latin1'))
  } catch (error) {
    // An unknown label is a RangeError, bytes that do not fit a TypeError: the next encoding is tried.
    if (error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}
