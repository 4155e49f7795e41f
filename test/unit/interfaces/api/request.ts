/** Requests as the parts of the HTTP server see them, without a network. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'

interface RequestFields {
  headers?: IncomingHttpHeaders
  remoteAddress?: string
  method?: string
  /** Pieces of the body. */
  body?: Iterable<Uint8Array | string>
}

export function request({ headers = {}, remoteAddress, method = 'POST', body = [] }: RequestFields = {}) {
  const pieces = [...body].map(piece => Buffer.from(piece))
  return Object.assign(Readable.from(pieces), {
    headers,
    method,
    socket: { remoteAddress },
  }) as unknown as IncomingMessage
}
