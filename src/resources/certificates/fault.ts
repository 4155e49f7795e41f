/**
 * Why a certificate was not given: a problem that the authority has told (RFC 8555 §6.7), or one with
 * reaching it.
 */

export class AcmeFault extends Error {
  /**
   * `rateLimited`, `dns`, … as in RFC 8555 §6.7; ours are `unreachable`, `unreadable`, `too-slow` and
   * `refused`.
   */
  readonly kind: string
  /** The authority wants to be left alone for so long; null when it did not say. */
  readonly retryAfterMs: number | null

  constructor(kind: string, message: string, retryAfterMs: number | null = null) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }

  /** It is about the way there, or the authority itself: what was begun can be gone on with. */
  get isPassing(): boolean {
    return PASSING.has(this.kind)
  }
}

const PASSING: ReadonlySet<string> = new Set([
  'unreachable',
  'too-slow',
  'rateLimited',
  'serverInternal',
  'badNonce',
])
