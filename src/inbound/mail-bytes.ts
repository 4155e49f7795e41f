/** The bytes of one mail as they come in: counted and looked through, of which the beginning is kept. */

export interface MailBytes {
  /** At most so many as are kept. */
  kept(): Uint8Array
  sizeBytes: number
  /** A line end that is no CRLF, by which another server could see other commands in the mail (RFC 5321 §2.3.8). */
  hasBareLineEnd: boolean
}

/** @param keptBytes memory is held for no more, however much comes */
export function createMailBytes(keptBytes: number): MailBytes & { add(chunk: Uint8Array): void } {
  const chunks: Uint8Array[] = []
  let room = keptBytes
  let endsInReturn = false
  return {
    sizeBytes: 0,
    hasBareLineEnd: false,
    add(chunk) {
      this.sizeBytes += chunk.length
      this.hasBareLineEnd ||= holdsBareLineEnd(chunk, endsInReturn)
      endsInReturn = chunk.at(-1) === CR
      if (room > 0) chunks.push(chunk.subarray(0, room))
      room -= chunk.length
    },
    kept: () => Buffer.concat(chunks),
  }
}

const CR = 0x0d
const LF = 0x0a

/** @param afterReturn the bytes before ended in CR */
export function holdsBareLineEnd(bytes: Uint8Array, afterReturn: boolean): boolean {
  if (afterReturn && bytes.length > 0 && bytes[0] !== LF) return true
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1))
    if (at === 0 ? !afterReturn : bytes[at - 1] !== CR) return true
  for (let at = bytes.indexOf(CR); at >= 0; at = bytes.indexOf(CR, at + 1))
    if (at + 1 < bytes.length && bytes[at + 1] !== LF) return true
  return false
}
