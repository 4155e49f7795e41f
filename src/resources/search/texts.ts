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

/** Cache of unpacked texts. */
export interface TextCache {
  get(blockId: number): Texts | undefined
  put(blockId: number, texts: Texts): void
}

/** @param maxCharacters limit for all texts together; the least recently used are removed */
export function createTextCache(maxCharacters: number): TextCache {
  const cache = new Map<number, Texts>()
  let total = 0
  return {
    get(blockId) {
      const texts = cache.get(blockId)
      if (!texts) return undefined
      cache.delete(blockId)
      cache.set(blockId, texts)
      return texts
    },
    put(blockId, texts) {
      cache.set(blockId, texts)
      total += texts.text.length
      for (const [id, { text }] of cache) {
        if (total <= maxCharacters) return
        cache.delete(id)
        total -= text.length
      }
    },
  }
}
