/**
 * The only table of charset labels, for received mail and for imported files. It finds the decoder of a
 * label, with the spellings that occur in mail: `latin-1`, `x-sjis`, `cp850`, `ks_c_5601-1987`.
 *
 * Decoders are those of the platform, except where its tables are not those that mail is written with:
 * `euc-kr` lacks 8,822 syllables of windows-949, and `big5` maps the characters of Hong Kong to private ones.
 */
import iconv from 'iconv-lite'
import { type CharsetDecoder, STATEFUL } from './stateful-charsets.ts'

export interface Charset {
  /** Canonical name, such as `utf-8` or `windows-1252`. */
  name: string
  /** True if the meaning of an octet depends on shifts before it, which end with each encoded word. */
  isStateful: boolean
  /** True if octets below 0x80 are not characters of ASCII. */
  isWide: boolean
  createDecoder(): CharsetDecoder
}

/** Names by labels in lower case, of which only letters and digits are kept. */
const NAMES: ReadonlyMap<string, string> = new Map(
  [
    [
      'us-ascii',
      'ascii usascii ansix341968 ansix341986 iso646us iso646irv1991 isoir6 ibm367 cp367 csascii 646',
    ],
    ['utf-8', 'utf8 utf8mb4 utf8sig unicode11utf8 cesu8 cp65001 65001 xunicode20utf8'],
    ['utf-7', 'utf7 unicode11utf7 cp65000 65000 csunicode11utf7 xunicode20utf7'],
    ['utf-16', 'utf16 ucs2 iso10646ucs2 unicode csunicode'],
    ['utf-16le', 'utf16le ucs2le unicodelittle cp1200 1200'],
    ['utf-16be', 'utf16be ucs2be unicodebig cp1201 1201'],
    ['utf-32', 'utf32 ucs4 iso10646ucs4'],
    ['utf-32le', 'utf32le ucs4le cp12000'],
    ['utf-32be', 'utf32be ucs4be cp12001'],
    ['iso-8859-1', 'l1 ibm819 cp819 isoir100 csisolatin1 88591 28591 cp28591'],
    ['windows-1252', 'ansi xansi'],
    [
      'windows-949',
      'euckr cseuckr xeuckr ksc56011987 ksc56011989 ksc5601 ksx1001 csksc56011987 isoir149 korean',
    ],
    ['windows-949', 'cp949 ms949 xwindows949 windows949 uhc xuhc cp51949 949'],
    [
      'big5',
      'big5 cnbig5 csbig5 xxbig5 xbig5 big5hkscs big5hk csbig5hkscs cp950 ms950 windows950 cp951 950 big5eten',
    ],
    ['gb18030', 'gb18030 gbk xgbk gb2312 csgb2312 gb231280 csiso58gb231280 isoir58 chinese euccn xeuccn'],
    ['gb18030', 'cp936 ms936 windows936 936 cp54936'],
    ['hz-gb-2312', 'hzgb2312 hz cp52936'],
    [
      'shift_jis',
      'shiftjis csshiftjis sjis xsjis cp932 ms932 windows932 windows31j cswindows31j mskanji xmscp932 932',
    ],
    ['euc-jp', 'eucjp xeucjp eucjpms eucjpwin ujis cp51932 cp20932 cseucpkdfmtjapanese'],
    ['iso-2022-jp', 'iso2022jp iso2022jp1 iso2022jp2 iso2022jp3 iso2022jp2004 iso2022jpms csiso2022jp jis'],
    ['iso-2022-jp', 'cp50220 cp50221 cp50222 50220 50221 50222'],
    ['iso-2022-kr', 'iso2022kr csiso2022kr cp50225'],
    ['windows-874', 'tis620 tis62025330 iso885911 windows874 cp874 ms874 xwindows874'],
    ['koi8-r', 'koi8r koi8 koi cskoi8r cp20866'],
    ['koi8-u', 'koi8u koi8ru cp21866'],
    ['macintosh', 'macintosh mac macroman xmacroman csmacintosh cp10000'],
    ['x-mac-cyrillic', 'xmaccyrillic maccyrillic xmacukrainian macukraine cp10007'],
    ['x-mac-ce', 'macce xmacce xmaccentraleurroman maccentraleurope maccenteuro cp10029'],
    ['x-mac-greek', 'xmacgreek macgreek cp10006'],
    ['x-mac-turkish', 'xmacturkish macturkish cp10081'],
    ['x-mac-croatian', 'xmaccroatian maccroatian cp10082'],
    ['x-mac-romanian', 'xmacromanian macromania cp10010'],
    ['x-mac-icelandic', 'xmacicelandic maciceland cp10079'],
    ['viscii', 'viscii csviscii'],
    ['tcvn', 'tcvn tcvn5712 xviettcvn5712'],
    ['koi8-t', 'koi8t'],
    ['armscii-8', 'armscii8'],
    ['georgian-ps', 'georgianps'],
    ['georgian-academy', 'georgianacademy'],
    ['kz-1048', 'kz1048 rk1048 strk10482002 cskz1048'],
    ['ptcp154', 'ptcp154 pt154 cp154 csptcp154'],
    ['cp1125', 'cp1125 ibm1125 cp866u ruscii'],
    ['hp-roman8', 'hproman8 roman8 r8 cshproman8'],
  ].flatMap(([name, labels]) => labels!.split(' ').map(label => [label, name!] as const)),
)
const LABEL_CHARACTERS_MAX = 60
/** Numbers of the Latin alphabets in ISO 8859. */
const LATIN = ['1', '2', '3', '4', '9', '10', '13', '14', '15', '16']
const ISO_8859 = /^(?:x?iso|csiso)?8859(\d|1[0-6])(?:19[89]\d|200\d)?([ei]?)$/
const WINDOWS = /^(?:x|cs)?(?:windows|win|cp|ms|ansi|microsoftcp)?(125[0-8])$/
const DOS =
  /^(?:cs|x)?(?:ibm|cp|pc|dos|oem|msdos)?(?:code|cp)?(437|737|775|85[025678]|86[0-6]|869)(?:multilingual)?$/
