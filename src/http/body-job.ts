/** What the thread that parses large bodies does with one. */
import { bodyHash, parseLargeJson } from './json-body.ts'
import { Refused } from './refused.ts'
import { decodeContents } from './wire/attachment-content.ts'

export interface BodyJob {
  bytes: Uint8Array<ArrayBuffer>
  hashed: boolean
}

export type BodyAnswer = { value: object; hash: Uint8Array | null } | { refused: string }

/** @returns the answer, and the memory that goes with it instead of being copied */
export function doBodyJob({ bytes, hashed }: BodyJob): { answer: BodyAnswer; transfer: ArrayBuffer[] } {
  try {
    const value = parseLargeJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const hash = hashed ? bodyHash(value) : null
    const contents = decodeContents(value)
    return { answer: { value, hash }, transfer: contents.map(({ buffer }) => buffer) }
  } catch (error) {
    if (error instanceof Refused) return { answer: { refused: error.message }, transfer: [] }
    throw error
  }
}
