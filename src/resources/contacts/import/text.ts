/** Decodes a contact file as UTF-8 and detects its delimiter from the header line. */
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { streamDecoder } from '../../../protocols/mime/read/charset.ts'
import { charsetOf } from '../../../protocols/mime/read/charset-labels.ts'
import type { CharsetDecoder } from '../../../protocols/mime/read/stateful-charsets.ts'
import { ImportFault } from './fault.ts'

/** A longer first line is not a header. */
const HEADER_BYTES_MAX = 64 * 1024
const DELIMITERS = [',', ';', '\t', '|']
/** Matches a line with content. Lines before the header that contain only separators are skipped. */
const HEADER = /[^\s,;|"]/
/** The same for bytes of UTF-8, with those of a byte order mark. */
const BLANKS = new Set(Buffer.from(' \t\v\f\r\n,;|"\ufeff'))
const LINE_FEED = 0x0a
const UTF16 = new Map([
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
])

export interface ImportText {
  delimiter: string
  /** UTF-8 bytes, with an optional byte order mark. */
  bytes: AsyncIterable<Uint8Array>
}

/**
 * @param charset charset of the content type, if any; a byte order mark of UTF-16 takes precedence
 * @throws ImportFault for an unknown charset, or if no line can be a header
 */
export async function openText(
  source: AsyncIterable<Uint8Array>,
  charset: string | undefined,
): Promise<ImportText> {
  const chunks = source[Symbol.asyncIterator]()
  const head = await readHead(chunks, 2)
  const encoding = UTF16.get(head.subarray(0, 2).toString('hex')) ?? charset ?? 'utf-8'
  const text = decoded(prefixed(head, chunks), encoding)[Symbol.asyncIterator]()
  const line = await readHead(text, HEADER_BYTES_MAX, headerSearch())
  const { delimiter, skip } = separatorOf(line.toString())
  return { delimiter, bytes: prefixed(line.subarray(skip), text) }
}

/**
 * Reads until the text has the given length, ends, or is complete.
 * @param isWhole is told each new piece, and whether the text is complete with it
 */
async function readHead(
  chunks: AsyncIterator<Uint8Array>,
  enoughBytes: number,
  isWhole?: (piece: Uint8Array) => boolean,
): Promise<Buffer> {
  const head = new JoinedBytes()
  while (head.length < enoughBytes) {
    const { done, value } = await chunks.next()
    if (done) break
    head.add(Buffer.from(value.buffer, value.byteOffset, value.length))
    if (isWhole?.(value)) break
  }
  return head.take()
}

/** Looks for a line with content. Its state spans pieces, so that no byte is looked at twice. */
function headerSearch(): (piece: Uint8Array) => boolean {
  let hasContent = false
  return piece => {
    for (const byte of piece) {
      if (byte === LINE_FEED && hasContent) return true
      hasContent ||= !BLANKS.has(byte)
    }
    return false
  }
}

async function* prefixed(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return
    yield value
  }
}

function decoded(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncIterable<Uint8Array> {
  const decoder = streamDecoder(encoding)
  if (!decoder)
    throw new ImportFault('charset', `The charset ${encoding} of the content type is not supported.`)
  return charsetOf(encoding)?.name === 'utf-8' ? bytes : transcoded(bytes, decoder)
}

async function* transcoded(
  bytes: AsyncIterable<Uint8Array>,
  decoder: CharsetDecoder,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) yield Buffer.from(decoder.write(chunk))
  yield Buffer.from(decoder.end())
}

/**
 * Some programs write the delimiter into a separate line before the header.
 * @returns the delimiter and the number of bytes to skip
 */
function separatorOf(head: string): { delimiter: string; skip: number } {
  const [line, named] = /^\ufeff?sep=(.)(?:\r\n|\r|\n|$)/.exec(head) ?? []
  if (named !== undefined && DELIMITERS.includes(named))
    return { delimiter: named, skip: Buffer.byteLength(line!) }
  const header = head.split(/\r|\n/).find(line => HEADER.test(line)) ?? ''
  const unquoted = header.replace(/"(?:[^"]|"")*"/g, '')
  const countOf = (delimiter: string) => unquoted.split(delimiter).length
  const [delimiter] = DELIMITERS.toSorted((a, b) => countOf(b) - countOf(a))
  return { delimiter: delimiter!, skip: 0 }
}
