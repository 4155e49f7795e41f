/**
 * Rewrites texts as numbers, one for each character: as strings, what is between a million line ends would be
 * as many of them.
 */

export type Units = Uint8Array | Uint16Array

const BEYOND_LATIN1 = /[^\x00-\xff]/

/**
 * @param mostUnits that `write` writes
 * @param write @returns how many it has written
 */
export function rewriteUnits(
  text: string,
  mostUnits: number,
  write: (units: Units, out: Units) => number,
): string {
  if (!BEYOND_LATIN1.test(text)) {
    const out = Buffer.allocUnsafe(mostUnits)
    return out.toString('latin1', 0, write(Buffer.from(text, 'latin1'), out))
  }
  const memory = Buffer.from(text, 'utf16le')
  const units = new Uint16Array(memory.buffer, memory.byteOffset, text.length)
  const out = new Uint16Array(mostUnits)
  return Buffer.from(out.buffer, 0, 2 * write(units, out)).toString('utf16le')
}
