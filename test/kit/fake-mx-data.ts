/**
 * The message as the scripted MX receives it: finds the final dot, undoes dot-stuffing, and judges the line
 * ends.
 */

const END = Buffer.from('\r\n.\r\n')
/** Without its CRLF (RFC 5321 §4.5.3.1.6). */
const LINE_LENGTH_MAX = 998
const BARE = /\r(?!\n)|(?<!\r)\n/

/** Collects the bytes of a message until it is complete. */
export interface MessageCollector {
  /** Takes bytes; once the message is complete, returns what follows it. */
  push(chunk: Buffer): Buffer | undefined
  message(): Buffer
  violations(): string[]
}

export class DataCollector implements MessageCollector {
  #chunks: Buffer[] = []
  /** The last bytes of the stream, so that an end that spans chunks is found; DATA's own CRLF comes first. */
  #tail = Buffer.from('\r\n')
  receivedBytes = 0

  /** Takes bytes; once the final dot is in, returns what follows it. */
  push(chunk: Buffer): Buffer | undefined {
    const seen = Buffer.concat([this.#tail, chunk])
    const at = seen.indexOf(END)
    if (at < 0) {
      this.#chunks.push(chunk)
      this.receivedBytes += chunk.length
      this.#tail = seen.subarray(Math.max(0, seen.length - (END.length - 1)))
      return undefined
    }
    const used = at + END.length - this.#tail.length
    this.#chunks.push(chunk.subarray(0, used))
    this.receivedBytes += used
    return chunk.subarray(used)
  }

  /** The message without the final dot, dots unstuffed, as bytes. */
  message(): Buffer {
    const wire = this.#wire()
    const stuffed = wire.slice(0, -'.\r\n'.length)
    return Buffer.from(stuffed.replace(/(^|\r\n)\./g, '$1'), 'latin1')
  }

  violations(): string[] {
    const wire = this.#wire()
    const found = lineFaults(wire)
    if (/\r\n\.[^.\r]|^\.[^.\r]/.test(wire)) found.push('a line that begins with an unstuffed dot')
    return found
  }

  #wire(): string {
    return Buffer.concat(this.#chunks).toString('latin1')
  }
}

function lineFaults(wire: string): string[] {
  const found: string[] = []
  if (BARE.test(wire)) found.push('bare CR or LF in the message')
  if (longestLine(wire) > LINE_LENGTH_MAX) found.push('a line of more than 998 bytes')
  return found
}

function longestLine(text: string): number {
  let longest = 0
  for (let at = 0, end = 0; end >= 0; at = end + 2) {
    end = text.indexOf('\r\n', at)
    longest = Math.max(longest, (end < 0 ? text.length : end) - at)
  }
  return longest
}
