/** Compact lists of numbers. In a parsed JSON array an element costs eight bytes or more. */

/** The list as bytes, or undefined when it holds anything but integers from 0 to 255. */
export function packBytes(list: ArrayLike<unknown>): Uint8Array | undefined {
  const bytes = new Uint8Array(list.length)
  for (let at = 0; at < list.length; at++) {
    const value = list[at] as number
    if ((value & 255) !== value) return undefined
    bytes[at] = value
  }
  return bytes
}

/** The list as bytes, or else as numbers; undefined when it holds anything that is no number. */
export function packNumbers(list: readonly unknown[]): Uint8Array | Float64Array | undefined {
  const bytes = packBytes(list)
  if (bytes) return bytes
  return list.every(value => typeof value === 'number') ? Float64Array.from(list) : undefined
}
