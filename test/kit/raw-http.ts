/** Speaks HTTP byte by byte, for requests that no client library would send. */
import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'

export interface RawReply {
  status: number
  headers: Headers
  /** Body, without decoding. */
  text: string
}

export interface RawExchange {
  /** Replies to the request, informational ones left out. */
  replies: RawReply[]
  /** Whether the other side closed the connection. */
  closed: boolean
}

export interface RawOptions {
  /** Replies to wait for; the connection's end is enough in any case. */
  replyCount?: number
  /** The local address to come from. */
  from?: string
  /** The request is a HEAD: its reply has no body, whatever its length says. */
  head?: boolean
  /** Includes informational replies, such as 100. */
  informational?: boolean
  /** Closes its side when all is written. */
  endsEarly?: boolean
  /** Reads nothing before all is written, as clients do that know no other order. */
  writesFirst?: boolean
}

/** Writes the pieces one after another and reads until the replies are there or the connection ends. */
export async function exchange(
  baseUrl: string,
  pieces: string | Uint8Array | readonly (string | Uint8Array)[],
  options: RawOptions = {},
): Promise<RawExchange> {
  const { replyCount = 1, from, head = false, informational = false } = options
  const { writesFirst = false, endsEarly = false } = options
  const { hostname, port } = new URL(baseUrl)
  const socket = connect({ host: hostname, port: Number(port), ...(from ? { localAddress: from } : {}) })
  try {
    const received = receive(socket, replyCount, { head, informational })
    const sent = write(socket, typeof pieces === 'string' || pieces instanceof Uint8Array ? [pieces] : pieces)
    if (writesFirst) socket.pause()
    if (replyCount === 0 || writesFirst) await sent
    if (endsEarly) void sent.then(() => socket.end())
    socket.resume()
    return await received
  } finally {
    socket.destroy()
  }
}

/** The one reply to a request. @throws when the connection ends without one */
export async function rawRequest(
  baseUrl: string,
  pieces: string | Uint8Array | readonly (string | Uint8Array)[],
  options: RawOptions = {},
): Promise<RawReply & { body: unknown }> {
  const { replies } = await exchange(baseUrl, pieces, options)
  const [reply] = replies
  if (!reply) throw new Error('the connection ended without a reply')
  return { ...reply, body: reply.text === '' ? undefined : JSON.parse(reply.text) }
}

/** Resolves when all is written or the other side has closed; it may never read everything. */
async function write(socket: Socket, pieces: readonly (string | Uint8Array)[]): Promise<void> {
  for (const piece of pieces) await new Promise<void>(resolve => socket.write(piece, () => resolve()))
}

type Reading = Required<Pick<RawOptions, 'head' | 'informational'>>

function receive(socket: Socket, replyCount: number, reading: Reading): Promise<RawExchange> {
  return new Promise(resolve => {
    let bytes = Buffer.alloc(0)
    const settle = (closed: boolean) => {
      const replies = repliesIn(bytes, reading)
      if (closed || replies.length >= replyCount) resolve({ replies, closed })
    }
    socket.on('data', chunk => {
      bytes = Buffer.concat([bytes, chunk])
      settle(false)
    })
    if (replyCount === 0) settle(false)
    socket.on('error', () => settle(true))
    socket.on('close', () => settle(true))
  })
}

/**
 * All complete replies; bodies by Content-Length, or chunked without trailers; of streams of events the
 * beginning.
 */
function repliesIn(bytes: Buffer, { head, informational }: Reading): RawReply[] {
  const replies: RawReply[] = []
  let rest = bytes
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return replies
    const [statusLine = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
    if (!status) throw new Error(`this is no HTTP: ${statusLine}`)
    const headers = new Headers(lines.map(line => splitLine(line)))
    rest = rest.subarray(end + 4)
    if (status < 200 && !informational) continue
    const text = bodyOf(rest, headers, head)
    if (text === undefined) return replies
    rest = rest.subarray(text.taken)
    replies.push({ status, headers, text: text.text })
  }
}

function bodyOf(rest: Buffer, headers: Headers, head: boolean): { text: string; taken: number } | undefined {
  if (head) return { text: '', taken: 0 }
  if (headers.get('content-type')?.startsWith('text/event-stream'))
    return rest.length === 0 ? undefined : { text: rest.toString(), taken: rest.length }
  if (headers.get('transfer-encoding') === 'chunked') {
    return dechunked(rest)
  }
  const length = Number(headers.get('content-length') ?? 0)
  if (rest.length < length) return undefined
  const body = rest.subarray(0, length)
  const text = headers.get('content-encoding') === 'gzip' && length > 0 ? gunzipSync(body) : body
  return { text: text.toString(), taken: length }
}

function dechunked(rest: Buffer): { text: string; taken: number } | undefined {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const length = Number.parseInt(rest.subarray(at, lineEnd).toString(), 16)
    const [from, to] = [lineEnd + 2, lineEnd + 2 + length]
    if (rest.length < to + 2) return undefined
    if (length === 0) return { text: Buffer.concat(pieces).toString(), taken: to + 2 }
    pieces.push(rest.subarray(from, to))
    at = to + 2
  }
}

function splitLine(line: string): [string, string] {
  const at = line.indexOf(':')
  return [line.slice(0, at), line.slice(at + 1).trim()]
}
