/**
 * Error of an order: a problem document of the certificate authority (RFC 8555 §6.7), or a failure to reach
 * it.
 */

export class AcmeFault extends Error {
  /**
   * Type of the problem as in RFC 8555 §6.7, such as `rateLimited` or `dns`; also `unreachable`,
   * `unreadable`, `too-slow` and `refused` for failures on our side.
   */
  readonly kind: string
  /** Delay that the authority requests, in ms; null if it requests none. */
  readonly retryAfterMs: number | null

  constructor(kind: string, message: string, retryAfterMs: number | null = null) {
    super(message)
    this.kind = kind
    this.retryAfterMs = retryAfterMs
  }

  /**
   * Tells whether the failure concerns the connection or the authority, so that the order can be continued.
   */
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
