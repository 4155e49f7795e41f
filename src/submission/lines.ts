/** Line ends of a submitted message (RFC 6409 §8: what leaves us is well-formed, whatever came). */

/** A CR or LF that is not half of a CRLF: what one server takes for the end of a message, and another does not. */
const BARE_BREAK = /\r(?!\n)|(?<!\r)\n/
const LINE_BREAK = /\r\n|\r|\n/g

/** The message with every line, the last one too, ending in CRLF. */
export function withWholeLines(message: Buffer): Buffer {
  const text = message.toString('latin1')
  const mended = BARE_BREAK.test(text) ? text.replace(LINE_BREAK, '\r\n') : text
  if (mended === text && text.endsWith('\r\n')) return message
  return Buffer.from(mended.endsWith('\r\n') ? mended : `${mended}\r\n`, 'latin1')
}
