/**
 * Reads a request's JSON body: bounded while it streams, strict about its type, and `{}` when there is none.
 * Large bodies are read few at a time and parsed on a thread of their own.
 */
import type { IncomingMessage } from 'node:http'
import { bodyHash, parseJson } from './json-body.ts'
import type { LargeBodies, ParsedBody } from './large-bodies.ts'
import { Refused } from './refused.ts'

export interface ReadBodyOptions {
  limitBytes: number
  /** Whose request it is; large bodies of one owner wait for each other. */
  owner: string
  /** Whether the hash is wanted. */
  hashed?: boolean
}

/** @throws Refused 413, 415 or 400 */
export type ReadBody = (request: IncomingMessage, options: ReadBodyOptions) => Promise<ParsedBody>

export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024
export const SEND_BODY_LIMIT_BYTES = 56 * 1024 * 1024
/** A client that sends too much is read to its end, so that it hears the reply; beyond this, its connection is closed. */
const MOST_DISCARDED_BYTES = 64 * 1024 * 1024
const LARGE_FROM_BYTES = 256 * 1024

export function createReadBody(large: LargeBodies): ReadBody {
  return async (request, { limitBytes, owner, hashed = false }) => {
    let place: Promise<() => void> | undefined
    const makeRoom = () => {
      place ??= large.enter(owner)
      return place
    }
    try {
      const bytes = await readBytes(request, limitBytes, makeRoom)
      if (bytes.length > 0) insistOnJson(request)
      if (bytes.length >= LARGE_FROM_BYTES) return await large.parse(bytes, hashed)
      const value = bytes.length === 0 ? {} : parseJson(bytes)
      return { value, hash: hashed ? bodyHash(value) : null }
    } finally {
      place?.then(leave => leave())
    }
  }
}

/** Counts while the body streams; a stream's events cost half of what iterating over it does. */
function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  makeRoom: () => Promise<unknown>,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (headers: Record<string, string>) =>
      reject(
        new Refused(413, 'validation_error', `The request body is larger than ${limitBytes} bytes.`, {
          headers,
        }),
      )
    const waitForRoom = () => {
      request.pause()
      makeRoom().then(() => request.resume(), reject)
    }
    request.on('data', (chunk: Buffer) => {
      const wasSmall = size < LARGE_FROM_BYTES
      size += chunk.length
      if (size <= limitBytes) {
        chunks.push(chunk)
        if (wasSmall && size >= LARGE_FROM_BYTES) waitForRoom()
        return
      }
      chunks.length = 0
      if (size > limitBytes + MOST_DISCARDED_BYTES) refuse({ connection: 'close' })
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
