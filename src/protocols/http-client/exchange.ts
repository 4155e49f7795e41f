/** Sends one HTTP request on one connection and reads its response within limits. */
import {
  type Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from 'node:http'
import { request as secureRequest } from 'node:https'
import { areCrumbs } from '../../lib/crumbs.ts'
import { JoinedBytes } from '../../lib/joined-bytes.ts'
import { OutboundFault } from './fault.ts'
import type { Target } from './target.ts'

export interface OutboundRequest {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /**
   * Header fields of the request. `host`, `content-length`, `connection`, `user-agent` and `accept-encoding`
   * are set by the client.
   */
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Time limit from the look-up to the last byte of the reply, in ms. */
  limitMs: number
  /** Size limit of the reply body. */
  limitBytes: number
  /** A longer reply body is a fault (the default), or is cut at the limit. */
  whenLonger?: 'fault' | 'cut'
  /**
   * A reply body that breaks off or does not end within `limitMs` is a fault (the default), or the reply has
   * what was received of it. A header section that is not complete is a fault in any case.
   */
  whenBroken?: 'fault' | 'cut'
  /** Receives the reply body in chunks, with backpressure. The body of the reply is empty then. */
  into?(piece: Buffer): Promise<void>
}

export interface OutboundReply {
  status: number
  headers: IncomingHttpHeaders
  /** The body as received; it is not decoded by `content-encoding`. */
  body: Buffer
}

/** Options for the agent's `createConnection`, which does not receive the `signal` of the request. */
export interface DialledOptions {
  host: string
  port: number
  until: AbortSignal
}

const USER_AGENT = 'Mailhorn'
const HEADER_BYTES_MAX = 16 * 1024
/** Informational replies (1xx) before the reply; hosts send one or two. */
const INFORMATION_MAX = 16

export class StaleConnection extends OutboundFault {
  constructor() {
    super('broken', 'the host closed the connection')
  }
}

/**
 * Sends one request on one connection.
 * @throws StaleConnection if a kept-alive connection was closed by the host
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
    /** Ends the reply with what has been received; undefined if this is not wanted. */
    let cut: (() => void) | undefined
    const client = (isSecure ? secureRequest : request)(options)
    const fail = (error: unknown) => {
      cut?.()
      client.destroy()
      reject(signal.aborted ? signal.reason : error)
    }
    client.on('error', (error: NodeJS.ErrnoException) => {
      const isStale =
        !isAnswered && client.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      fail(isStale ? new StaleConnection() : error)
    })
    // While the agent dials a connection, the runtime does not report that the request was aborted.
    signal.addEventListener('abort', () => fail(signal.reason), { once: true })
    let informationCount = 0
    client.on('information', () => {
      if (++informationCount > INFORMATION_MAX)
        fail(new OutboundFault('broken', 'the host sends too many informational replies'))
    })
    client.on('response', response => {
      isAnswered = true
      const { reply, end } = readReply(response, wanted)
      reply.then(resolve, fail)
      if (wanted.whenBroken === 'cut') cut = () => resolve(end())
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
): { reply: Promise<OutboundReply>; end(): OutboundReply } {
  const body = new JoinedBytes()
  /** The reply with what has been received of its body. */
  const end = (): OutboundReply => ({
    status: response.statusCode!,
    headers: response.headers,
    body: body.view().subarray(0, limitBytes),
  })
  const reply = new Promise<OutboundReply>((resolve, reject) => {
    let size = 0
    let pieceCount = 0
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
    const done = () => resolve(end())
    const tooLarge = () => {
      response.destroy()
      if (whenLonger === 'cut') done()
      else reject(new OutboundFault('too-large', `the reply is larger than ${limitBytes} bytes`))
    }
    const inCrumbs = () => {
      response.destroy()
      reject(new OutboundFault('broken', 'the reply arrives in too many small pieces'))
    }
    if (whenLonger === 'fault' && Number(response.headers['content-length'] ?? 0) > limitBytes)
      return tooLarge()
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      pieceCount++
      if (!into) body.add(chunk)
      if (size > limitBytes) tooLarge()
      else if (areCrumbs(pieceCount, size)) inCrumbs()
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
  return { reply, end }
}
