/**
 * Texts of the emails of an index block, such as their folded subjects, packed into one text and searched
 * together.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { withOneSigma } from '../../lib/fold-text.ts'
import { type Bits, hasBit, noBits, setBit } from './bits.ts'

/** Texts in the order of ordinals, joined. */
export interface Texts {
  text: string
  /** Beginning of each text, and one entry for the end. */
  starts: Uint32Array
}

const SEPARATOR = '\0'
/** More than the names and addresses of an index block can have. */
const SIZE_BYTES_MAX = 256 * 1024 * 1024

/** @param folded texts without the character U+0000 */
export function packTexts(folded: readonly string[]): Uint8Array {
  return zstdCompressSync(Buffer.from(folded.join(SEPARATOR)))
}

/** @param count number of texts, at least one */
export function unpackTexts(packed: Uint8Array, count: number): Texts {
  // Some texts were packed with an older folding of sigma.
  const text = withOneSigma(zstdDecompressSync(packed, { maxOutputLength: SIZE_BYTES_MAX }).toString())
  const starts = new Uint32Array(count + 1)
  for (let ordinal = 1; ordinal < count; ordinal++)
    starts[ordinal] = text.indexOf(SEPARATOR, starts[ordinal - 1]) + 1
  starts[count] = text.length + 1
  return { text, starts }
}

/** @returns those of the wanted texts that contain a part */
export function findInTexts({ text, starts }: Texts, part: string, wanted: Bits): Bits {
  const count = starts.length - 1
  const found = noBits(count)
  for (let ordinal = -1; ; ) {
    const at = ordinal + 1 < count ? text.indexOf(part, starts[ordinal + 1]) : -1
    if (at < 0) return found
    ordinal = ordinalAt(starts, ordinal + 1, at)
    if (hasBit(wanted, ordinal)) setBit(found, ordinal)
  }
}

/** Finds the text at a position by exponential and binary search from `low` on. */
function ordinalAt(starts: Uint32Array, low: number, at: number): number {
  let from = low
  let step = 1
  while (from + step < starts.length && starts[from + step]! <= at) {
    from += step
    step *= 2
  }
  let to = Math.min(from + step, starts.length - 1)
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (starts[middle]! <= at) from = middle
    else to = middle
  }
  return from
}

/** One in so many texts that have no room is cached nevertheless. */
const ADMITTED_EVERY = 8

/**
 * Caches unpacked texts within a limit of characters for all of them together. A search reads the blocks of
 * an account in the same order as the one before, so that the least recently used texts are those that it
 * needs next. If each text that has no room took their place, an account with more texts than fit would find
 * none.
 */
export class TextCache {
  readonly #texts = new Map<string, Texts>()
  readonly #maxCharacters: number
  #characters = 0
  #withoutRoom = 0

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  get(key: string): Texts | undefined {
    const texts = this.#texts.get(key)
    if (!texts) return undefined
    this.#texts.delete(key)
    this.#texts.set(key, texts)
    return texts
  }

  /** The key must not be in the cache. */
  put(key: string, texts: Texts): void {
    const characters = this.#characters + texts.text.length
    if (characters > this.#maxCharacters && ++this.#withoutRoom % ADMITTED_EVERY !== 0) return
    this.#texts.set(key, texts)
    this.#characters = characters
    for (const [oldest, { text }] of this.#texts) {
      if (this.#characters <= this.#maxCharacters) return
      this.#texts.delete(oldest)
      this.#characters -= text.length
    }
  }
}
