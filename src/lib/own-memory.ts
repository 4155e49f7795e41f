/** The bytes in memory that holds nothing else, which can be given away; copied only where there is something else. */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, length } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === length
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes)
}
