/**
 * Mail that is hard to read: bodies that made decoders slow or fat, in every place of a message where a body
 * can be.
 */

export const POSITIONS = ['text/plain', 'text/html', 'attachment', 'message/rfc822'] as const
export type Position = (typeof POSITIONS)[number]
export type Encoding = '8bit' | 'base64' | 'quoted-printable' | 'x-uuencode'

export interface Shape {
  name: string
  /** Text that is repeated until the message has its size; it ends with CRLF, unless the body is one line. */
  piece: string
  charset?: string
  /** Further parameters of Content-Type. */
  parameters?: string
  /** Encodings that `piece` has as it is; with '8bit', the other encodings are applied to it, too. */
  encodings: readonly Encoding[]
  /** Before the first piece. */
  begin?: string
  /** It may be that nothing is left of it once it has been decoded. */
  isEmpty?: boolean
}

const IN_ALL = ['8bit', 'base64', 'quoted-printable'] as const

export const SHAPES: readonly Shape[] = [
  { name: 'quoted-printable =41', piece: `${'=41'.repeat(25)}\r\n`, encodings: ['quoted-printable'] },
  { name: 'base64 A=', piece: `${'A='.repeat(38)}\r\n`, encodings: ['base64'], isEmpty: true },
  { name: 'base64 A-', piece: `${'A-'.repeat(38)}\r\n`, encodings: ['base64'], isEmpty: true },
  { name: 'empty quoted-printable lines', piece: '\r\n', encodings: ['quoted-printable'], isEmpty: true },
  { name: 'soft line breaks', piece: '=\r\n', encodings: ['quoted-printable'], isEmpty: true },
  {
    ...{ name: 'format=flowed blank lines', piece: ' \r\n\r\n', encodings: IN_ALL },
    parameters: '; format=flowed; delsp=yes',
  },
  { name: 'NULs', piece: `${'\0'.repeat(70)}\r\n`, encodings: IN_ALL },
  {
    name: 'short uuencode lines',
    begin: 'begin 644 x\r\n',
    piece: '!80``\r\n',
    encodings: ['x-uuencode', '8bit'],
  },
  { name: 'utf-7', piece: `${'+AGE-'.repeat(15)}\r\n`, charset: 'utf-7', encodings: IN_ALL },
  { name: 'hz', piece: `${'~{<:~}'.repeat(12)}\r\n`, charset: 'hz-gb-2312', encodings: IN_ALL },
  { name: 'one long line', piece: 'a'.repeat(75), encodings: IN_ALL },
  { name: 'a million <img>', piece: `${'<img src=x>'.repeat(6)}\r\n`, encodings: IN_ALL },
]

export interface HostileMail {
  what: string
  head: string
  /** Repeated `times` times between head and tail. */
  block: Buffer
  times: number
  tail: string
}

const BLOCK_BYTES = 64 * 1024
/**
 * A multiple of 57 and of every piece's own length would be large; a line of base64 holds this much, and
 * breaks a piece.
 */
const BASE64_LINE_BYTES = 57

export function hostileMail(
  shape: Shape,
  position: Position,
  encoding: Encoding,
  sizeBytes: number,
  subject: string,
): HostileMail {
  const block = repeat(encoded(shape, encoding))
  const field = `Content-Transfer-Encoding: ${encoding}`
  const charset = `; charset=${shape.charset ?? 'utf-8'}${shape.parameters ?? ''}`
  const begin = encoding === '8bit' || encoding === 'x-uuencode' ? (shape.begin ?? '') : ''
  const top = `From: ann@there.example\r\nTo: bob@acme.example\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\n`
  const { head, tail } = placed(position, { top, field, charset, begin })
  const times = Math.max(1, Math.floor((sizeBytes - head.length - tail.length) / block.length))
  return { what: `${shape.name}, ${position}, ${encoding}, ${sizeBytes} bytes`, head, block, times, tail }
}

interface Fields {
  top: string
  field: string
  charset: string
  begin: string
}

function placed(position: Position, { top, field, charset, begin }: Fields): { head: string; tail: string } {
  if (position === 'text/plain' || position === 'text/html')
    return { head: `${top}Content-Type: ${position}${charset}\r\n${field}\r\n\r\n${begin}`, tail: '\r\n' }
  const mixed = `${top}Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nsee the part\r\n--b\r\n`
  const part =
    position === 'attachment'
      ? `Content-Type: text/plain${charset}; name=a.txt\r\nContent-Disposition: attachment; filename=a.txt\r\n${field}\r\n\r\n`
      : `Content-Type: message/rfc822\r\n\r\nSubject: inner\r\nMIME-Version: 1.0\r\nContent-Type: text/html${charset}\r\n${field}\r\n\r\n`
  return { head: `${mixed}${part}${begin}`, tail: '\r\n--b--\r\n' }
}

function encoded({ piece, encodings }: Shape, encoding: Encoding): Buffer {
  const plain = Buffer.from(piece, 'latin1')
  if (encoding === '8bit' || encoding === 'x-uuencode' || !encodings.includes('8bit')) return plain
  if (encoding === 'base64') {
    const whole = repeat(plain)
    const lines = whole.subarray(0, whole.length - (whole.length % BASE64_LINE_BYTES))
    return Buffer.from(lines.toString('base64').replace(/.{76}/g, '$&\r\n'))
  }
  return Buffer.from(
    `${[...plain].map(byte => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')}=\r\n`.replace(
      /.{72}(?=.{6})/g,
      '$&=\r\n',
    ),
  )
}

function repeat(piece: Buffer): Buffer {
  return Buffer.concat(Array(Math.max(1, Math.floor(BLOCK_BYTES / piece.length))).fill(piece))
}

/** A mail with so many attached messages, each in base64, which RFC 2046 forbids and some send. */
export function manyMessages(count: number, sizeBytes: number, subject: string): HostileMail {
  const inner = `Subject: inner\r\n\r\n${'text of a message\r\n'.repeat(Math.floor(sizeBytes / count / 26))}`
  const body = Buffer.from(inner).toString('base64').replace(/.{76}/g, '$&\r\n')
  const block = Buffer.from(
    `--b\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${body}\r\n`,
  )
  const top = `From: ann@there.example\r\nTo: bob@acme.example\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\n`
  const head = `${top}Content-Type: multipart/mixed; boundary=b\r\n\r\n`
  return { what: `${count} messages, ${sizeBytes} bytes`, head, block, times: count, tail: '--b--\r\n' }
}

/** So many multiparts in each other, with one text in the middle. */
export function nested(depth: number, subject: string): HostileMail {
  const open = (at: number) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`
  const head = `From: ann@there.example\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\n${Array.from({ length: depth }, (_, at) => open(at)).join('')}\r\n`
  return {
    what: `${depth} multiparts in each other`,
    head,
    block: Buffer.from('text\r\n'),
    times: 1,
    tail: '',
  }
}
