/**
 * Checks the head of a request before it is routed: the version of HTTP, and header fields that may occur
 * once.
 */
import type { Middleware } from 'koa'
import { ApiError } from '../api-error.ts'

/** Matches a host with or without a port (RFC 3986 §3.2.2), or an empty value. */
const HOST = /^(?:\[[\w.~:!$&'()*+,;=-]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d*)?$/

/**
 * Fields that may occur once, but that Node joins or of which it keeps the first. The key is the length of
 * the name, so that most fields are passed over without being lower-cased.
 */
const SINGLE_FIELDS = new Map<number, string>(
  ['Host', 'Content-Type', 'Authorization', 'Idempotency-Key', 'X-Batch-Validation'].map(name => [
    name.length,
    name,
  ]),
)

/**
 * Refuses requests whose head is not valid in HTTP/1.1 (RFC 9112 §3.2, §6.1), and closes the connection,
 * because a proxy that forwards such requests may disagree with Mailhorn about where the next request
 * begins.
 */
export const checkHead: Middleware = ({ req }, next) => {
  if (req.httpVersionMajor !== 1)
    throw refusedHead(505, `HTTP/${req.httpVersion} is not supported. Use HTTP/1.1.`)
  const { host, 'transfer-encoding': coding } = req.headers
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw refusedHead(501, 'The only supported Transfer-Encoding is `chunked`.')
  if (host === undefined && req.httpVersion !== '1.0')
    throw refusedHead(400, 'The request has no Host header.')
  const repeated = repeatedField(req.rawHeaders)
  if (repeated !== undefined) throw refusedHead(400, `The request has more than one ${repeated} header.`)
  if (host !== undefined && !HOST.test(host))
    throw refusedHead(400, 'The Host header must be a host name with an optional port.')
  return next()
}

function refusedHead(status: number, message: string): ApiError {
  return new ApiError(status, 'validation_error', message, { headers: { connection: 'close' } })
}

/** @param lines names and values in alternation, as received */
function repeatedField(lines: readonly string[]): string | undefined {
  let seen = 0
  for (let at = 0; at < lines.length; at += 2) {
    const { length } = lines[at]!
    const name = SINGLE_FIELDS.get(length)
    if (name === undefined || lines[at]!.toLowerCase() !== name.toLowerCase()) continue
    const bit = 1 << length
    if (seen & bit) return name
    seen |= bit
  }
  return undefined
}
