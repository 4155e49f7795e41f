/** Reads a request's JSON body: bounded while it streams, strict about its type, and `{}` when there is none. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Refused } from './refused.ts'

export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024
export const SEND_BODY_LIMIT_BYTES = 56 * 1024 * 1024
/** A client that sends too much is read to its end, so that it hears the reply; beyond this, its connection is closed. */
const MOST_DISCARDED_BYTES = 64 * 1024 * 1024
const DEEPEST_NESTING = 64

/** @throws Refused 413, 415 or 400 */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, limitBytes)
  if (bytes.length === 0) return {}
  insistOnJson(request)
  if (!isUtf8(bytes)) throw malformed('it is not valid UTF-8')
  let body: unknown
  try {
    body = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''))
  } catch (error) {
    throw malformed((error as SyntaxError).message)
  }
  if (typeof body !== 'object' || body === null) throw malformed('it must be an object or an array')
  if (isDeeperThan(body, DEEPEST_NESTING))
    throw malformed(`it is nested deeper than ${DEEPEST_NESTING} levels`)
  return body
}

/** Counts while the body streams; a stream's events cost half of what iterating over it does. */
function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (headers: Record<string, string>) =>
      reject(
        new Refused(413, 'validation_error', `The request body is larger than ${limitBytes} bytes.`, {
          headers,
        }),
      )
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limitBytes) return chunks.push(chunk)
      chunks.length = 0
      if (size > limitBytes + MOST_DISCARDED_BYTES) refuse({ connection: 'close' })
      return undefined
    })
    request.on('end', () => {
      if (size > limitBytes) refuse({})
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    })
    request.on('error', reject)
    request.on('close', () => reject(new Error('the client left in the middle of its request')))
  })
}

function insistOnJson({ headers }: IncomingMessage) {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new Refused(
      415,
      'validation_error',
      'The request body must be JSON (Content-Type: application/json).',
    )
  const charset = parameters.find(parameter => parameter.startsWith('charset='))?.slice('charset='.length)
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset))
    throw new Refused(415, 'validation_error', 'The request body must be JSON in UTF-8.')
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new Refused(415, 'validation_error', 'Compressed request bodies are not supported.')
}

function malformed(why: string): Refused {
  return new Refused(400, 'validation_error', `The request body is not valid JSON: ${why}.`)
}

/** Without recursion, which a hostile body could exhaust. */
function isDeeperThan(body: object, levels: number): boolean {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true
    const next: object[] = []
    for (const node of level)
      for (const child of Array.isArray(node) ? node : Object.values(node))
        if (typeof child === 'object' && child !== null) next.push(child)
    level = next
  }
  return false
}
