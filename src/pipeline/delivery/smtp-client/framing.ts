/**
 * Frames a message for DATA: checks line ends, stuffs dots, adds the final dot (RFC 5321 §4.5.2), and splits
 * the result into blocks.
 */
import { isAscii } from 'node:buffer'

interface FramedMessage {
  /** All bytes up to and including the CRLF of the final dot. Small messages have one block. */
  blocks: Buffer[]
  /** Whether any byte has its high bit set. */
  eightBit: boolean
}

/** Bytes that are scanned and written at once. Each block has its own time limit. */
const BLOCK_BYTES = 65_536
const DOT = Buffer.from('.')
const CRLF = Buffer.from('\r\n')
const END_OF_DATA = Buffer.from('.\r\n')
export const EMPTY_MESSAGE = END_OF_DATA

/**
 * @throws when a CR or LF stands alone, since the peer could take it for the end of the message, or break the
 * signature
 */
export function frameMessage(parts: readonly Buffer[]): FramedMessage {
  const pieces: Buffer[] = []
  let last = '\n'
  let eightBit = false
  for (const part of parts) {
    eightBit ||= !isAscii(part)
    for (let at = 0; at < part.length; at += BLOCK_BYTES) {
      const window = part.length <= BLOCK_BYTES ? part : part.subarray(at, at + BLOCK_BYTES)
      last = take(window, last, pieces)
    }
  }
  if (last === '\r') throw bareLineEnd()
  if (last !== '\n') pieces.push(CRLF)
  pieces.push(END_OF_DATA)
  return { blocks: blocksOf(pieces), eightBit }
}

/**
 * Adds the window to the pieces, with leading dots doubled.
 * @param before the character before the window
 * @returns the last character of the window
 */
function take(window: Buffer, before: string, pieces: Buffer[]): string {
  const text = window.toString('latin1')
  let from = 0
  const lineStartsAt = (at: number) => {
    if (text[at] !== '.') return
    pieces.push(window.subarray(from, at), DOT)
    from = at
  }
  if ((before === '\r') !== (text[0] === '\n')) throw bareLineEnd()
  let at = before === '\r' ? 1 : 0
  if (at === 1 || before === '\n') lineStartsAt(at)
  for (;;) {
    const cr = text.indexOf('\r', at)
    const lf = text.indexOf('\n', at)
    if (lf < 0 && (cr < 0 || cr === text.length - 1)) break
    if (cr < 0 || lf !== cr + 1) throw bareLineEnd()
    at = lf + 1
    lineStartsAt(at)
  }
  pieces.push(from === 0 ? window : window.subarray(from))
  return text[text.length - 1]!
}

/** Small pieces are copied together. A piece that almost fills a block is not copied. */
function blocksOf(pieces: Buffer[]): Buffer[] {
  const blocks: Buffer[] = []
  let gathered: Buffer[] = []
  let bytes = 0
  const flush = () => {
    if (gathered.length > 0)
      blocks.push(gathered.length === 1 ? gathered[0]! : Buffer.concat(gathered, bytes))
    gathered = []
    bytes = 0
  }
  for (const piece of pieces) {
    if (bytes + piece.length > BLOCK_BYTES) flush()
    gathered.push(piece)
    bytes += piece.length
  }
  flush()
  return blocks
}

function bareLineEnd() {
  return new Error('the message has a CR or LF that is not part of a CRLF')
}
