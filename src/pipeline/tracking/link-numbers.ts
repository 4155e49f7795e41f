/**
 * By what numbers the links of a broadcast are counted: what its author has written has the number of its
 * place there, the same in every email; what a recipient's values have brought is known by where it leads.
 */
import { hash } from 'node:crypto'

/** Tokens have room for that. Further links of a page are left as they are. */
export const LAST_NUMBER = 65_534
const FIRST_BY_URL = 65_536
/** Numbers beyond all that there are. */
export const END_OF_NUMBERS = FIRST_BY_URL + 2 ** 48

/** So many that nobody meets two links with the same. */
export function numberOfUrl(url: string): number {
  return FIRST_BY_URL + hash('sha256', url, 'buffer').readUIntBE(0, 6)
}

export function isByUrl(number: number): boolean {
  return number >= FIRST_BY_URL
}
