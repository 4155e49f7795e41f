/** Error of an outgoing HTTP request: thrown internally, returned to callers as a value. */

/**
 * `forbidden`: the target is not allowed. `unreachable`: no connection. `timeout`: the time limit has passed.
 * `too-large`: the reply is longer than allowed. `broken`: the connection or the reply broke off, or the
 * reply is not HTTP.
 */
type FaultKind = 'forbidden' | 'unreachable' | 'timeout' | 'too-large' | 'broken'

export class OutboundFault extends Error {
  readonly kind: FaultKind

  /** @param reason a sentence without its full stop, which discloses nothing about the operator's network */
  constructor(kind: FaultKind, reason: string) {
    super(reason)
    this.kind = kind
  }
}

const REASONS = new Map<string, [FaultKind, string]>([
  ['ECONNREFUSED', ['unreachable', 'the host refuses the connection']],
  ['ENETUNREACH', ['unreachable', 'the host cannot be reached']],
  ['EHOSTUNREACH', ['unreachable', 'the host cannot be reached']],
  ['EADDRNOTAVAIL', ['unreachable', 'the host cannot be reached']],
  ['ETIMEDOUT', ['unreachable', 'the host does not answer']],
  ['ECONNRESET', ['broken', 'the host closed the connection']],
  ['EPIPE', ['broken', 'the host closed the connection']],
])

/** Errors that the caller causes, such as a header value that cannot be sent. */
const OURS = /^ERR_(?:INVALID|HTTP|UNESCAPED|METHOD|OUT_OF)_/

/**
 * Maps a network error of the runtime to a fault.
 * @throws the error itself if it is not a network error
 */
export function httpFaultOf(error: unknown): OutboundFault {
  if (error instanceof OutboundFault) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === '' || OURS.test(code)) throw error
  const known = REASONS.get(code)
  if (known) return new OutboundFault(...known)
  if (code.startsWith('HPE_')) return new OutboundFault('broken', 'the host does not answer in HTTP')
  return new OutboundFault('broken', `the connection failed (${code})`)
}
