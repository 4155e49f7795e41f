/**
 * Reads the small forms of the unsubscribe page and of one-click unsubscribe requests (RFC 8058 §3.1), in
 * either form encoding.
 */
import type { IncomingMessage } from 'node:http'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { boundaryOf } from './multipart.ts'
import { streamBody } from './stream.ts'

/**
 * Returns no fields for an empty body or another content type.
 * @throws ApiError 413
 */
export async function readForm(request: IncomingMessage, limitBytes: number): Promise<URLSearchParams> {
  const bytes = await readSmall(request, limitBytes)
  const type = request.headers['content-type'] ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return new URLSearchParams(bytes.toString())
  const boundary = boundaryOf(type)
  return boundary === undefined ? new URLSearchParams() : multipartFields(bytes.toString(), boundary)
}

/** Returns the fields of a multipart form that are not files (RFC 7578). */
function multipartFields(body: string, boundary: string): URLSearchParams {
  const fields = new URLSearchParams()
  for (const part of `\r\n${body}`.split(`\r\n--${boundary}`).slice(1, -1)) {
    const headEnd = part.indexOf('\r\n\r\n')
    const disposition = /^content-disposition:[ \t]*form-data\b(.*)$/im.exec(part.slice(0, headEnd))?.[1]
    const name = /;\s*name="([^"]*)"/i.exec(disposition ?? '')?.[1]
    const isFile = /;\s*filename\*?=/i.test(disposition ?? '')
    if (headEnd >= 0 && name !== undefined && !isFile) fields.append(name, part.slice(headEnd + 4))
  }
  return fields
}

async function readSmall(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const body = new JoinedBytes()
  for await (const piece of streamBody(request, limitBytes)) body.add(piece)
  return body.take()
}
