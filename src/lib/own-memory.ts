/** Copies bytes into an ArrayBuffer of their own if they share one, so that the buffer can be transferred. */
export function inOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, length } = bytes
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === length
  return isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes)
}
