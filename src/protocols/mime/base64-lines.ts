/**
 * Base64 in lines of 76 (RFC 2045 §6.8), written straight into the message so that large files are held
 * once.
 */

const LINE_CHARACTERS = 76
const LINE_OCTETS = 57
const LINES_PER_BLOCK = 256
const CR = 0x0d
const LF = 0x0a

/** Returns the number of octets that `writeBase64Lines` will write. */
export function base64LinesSize(octets: number): number {
  const characters = Math.ceil(octets / 3) * 4
  const lineEnds = Math.max(Math.ceil(characters / LINE_CHARACTERS) - 1, 0)
  return characters + 2 * lineEnds
}

/**
 * Encodes in blocks of lines, since the encoder of the runtime is faster than a loop over octets. There is no
 * CRLF after the last line.
 *
 * @returns the position behind the written octets
 */
export function writeBase64Lines(content: Uint8Array, out: Buffer, position: number): number {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const blockOctets = LINE_OCTETS * LINES_PER_BLOCK
  const block = Buffer.allocUnsafe(
    LINE_CHARACTERS * Math.min(LINES_PER_BLOCK, Math.ceil(bytes.length / LINE_OCTETS)),
  )
  let to = position
  for (let from = 0; from < bytes.length; from += blockOctets) {
    const text = bytes.toString('base64', from, Math.min(from + blockOctets, bytes.length))
    const length = block.write(text, 'latin1')
    for (let start = 0; start < length; start += LINE_CHARACTERS) {
      if (to > position) {
        out[to++] = CR
        out[to++] = LF
      }
      to += block.copy(out, to, start, Math.min(start + LINE_CHARACTERS, length))
    }
  }
  return to
}
