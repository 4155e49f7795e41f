/**
 * Derives boundaries of multiparts. They are the same for the same email and occur in no part (RFC 2046
 * §5.1.1).
 */
import { hash } from 'node:crypto'

/** Kinds of multiparts, of which a message has at most one each. */
type MultipartKind = 'mixed' | 'alternative' | 'related' | 'report'

export interface Boundaries {
  of(kind: MultipartKind): string
  /** Tells whether octets that are to be sent without encoding hold one of these boundaries. */
  occurIn(content: Uint8Array): boolean
}

/** Begins every delimiter line. Neither base64 nor quoted-printable can produce it (RFC 2045 §6.7). */
export const BOUNDARY_START = '--=_'

export function boundariesOf(seed: string): Boundaries {
  let known: string | undefined
  const digest = () => {
    known ??= hash('sha256', seed, 'hex').slice(0, 32)
    return known
  }
  return {
    of: kind => `=_${kind}_${digest()}`,
    occurIn: content =>
      Buffer.from(content.buffer, content.byteOffset, content.byteLength).includes(digest()),
  }
}
