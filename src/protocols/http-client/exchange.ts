/** Sends one HTTP request on one connection and reads its response within limits. */
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from 'node:http'
import { request as secureRequest } from 'node:https'
import { OutboundFault } from './fault.ts'
import type { Target } from './target.ts'

export interface OutboundRequest {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Those set by us: `host`, `content-length`, `connection`, `user-agent`, `accept-encoding`. */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** For everything from the look-up to the reply's last byte. */
  limitMs: number
  /** Longest reply body. */
  limitBytes: number
  /** A longer reply is a fault, or loses its end. */
  whenLonger?: 'fault' | 'cut'
  /** Takes the reply's body piece by piece, no faster than it resolves. The reply has an empty one then. */
  into?(piece: Buffer): Promise<void>
}

export interface OutboundReply {
  status: number
  headers: IncomingHttpHeaders
  /** As it came, whatever its `content-encoding`. */
  body: Buffer
}

/** What an agent is told of a request. The runtime keeps its own `signal` to itself. */
export interface DialledOptions {
  host: string
  port: number
  until: AbortSignal
}

const USER_AGENT = 'Mailhorn'
const HEADER_BYTES_MAX = 16 * 1024

export class StaleConnection extends OutboundFault {
  constructor() {
    super('broken', 'the host closed the connection')
  }
}

/**
 * One request on one connection. @throws StaleConnection when the connection is a kept one and has been
 * closed
 */
export function exchange(
  { url, host, port, isSecure }: Target,
  agent: Agent,
  wanted: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundReply> {
  const { method = 'GET', headers = {}, body } = wanted
  return new Promise((resolve, reject) => {
    const options: RequestOptions & DialledOptions = {
      agent,
      host,
      port,
      path: url.pathname + url.search,
      method,
      signal,
      until: signal,
      maxHeaderSize: HEADER_BYTES_MAX,
      headers: {
        'user-agent': USER_AGENT,
        'accept-encoding': 'identity',
        ...headers,
        host: url.host,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
    }
    let isAnswered = false
    const client = (isSecure ? secureRequest : request)(options)
    const fail = (error: unknown) => {
      client.destroy()
      reject(signal.aborted ? signal.reason : error)
    }
    client.on('error', (error: NodeJS.ErrnoException) => {
      const isStale =
        !isAnswered && client.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      fail(isStale ? new StaleConnection() : error)
    })
    // while a connection is being dialled the runtime tells nobody that the request is over
    signal.addEventListener('abort', () => fail(signal.reason), { once: true })
    client.on('response', response => {
      isAnswered = true
      readReply(response, wanted).then(resolve, fail)
    })
    client.on('close', () => {
      if (!isAnswered) reject(new OutboundFault('broken', 'the host does not answer in HTTP'))
    })
    client.end(body)
  })
}

function readReply(
  response: IncomingMessage,
  { limitBytes, whenLonger = 'fault', into }: OutboundRequest,
): Promise<OutboundReply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let taken = Promise.resolve()
    let isWhole = false
    const handOn = (chunk: Buffer) => {
      response.pause()
      taken = into!(chunk)
      taken.then(
        () => response.resume(),
        error => {
          response.destroy()
          reject(error)
        },
      )
    }
    const done = () =>
      resolve({
        status: response.statusCode!,
        headers: response.headers,
        body: Buffer.concat(chunks).subarray(0, limitBytes),
      })
    const tooLarge = () => {
      response.destroy()
      if (whenLonger === 'cut') done()
      else reject(new OutboundFault('too-large', `the reply is larger than ${limitBytes} bytes`))
    }
    if (whenLonger === 'fault' && Number(response.headers['content-length'] ?? 0) > limitBytes)
      return tooLarge()
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (!into) chunks.push(chunk)
      if (size > limitBytes) tooLarge()
      else if (into) handOn(chunk)
    })
    response.on('end', () => {
      isWhole = true
      taken.then(done, reject)
    })
    response.on('error', reject)
    response.on('close', () => {
      if (!isWhole) reject(new OutboundFault('broken', 'the reply broke off'))
    })
  })
}
