/**
 * Inspects the bytes of a message while they are received: size, bare line ends, number of `Received` fields.
 */
import { hopCountOf } from '../../protocols/mime/read/head.ts'

export interface MailBytes {
  add(chunk: Uint8Array): void
  sizeBytes: number
  /** Whether a line end other than CRLF was seen, which allows SMTP smuggling (RFC 5321 §2.3.8). */
  hasBareLineEnd: boolean
  /** Number of `Received` fields within the scanned part of the header section (RFC 5321 §6.3). */
  hopCount(): number
}

/** Legitimate mail has a shorter header section. */
const HEADER_SCAN_BYTES = 256 * 1024
/**
 * This many chunks are joined to one, since each has an overhead of about 200 bytes and may hold a single
 * byte.
 */
const PIECES_MAX = 512

export function createMailBytes(): MailBytes {
  let beginning: Uint8Array[] = []
  let endsInReturn = false
  return {
    sizeBytes: 0,
    hasBareLineEnd: false,
    add(chunk) {
      const room = HEADER_SCAN_BYTES - this.sizeBytes
      this.sizeBytes += chunk.length
      this.hasBareLineEnd ||= holdsBareLineEnd(chunk, endsInReturn)
      endsInReturn = chunk.at(-1) === CR
      if (room <= 0) return
      beginning.push(chunk.subarray(0, room))
      if (beginning.length >= PIECES_MAX) beginning = [Buffer.concat(beginning)]
    },
    hopCount: () => hopCountOf(headerIn(beginning)),
  }
}

const EMPTY_LINE = '\r\n\r\n'
const CR = 0x0d
const LF = 0x0a

/** Joins the pieces, unless the first one holds the whole header section. */
function headerIn(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  if (!first || pieces.length === 1) return first ?? new Uint8Array()
  const holdsEnd = Buffer.from(first.buffer, first.byteOffset, first.length).includes(EMPTY_LINE)
  return holdsEnd ? first : Buffer.concat(pieces)
}

/** @param afterReturn whether the preceding bytes ended in CR */
export function holdsBareLineEnd(bytes: Uint8Array, afterReturn: boolean): boolean {
  if (afterReturn && bytes.length > 0 && bytes[0] !== LF) return true
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1))
    if (at === 0 ? !afterReturn : bytes[at - 1] !== CR) return true
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1))
    if (at + 1 < bytes.length && bytes[at + 1] !== LF) return true
  return false
}
