/**
 * Mail of any size that is legal, or nearly, and made to cost its reader time and memory. Nothing of it is
 * stored: it is made when it is needed.
 */

export interface HostileBody {
  name: string
  /** `Content-Transfer-Encoding` */
  encoding?: string
  /** Parameters behind the type. */
  params?: string
  /** Beginning of the body, and the text that fills the rest, one character per octet. */
  start?: string
  fill: string
  /**
   * The text that one filling stands for, in a text/plain part; nothing is said where it differs from place
   * to place.
   */
  shows?: string
}

export interface HostileMessage {
  name: string
  make(sizeBytes: number): Buffer
}

const QP = 'quoted-printable'

export const HOSTILE_BODIES: readonly HostileBody[] = [
  {
    name: 'quoted-printable: lines of escapes',
    encoding: QP,
    fill: `${'=41'.repeat(25)}\r\n`,
    shows: `${'A'.repeat(25)}\n`,
  },
  { name: 'quoted-printable: one line of escapes', encoding: QP, fill: '=41', shows: 'A' },
  {
    name: 'quoted-printable: escapes of UTF-8',
    encoding: QP,
    params: '; charset=utf-8',
    fill: '=C3=A9',
    shows: 'é',
  },
  { name: 'quoted-printable: nothing but soft breaks', encoding: QP, fill: '=\r\n', shows: '' },
  { name: 'quoted-printable: empty lines', encoding: QP, fill: '\r\n', shows: '\n' },
  { name: 'quoted-printable: nothing but blanks', encoding: QP, fill: ' ', shows: ' ' },
  { name: 'quoted-printable: lines of a blank', encoding: QP, fill: ' \r\n', shows: '\n' },
  { name: 'quoted-printable: nothing but equals signs', encoding: QP, fill: '=', shows: '=' },
  { name: 'quoted-printable: halves of escapes', encoding: QP, fill: '=4', shows: '=4' },
  { name: 'base64: padding behind each character', encoding: 'base64', fill: 'A=', shows: '' },
  { name: 'base64: a foreign character behind each', encoding: 'base64', fill: 'A-', shows: '' },
  { name: 'base64: one line', encoding: 'base64', fill: 'QUJD', shows: 'ABC' },
  { name: 'base64: lines of 76', encoding: 'base64', fill: `${'QUJD'.repeat(19)}\r\n`, shows: 'ABC' },
  { name: 'base64: lines of one character', encoding: 'base64', fill: 'Q\r\n', shows: 'A\x04\x10' },
  { name: 'base64: of NUL', encoding: 'base64', fill: 'AAAA', shows: '' },
  {
    name: 'uuencode: short lines',
    encoding: 'x-uuencode',
    start: 'begin 644 a\r\n',
    fill: '#86%A\r\n',
    shows: 'aaa',
  },
  {
    name: 'uuencode: lines whose blanks were cut off',
    encoding: 'x-uuencode',
    start: 'begin 644 a\r\n',
    fill: '_\r\n',
    shows: '',
  },
  { name: 'uuencode: blank lines in front', encoding: 'x-uuencode', fill: ' \r\n', shows: '' },
  { name: 'uuencode: one line', encoding: 'x-uuencode', fill: 'a', shows: 'a' },
  { name: 'one line', fill: 'a', shows: 'a' },
  { name: 'empty lines', fill: '\r\n', shows: '\n' },
  { name: 'bare CR', fill: '\r', shows: '\n' },
  { name: 'NUL', fill: '\0', shows: '' },
  { name: 'NUL between letters', fill: 'a\0', shows: 'a' },
  { name: 'flowed: blank lines', params: '; format=flowed', fill: ' \r\n', shows: '\n' },
  { name: 'flowed: empty lines', params: '; format=flowed', fill: '\r\n', shows: '\n' },
  { name: 'flowed: one paragraph', params: '; format=flowed; delsp=yes', fill: 'a \r\n', shows: 'a' },
  { name: 'flowed: quote marks', params: '; format=flowed', fill: '>\r\n', shows: '> \n' },
  {
    name: 'flowed: beyond Latin-1',
    params: '; format=flowed; charset=utf-8',
    fill: '>\xe2\x82\xac\r\n',
    shows: '> €\n',
  },
  { name: 'UTF-7: short sequences', params: '; charset=utf-7', fill: '+AGE-', shows: 'a' },
  { name: 'UTF-7: plus signs', params: '; charset=utf-7', fill: '+-', shows: '+' },
  { name: 'UTF-7: one sequence', params: '; charset=utf-7', fill: '+AGE' },
  { name: 'HZ: single characters', params: '; charset=hz-gb-2312', fill: '~{VP~}', shows: '中' },
  { name: 'HZ: tildes', params: '; charset=hz-gb-2312', fill: '~~', shows: '~' },
  { name: 'HZ: never shifted back', params: '; charset=hz-gb-2312', fill: '~{' },
  {
    name: 'ISO-2022-KR: single characters',
    params: '; charset=iso-2022-kr',
    start: '\x1b$)C',
    fill: '\x0e0!\x0f',
    shows: '가',
  },
  { name: 'windows-949: lead octets', params: '; charset=euc-kr', fill: '\x98' },
  { name: 'big5: half characters', params: '; charset=big5', fill: '\x87a' },
  { name: 'UTF-32', params: '; charset=utf-32', fill: 'a\0\0\0' },
  { name: 'IBM 850', params: '; charset=ibm850', fill: '\x84' },
  { name: 'ISO-2022-KR: designations', params: '; charset=iso-2022-kr', fill: '\x1b$)C' },
  {
    name: 'ISO-2022-JP: single characters',
    params: '; charset=iso-2022-jp',
    fill: '\x1b$B$"\x1b(Ba',
    shows: 'あa',
  },
  { name: 'ISO-2022-JP: escapes alone', params: '; charset=iso-2022-jp', fill: '\x1b$B\x1b(B' },
  { name: 'UTF-16', params: '; charset=utf-16', fill: 'a\0\r\0\n\0', shows: 'a\n' },
  { name: 'UTF-8', params: '; charset=utf-8', fill: '\xe2\x82\xac', shows: '€' },
  { name: 'GB18030', params: '; charset=gb18030', fill: '\xc4\xe3', shows: '你' },
  { name: 'octets that are no UTF-8', fill: '\xe9', shows: 'é' },
  { name: 'images that it does not bring', fill: '<img src="cid:a@b">', shows: '<img src="cid:a@b">' },
  { name: 'tags and entities', fill: '<a>&amp;', shows: '<a>&amp;' },
]

