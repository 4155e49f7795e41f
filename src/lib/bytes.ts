/** Byte arrays that are compact and can be transferred between threads. */

/**
 * Returns the bytes in an ArrayBuffer that contains nothing else, so that the buffer can be transferred.
 * Bytes that share their buffer are copied.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, length } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === length
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes)
}

/**
 * Packs a list, such as a parsed JSON array, in which an element costs eight bytes or more.
 * @returns undefined when the list contains anything but integers from 0 to 255
 */
export function packBytes(list: ArrayLike<unknown>): Uint8Array | undefined {
  const bytes = new Uint8Array(list.length)
  for (let at = 0; at < list.length; at++) {
    const value = list[at] as number
    if ((value & 255) !== value) return undefined
    bytes[at] = value
  }
  return bytes
}
