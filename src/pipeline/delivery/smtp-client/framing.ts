/**
 * A message as it is sent after DATA: checked, dot-stuffed and ended (RFC 5321 §4.5.2), and cut into blocks.
 */
import { isAscii } from 'node:buffer'

interface FramedMessage {
  /** All bytes, up to and including the final dot's CRLF. Small messages have one block. */
  blocks: Buffer[]
  /** Whether any byte has its high bit set. */
  eightBit: boolean
}

/** How much is looked at, and at most written, at once; each block has a time limit of its own. */
const BLOCK_BYTES = 65_536
const DOT = Buffer.from('.')
const CRLF = Buffer.from('\r\n')
const END_OF_DATA = Buffer.from('.\r\n')
export const EMPTY_MESSAGE = END_OF_DATA

/**
 * @throws when a CR or LF stands alone: what a peer makes of it could end the message early, or break its
 * signature.
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
 * Adds the window to the pieces, its leading dots doubled. `before` is the character before it, the last one
 * is returned.
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

/** Small pieces are copied together; a piece that makes a block nearly by itself is left where it is. */
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
