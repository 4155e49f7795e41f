/** Error of an outgoing HTTP request: thrown internally, returned to callers as a value. */

/**
 * `forbidden`: we do not go there. `unreachable`: no connection. `timeout`: it took too long. `too-large`:
 * the reply is longer than allowed. `broken`: the connection or the reply broke off or is no HTTP.
 */
type FaultKind = 'forbidden' | 'unreachable' | 'timeout' | 'too-large' | 'broken'

export class OutboundFault extends Error {
  readonly kind: FaultKind

  /** @param reason a sentence without its full stop, which tells nothing of our own network */
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

/** Errors of our own making, such as a header that cannot be sent. */
const OURS = /^ERR_(?:INVALID|HTTP|UNESCAPED|METHOD|OUT_OF)_/

/**
 * The fault that an error of the runtime's network parts is. @throws the error itself when it is another one
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
