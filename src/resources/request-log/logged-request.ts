/** Request to the API as the request log records it, and its packed form between two threads. */
import type { Id } from '../../lib/ids.ts'
import type { LoggedRequestRow } from '../../store/model/schema/requests.ts'

export interface LoggedRequest extends LoggedRequestRow {
  /** First bytes of the JSON body of the request, at most `BODY_BYTES_MAX`. */
  requestBody: Uint8Array | undefined
  /** First characters of the JSON body of the reply. */
  responseBody: string | undefined
  /** Whether the body is longer than the part that is recorded. */
  requestCut: boolean
  responseCut: boolean
}

/**
 * Requests in a few buffers, which move to the writer thread without being copied. Structured cloning of the
 * objects would take several times as long.
 */
export interface PackedRequests {
  count: number
  /** Account, id and credential of each request. */
  ids: Uint8Array<ArrayBuffer>
  /** Numbers of each request, see `NUMBERS`. */
  numbers: Uint32Array<ArrayBuffer>
  /** Each text that occurs in the requests, once. */
  texts: string[]
  /** Bodies, one after another. */
  bodies: Uint8Array<ArrayBuffer>
}

/** Maximum number of bytes of a body that are recorded. */
export const BODY_BYTES_MAX = 16 * 1024
const ID_BYTES = 16
/** Text columns. Their number is the index of the text plus one; 0 means null. */
const TEXTS = ['credentialKind', 'method', 'path', 'query', 'errorName', 'userAgent', 'resourceId'] as const
/**
 * Numbers per request: the texts, the status, the duration, the sizes of both bodies plus one, and the
 * flags.
 */
const NUMBERS = TEXTS.length + 5
const REQUEST_CUT = 1
const RESPONSE_CUT = 2

export function packRequests(requests: readonly LoggedRequest[]): PackedRequests {
  const count = requests.length
  const ids = new Uint8Array(count * 3 * ID_BYTES)
  const numbers = new Uint32Array(count * NUMBERS)
  const indexes = new Map<string, number>()
  const pieces: Uint8Array[] = []
  const indexOf = (text: string | null) => {
    if (text === null) return 0
    const known = indexes.get(text)
    if (known !== undefined) return known
    indexes.set(text, indexes.size + 1)
    return indexes.size
  }
  const sizeOf = (body: Uint8Array | string | undefined) => {
    if (body === undefined) return 0
    const piece = typeof body === 'string' ? Buffer.from(body) : body
    pieces.push(piece)
    return piece.length + 1
  }
  let at = 0
  for (const [i, request] of requests.entries()) {
    ids.set(request.accountId, i * 3 * ID_BYTES)
    ids.set(request.id, (i * 3 + 1) * ID_BYTES)
    ids.set(request.credentialId, (i * 3 + 2) * ID_BYTES)
    for (const column of TEXTS) numbers[at++] = indexOf(request[column])
    numbers[at++] = request.status
    numbers[at++] = request.durationMs
    numbers[at++] = sizeOf(request.requestBody)
    numbers[at++] = sizeOf(request.responseBody)
    numbers[at++] = (request.requestCut ? REQUEST_CUT : 0) | (request.responseCut ? RESPONSE_CUT : 0)
  }
  return { count, ids, numbers, texts: [...indexes.keys()], bodies: joined(pieces) }
}

export function unpackRequests({ count, ids, numbers, texts, bodies }: PackedRequests): LoggedRequest[] {
  let at = 0
  let bodyAt = 0
  const nextText = () => texts[numbers[at++]! - 1] ?? null
  const nextBody = () => {
    const size = numbers[at++]!
    if (size === 0) return undefined
    bodyAt += size - 1
    return bodies.subarray(bodyAt - size + 1, bodyAt)
  }
  const idAt = (index: number): Id => ids.slice(index * ID_BYTES, (index + 1) * ID_BYTES)
  return Array.from({ length: count }, (_, i) => {
    const [credentialKind, method, path] = [nextText()!, nextText()!, nextText()!]
    const [query, errorName, userAgent, resourceId] = [nextText(), nextText(), nextText(), nextText()]
    const [status, durationMs] = [numbers[at++]!, numbers[at++]!]
    const [requestBody, responseBytes, flags] = [nextBody(), nextBody(), numbers[at++]!]
    return {
      ...{ accountId: idAt(i * 3), id: idAt(i * 3 + 1), credentialId: idAt(i * 3 + 2) },
      ...{ credentialKind, method, path, query, status, errorName, userAgent, durationMs, resourceId },
      requestBody,
      responseBody: responseBytes && Buffer.from(responseBytes).toString(),
      requestCut: (flags & REQUEST_CUT) !== 0,
      responseCut: (flags & RESPONSE_CUT) !== 0,
    }
  })
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
