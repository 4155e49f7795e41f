/** The folded subjects of a segment, packed into one text, in which all of them are searched at once. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { withOneSigma } from '../../lib/fold-text.ts'
import { type Bits, hasBit, noBits, setBit } from './bits.ts'

/** Subjects one after another, by ordinal. */
export interface Subjects {
  text: string
  /** Where each begins, and where one more would. */
  starts: Uint32Array
}

const SEPARATOR = '\0'
const SIZE_BYTES_MAX = 64 * 1024 * 1024

/** @param folded without the character U+0000 */
export function packSubjects(folded: readonly string[]): Uint8Array {
  return zstdCompressSync(Buffer.from(folded.join(SEPARATOR)))
}

/** @param count how many there are, at least one */
export function unpackSubjects(packed: Uint8Array, count: number): Subjects {
  // some were packed when subjects were folded otherwise
  const text = withOneSigma(zstdDecompressSync(packed, { maxOutputLength: SIZE_BYTES_MAX }).toString())
  const starts = new Uint32Array(count + 1)
  for (let ordinal = 1; ordinal < count; ordinal++)
    starts[ordinal] = text.indexOf(SEPARATOR, starts[ordinal - 1]) + 1
  starts[count] = text.length + 1
  return { text, starts }
}

/** Which of the wanted subjects contain a text. */
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

/** The subject that covers a position, from `low` on: steps that double, then halves. */
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

/** Subjects of the segments looked at last, unpacked. */
export interface SubjectCache {
  get(segmentId: number): Subjects | undefined
  put(segmentId: number, subjects: Subjects): void
}

/** @param mostCharacters of all texts together; those not used for longest go first */
export function createSubjectCache(mostCharacters: number): SubjectCache {
  const kept = new Map<number, Subjects>()
  let total = 0
  return {
    get(segmentId) {
      const subjects = kept.get(segmentId)
      if (!subjects) return undefined
      kept.delete(segmentId)
      kept.set(segmentId, subjects)
      return subjects
    },
    put(segmentId, subjects) {
      kept.set(segmentId, subjects)
      total += subjects.text.length
      for (const [id, { text }] of kept) {
        if (total <= mostCharacters) return
        kept.delete(id)
        total -= text.length
      }
    },
  }
}
