/** JSON with sorted keys, so that equal values give equal text. */
import { createHash } from 'node:crypto'
import { packBytes } from './bytes.ts'

/**
 * Lists of bytes from this length on are represented by their hash. The hash is the same for an array of
 * numbers and a Uint8Array.
 */
const HASHED_BYTES_MIN = 1_024

/** Returns the SHA-256 of the canonical form. */
export function canonicalHash(value: unknown): Uint8Array {
  return new Uint8Array(createHash('sha256').update(canonicalJson(value)).digest())
}

export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, node: unknown) => {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node) || node instanceof Uint8Array) return hashedWhenLong(node)
    const sorted: Record<string, unknown> = Object.create(null)
    for (const key of Object.keys(node).sort()) sorted[key] = (node as Record<string, unknown>)[key]
    return sorted
  })
}

function hashedWhenLong(list: readonly unknown[] | Uint8Array): unknown {
  if (list.length < HASHED_BYTES_MIN) return list instanceof Uint8Array ? Array.from(list) : list
  const bytes = list instanceof Uint8Array ? list : packBytes(list)
  return bytes ? { sha256: createHash('sha256').update(bytes).digest('hex') } : list
}
