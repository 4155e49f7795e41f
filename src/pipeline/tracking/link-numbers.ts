/**
 * Numbers under which the links of a broadcast are counted. A link of the template has its index there, which
 * is the same in every email; a link from a recipient's value has a number derived from its URL.
 */
import { hash } from 'node:crypto'

/** Largest index that fits into a token. Further links are not tracked. */
export const LINK_NUMBER_MAX = 65_534
const FIRST_BY_URL = 65_536
/** Greater than every link number. */
export const END_OF_NUMBERS = FIRST_BY_URL + 2 ** 48

/** Returns a 48-bit hash of the URL, so that collisions within a broadcast are improbable. */
export function numberOfUrl(url: string): number {
  return FIRST_BY_URL + hash('sha256', url, 'buffer').readUIntBE(0, 6)
}

export function isByUrl(number: number): boolean {
  return number >= FIRST_BY_URL
}