/** Names of the codecs of iconv-lite. */
const ICONV: ReadonlyMap<string, string> = new Map([
  ['windows-949', 'cp949'],
  ['big5', 'big5hkscs'],
  ['utf-16', 'utf-16'],
  ['utf-32', 'utf-32'],
  ['utf-32le', 'utf-32le'],
  ['utf-32be', 'utf-32be'],
  ['x-mac-ce', 'maccenteuro'],
  ['x-mac-greek', 'macgreek'],
  ['x-mac-turkish', 'macturkish'],
  ['x-mac-croatian', 'maccroatian'],
  ['x-mac-romanian', 'macromania'],
  ['x-mac-icelandic', 'maciceland'],
  ['viscii', 'viscii'],
  ['tcvn', 'tcvn'],
  ['koi8-t', 'koi8t'],
  ['armscii-8', 'armscii8'],
  ['georgian-ps', 'georgianps'],
  ['georgian-academy', 'georgianacademy'],
  ['kz-1048', 'rk1048'],
  ['ptcp154', 'pt154'],
  ['cp1125', 'cp1125'],
  ['hp-roman8', 'hproman8'],
])

/** Charsets that were asked for, by their names. There are no more than the platform and the codecs know. */
const found = new Map<string, Charset>()

/** @returns undefined for a label that is not known */
export function charsetOf(label: string): Charset | undefined {
  const name = nameOf(label)
  if (name === undefined) return undefined
  const known = found.get(name)
  if (known) return known
  if (NO_CHARSET.has(name)) return undefined
  const createDecoder = STATEFUL.get(name) ?? iconvDecoder(name) ?? platformDecoder(name)
  if (!createDecoder) return undefined
  const isWide = /^utf-(?:16|32)/.test(name)
  const charset = { name, isStateful: STATEFUL.has(name), isWide, createDecoder }
  found.set(name, charset)
  return charset
}

/** Labels of the platform that do not name a charset of text. */
const NO_CHARSET = new Set(['x-user-defined', 'replacement'])

function nameOf(text: string): string | undefined {
  const label = text.slice(0, LABEL_CHARACTERS_MAX)
  const key = label.toLowerCase().replace(/[^a-z0-9]/g, '')
  if (key === '') return undefined
  const latin = /^(?:cs)?(?:iso)?latin(\d\d?)$/.exec(key)
  if (latin) return isoName(LATIN[Number(latin[1]) - 1])
  const [, iso, direction] = ISO_8859.exec(key) ?? []
  const [, windows] = WINDOWS.exec(key) ?? []
  const [, dos] = DOS.exec(key) ?? []
  if (iso !== undefined && NAMES.get(key) === undefined)
    return isoName(iso === '8' && direction === 'i' ? '8-i' : iso)
  if (windows !== undefined) return `windows-${windows}`
  if (dos !== undefined) return dos === '866' ? 'ibm866' : `cp${dos}`
  return NAMES.get(key) ?? label.toLowerCase().trim()
}

function isoName(number: string | undefined): string | undefined {
  return number === undefined ? undefined : `iso-8859-${number}`
}

function iconvDecoder(name: string): (() => CharsetDecoder) | undefined {
  const codec = /^cp\d{3}$/.test(name) && iconv.encodingExists(name) ? name : ICONV.get(name)
  if (codec === undefined) return undefined
  return () => {
    const decoder = iconv.getDecoder(codec)
    return {
      write: piece => decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)),
      end: () => decoder.end() ?? '',
    }
  }
}

function platformDecoder(name: string): (() => CharsetDecoder) | undefined {
  // The platform knows no decoder of ASCII alone.
  const label = name === 'us-ascii' ? 'windows-1252' : name
  try {
    new TextDecoder(label)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
  return () => {
    const decoder = new TextDecoder(label)
    return { write: piece => decoder.decode(piece, { stream: true }), end: () => decoder.decode() }
  }
}
