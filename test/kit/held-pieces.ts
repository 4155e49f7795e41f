/**
 * Counts what a peer makes this process hold and repeat when it sends bytes one by one: buffers that are
 * alive, and characters that are searched.
 */
import type { Writable } from 'node:stream'
import v8 from 'node:v8'

/** @returns the number of byte arrays that are alive, after a garbage collection */
export function byteArrayCount(): number {
  return (v8 as unknown as { queryObjects(kind: unknown, options: object): number }).queryObjects(
    Uint8Array,
    { format: 'count' },
  )
}

/**
 * Sends each byte in a segment of its own, or over TLS in a record of its own. The receiver gets a turn after
 * each.
 */
export async function sendByteByByte(socket: Writable, bytes: string): Promise<void> {
  for (const byte of bytes) {
    if (socket.destroyed) return
    await new Promise<void>(sent => socket.write(byte, 'latin1', () => setImmediate(sent)))
  }
}

/** @returns the number of characters that regular expressions were given meanwhile, in this process */
export async function charactersSearched(act: () => Promise<unknown>): Promise<number> {
  const { exec } = RegExp.prototype
  let count = 0
  RegExp.prototype.exec = function (text) {
    count += String(text).length
    return exec.call(this, text)
  }
  try {
    await act()
  } finally {
    RegExp.prototype.exec = exec
  }
  return count
}
