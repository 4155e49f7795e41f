/**
 * Splits the byte stream of a peer into SMTP replies (RFC 5321 §4.2), independently of TCP segments and
 * within fixed limits.
 */
import { parseReplyLine } from '../../../protocols/smtp/reply.ts'

/** A reply as received: the text of each line, without its code. */
export interface RawReply {
  code: number
  lines: string[]
}

const LF = 10
const CR = 13
/** Further lines are read but not kept, since they carry no information that decides anything. */
const REPLY_LINES_KEPT_MAX = 100
const REPLY_BYTES_MAX = 65_536
const LINE_BYTES_KEPT_MAX = 2048

export class ReplyReader {
  #code = 0
  #lines: string[] = []
  #replyBytes = 0
  /** The incomplete line from previous chunks, up to the limit. */
  #line: Buffer | undefined
  #lineBytes = 0

  /**
   * Reads the next bytes and passes on every complete reply. When `onReply` returns false, the rest of the
   * chunk is dropped.
   * @returns a fault of the stream, after which it cannot be read further
   */
  feed(chunk: Buffer, onReply: (reply: RawReply) => boolean): string | undefined {
    let at = 0
    while (at < chunk.length) {
      const newline = chunk.indexOf(LF, at)
      const end = newline < 0 ? chunk.length : newline + 1
      this.#replyBytes += end - at
      if (this.#replyBytes > REPLY_BYTES_MAX) return `a reply longer than ${REPLY_BYTES_MAX} bytes`
      if (newline < 0) return this.#keep(chunk, at, end)
      const text = this.#completeLine(chunk, at, newline)
      const line = parseReplyLine(text)
      if (!line) return `not a reply: ${JSON.stringify(text.slice(0, 80))}`
      const fault = this.#add(line)
      if (fault !== undefined) return fault
      at = end
      if (line.last && !onReply(this.#complete())) return undefined
    }
    return undefined
  }

  #add(line: { code: number; text: string }): string | undefined {
    if (this.#lines.length === 0) this.#code = line.code
    if (line.code !== this.#code)
      return `a reply that begins with ${this.#code} and goes on with ${line.code}`
    if (this.#lines.length < REPLY_LINES_KEPT_MAX) this.#lines.push(line.text)
    return undefined
  }

  #complete(): RawReply {
    const reply = { code: this.#code, lines: this.#lines }
    this.#lines = []
    this.#replyBytes = 0
    return reply
  }

  #completeLine(chunk: Buffer, from: number, newline: number): string {
    if (this.#lineBytes === 0) return textOf(chunk, from, newline)
    this.#keep(chunk, from, newline)
    const text = textOf(this.#line!, 0, this.#lineBytes)
    this.#lineBytes = 0
    return text
  }

  #keep(chunk: Buffer, from: number, to: number): undefined {
    this.#line ??= Buffer.allocUnsafe(LINE_BYTES_KEPT_MAX)
    this.#lineBytes += chunk.copy(this.#line, this.#lineBytes, from, to)
  }
}

function textOf(bytes: Buffer, from: number, to: number): string {
  const end = bytes[to - 1] === CR && to > from ? to - 1 : to
  return bytes.toString('utf8', from, Math.min(end, from + LINE_BYTES_KEPT_MAX))
}