const MAIL = 'From: x@there.example\r\nTo: ann@acme.example\r\nSubject: x\r\nMIME-Version: 1.0\r\n'

/** The ways in which a body stands in a message. */
export const PLACES: readonly { name: string; around(body: HostileBody): string }[] = [
  { name: 'text/plain', around: body => `${MAIL}${headOf(body, 'text/plain')}\r\n` },
  { name: 'text/html', around: body => `${MAIL}${headOf(body, 'text/html')}\r\n` },
  {
    name: 'a file',
    around: body =>
      `${MAIL}Content-Disposition: attachment; filename=a.bin\r\n${headOf(body, 'application/octet-stream')}\r\n`,
  },
  {
    name: 'an enclosed message',
    around: body =>
      `${MAIL}Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n${headOf(body, 'text/plain')}\r\n`,
  },
]

function headOf({ encoding, params = '' }: HostileBody, type: string): string {
  const field = encoding === undefined ? '' : `Content-Transfer-Encoding: ${encoding}\r\n`
  return `Content-Type: ${type}${params}\r\n${field}`
}

export function hostileMail(body: HostileBody, place: (typeof PLACES)[number], sizeBytes: number): Buffer {
  return filled(place.around(body) + (body.start ?? ''), body.fill, sizeBytes)
}

/** `start`, and `fill` as often as it fits. */
export function filled(start: string, fill: string, sizeBytes: number): Buffer {
  const mail = Buffer.alloc(sizeBytes, fill, 'latin1')
  const from = Math.ceil(start.length / fill.length) * fill.length
  mail.write(start, from - start.length, 'latin1')
  return mail.subarray(from - start.length)
}

const MIXED = `${MAIL}Content-Type: multipart/mixed; boundary=b\r\n\r\n`
/** Number of parts that the reader examines at most. */
const PART_COUNT = 999

