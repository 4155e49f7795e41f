/** The folded subjects of an index block, packed into one text and searched together. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { withOneSigma } from '../../lib/fold-text.ts'
import { type Bits, hasBit, noBits, setBit } from './bits.ts'

/** Subjects in the order of ordinals, joined. */
export interface Subjects {
  text: string
  /** Beginning of each subject, and one entry for the end. */
  starts: Uint32Array
}

const SEPARATOR = '\0'
const SIZE_BYTES_MAX = 64 * 1024 * 1024

/** @param folded subjects without the character U+0000 */
export function packSubjects(folded: readonly string[]): Uint8Array {
  return zstdCompressSync(Buffer.from(folded.join(SEPARATOR)))
}

/** @param count number of subjects, at least one */
export function unpackSubjects(packed: Uint8Array, count: number): Subjects {
  // Some subjects were packed with an older folding of sigma.
  const text = withOneSigma(zstdDecompressSync(packed, { maxOutputLength: SIZE_BYTES_MAX }).toString())
  const starts = new Uint32Array(count + 1)
  for (let ordinal = 1; ordinal < count; ordinal++)
    starts[ordinal] = text.indexOf(SEPARATOR, starts[ordinal - 1]) + 1
  starts[count] = text.length + 1
  return { text, starts }
}

/** @returns those of the wanted subjects that contain a text */
export function findInSubjects(subjects: Subjects, part: string, wanted: Bits): Bits {
  const { text, starts } = subjects
  const count = starts.length - 1
  const found = noBits(count)
  for (let ordinal = -1; ; ) {
    const at = ordinal + 1 < count ? text.indexOf(part, starts[ordinal + 1]) : -1
    if (at < 0) return found
    ordinal = ordinalAt(starts, ordinal + 1, at)
    if (hasBit(wanted, ordinal)) setBit(found, ordinal)
  }
}

/** Finds the subject at a position by exponential and binary search from `low` on. */
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

/** Cache of unpacked subjects. */
export interface SubjectCache {
  get(blockId: number): Subjects | undefined
  put(blockId: number, subjects: Subjects): void
}

/** @param maxCharacters limit for all texts together; the least recently used are removed */
export function createSubjectCache(maxCharacters: number): SubjectCache {
  const kept = new Map<number, Subjects>()
  let total = 0
  return {
    get(blockId) {
      const subjects = kept.get(blockId)
      if (!subjects) return undefined
      kept.delete(blockId)
      kept.set(blockId, subjects)
      return subjects
    },
    put(blockId, subjects) {
      kept.set(blockId, subjects)
      total += subjects.text.length
      for (const [id, { text }] of kept) {
        if (total <= maxCharacters) return
        kept.delete(id)
        total -= text.length
      }
    },
  }
}