/** A message of so many parts, each with a head and a body that are filled up to their share. */
function ofParts(head: string, fill: string, count = PART_COUNT) {
  return (sizeBytes: number) => {
    const start = `\r\n--b\r\n${head}`
    const part = filled(start, fill, Math.floor(sizeBytes / count))
    return Buffer.concat([
      Buffer.from(MIXED),
      ...Array.from({ length: count }, () => part),
      Buffer.from('\r\n--b--'),
    ])
  }
}

function nearBoundaries(depth: number) {
  const boundary = (i: number) => `${'b'.repeat(60)}${String(i).padStart(2, '0')}`
  const start = Array.from(
    { length: depth },
    (_, i) => `Content-Type: multipart/mixed; boundary=${boundary(i)}\r\n\r\n--${boundary(i)}\r\n`,
  ).join('')
  // The line that ends the outermost one makes all of them be looked for.
  const end = Array.from({ length: depth }, (_, i) => `\r\n--${boundary(depth - 1 - i)}--`).join('')
  return (sizeBytes: number) =>
    Buffer.concat([filled(MAIL + start, `--${'b'.repeat(60)}xx\r\n`, sizeBytes), Buffer.from(end)])
}

export const HOSTILE_MESSAGES: readonly HostileMessage[] = [
  { name: 'a head of fields', make: size => filled(MAIL, 'a:b\r\n', size) },
  { name: 'a head of one field', make: size => filled(`${MAIL}X-A: `, 'a', size) },
  { name: 'a head of folded lines', make: size => filled(`${MAIL}X-A: a\r\n`, ' \r\n', size) },
  {
    name: 'a head of small encoded words',
    make: size => filled(`${MAIL}X-A: `, '=?utf-8?q?=C3?= =?x?q?=C3?=\r\n ', size),
  },
  {
    name: 'a head of words in unknown charsets',
    make: size => filled(`${MAIL}X-A: `, '=?x?q?\xe9?=a=?y?q?\xe9?=\r\n ', size),
  },
  { name: 'a head of addresses', make: size => filled('From: ', 'a@b.c,', size) },
  { name: 'an address behind many blanks', make: size => filled('From: a', ' ', size) },
  { name: 'an address among many at signs', make: size => filled('From: ', ' @', size) },
  { name: 'a head of comments', make: size => filled('From: ', '(', size) },
  {
    name: 'a type of many parameters',
    make: size => filled(`${MAIL}Content-Type: text/plain`, ';a=b', size),
  },
  { name: 'many texts', make: ofParts('\r\n', 'text\r\n') },
  { name: 'many encoded texts', make: ofParts('Content-Transfer-Encoding: quoted-printable\r\n\r\n', '=41') },
  { name: 'many enclosed messages', make: ofParts('Content-Type: message/rfc822\r\n\r\n', 'a:b\r\n', 900) },
  {
    name: 'many enclosed messages in base64',
    make: ofParts(
      'Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n',
      'YTpiDQph',
      900,
    ),
  },
  { name: 'many heads of fields', make: ofParts('', 'a:b\r\n') },
  { name: 'many heads of folded lines', make: ofParts('Content-Type: a/b\r\n', ' \r\n') },
  { name: 'many long content ids', make: ofParts('Content-Type: a/b\r\nContent-ID: ', 'a') },
  { name: 'many long types', make: ofParts('Content-Type: a/b', ';a=b') },
  {
    name: 'many multiparts without a boundary',
    make: ofParts('Content-Type: multipart/mixed\r\n\r\n', '--a\r\n'),
  },
  {
    name: 'many multiparts whose boundary never comes',
    make: ofParts('Content-Type: multipart/mixed; boundary=x\r\n\r\n', '--bb\r\n'),
  },
  { name: 'more parts than are read', make: size => filled(MIXED, '--b\r\n\r\n', size) },
  {
    name: 'lines that are nearly the boundary',
    make: size => filled(`${MIXED}--b\r\n\r\n`, '--bb\r\n', size),
  },
  { name: 'lines that are nearly one of fifty boundaries', make: nearBoundaries(50) },
  {
    name: 'images by the million',
    make(size) {
      const mail = Buffer.alloc(size)
      let to = mail.write(`${MAIL}Content-Type: text/html\r\n\r\n`)
      for (let i = 0; to < size; i++) to += mail.write(`<img src="cid:${i}@x">\r\n`, to)
      return mail
    },
  },
]
