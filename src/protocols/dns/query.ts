/**
 * Sends one DNS query to one server over UDP, and over TCP if the answer is truncated (RFC 1035 §4.2, RFC
 * 7766 §5).
 */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { Clock, Timer } from '../../lib/clock.ts'
import { frame, readFrames } from './frames.ts'
import { CLASS_IN, FLAG, type Message, type TypeName } from './wire.ts'
import { decodeMessage, MalformedMessage } from './wire-decode.ts'
import { encodeMessage, encodeQuestion } from './wire-encode.ts'

interface Server {
  /** An IP literal. */
  host: string
  port: number
}

export interface Query {
  server: Server
  name: string
  type: TypeName
  /** `FLAG` bits of the question. */
  flags: number
  /** Old servers do not accept the OPT record (RFC 6891 §7). */
  withoutEdns?: boolean
}

interface QueryLimits {
  clock: Clock
  /** Time limit for both transports together, in ms. */
  timeoutMs: number
  closing: AbortSignal
}

const QUERY_BYTES_MAX = 512
const PAYLOAD_BYTES = 1232
const TCP_BYTES_MAX = 65_535

/**
 * @returns the answer with any response code
 * @throws Error if there is no answer in time
 */
export async function askServer(query: Query, { clock, timeoutMs, closing }: QueryLimits): Promise<Message> {
  const id = randomInt(65_536)
  const packet = packetOf(id, query)
  const limit = limited(clock, timeoutMs, closing)
  try {
    limit.signal.throwIfAborted()
    const reply = await overUdp(query, packet, id, limit.signal)
    return reply.flags & FLAG.TC ? await overTcp(query, packet, id, limit.signal) : reply
  } finally {
    limit.timer.cancel()
  }
}

function packetOf(id: number, { name, type, flags, withoutEdns = false }: Query): Buffer {
  const question = { name, type, class: CLASS_IN, bytes: encodeQuestion(name, type) }
  const edns = withoutEdns ? undefined : { payloadBytes: PAYLOAD_BYTES, version: 0, dnssecOk: false }
  const none = { answers: [], authority: [], additional: [] }
  return encodeMessage({ id, flags, opcode: 0, rcode: 0, question, ...none, edns }, QUERY_BYTES_MAX)
}

function overUdp(query: Query, packet: Buffer, id: number, signal: AbortSignal) {
  const { host, port } = query.server
  return new Promise<Message>((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    let settled = false
    const settle = (end: () => void) => {
      if (settled) return
      settled = true
      signal.removeEventListener('abort', onAbort)
      socket.close()
      end()
    }
    const onAbort = () => settle(() => reject(signal.reason))
    signal.addEventListener('abort', onAbort)
    socket.on('error', error => settle(() => reject(error)))
    socket.on('message', reply => {
      const message = replyTo(id, query, reply)
      if (message) settle(() => resolve(message))
    })
    // A callback given to connect() would get the error of an address without a route, in place of 'error'.
    socket.on('connect', () => socket.send(packet))
    socket.connect(port, host)
  })
}

async function overTcp(query: Query, packet: Buffer, id: number, signal: AbortSignal) {
  const socket = connect({ ...query.server, noDelay: true, signal })
  try {
    socket.write(frame(packet))
    for await (const reply of readFrames(socket, TCP_BYTES_MAX)) {
      const message = replyTo(id, query, reply)
      if (message) return message
    }
    throw new Error('the connection was closed')
  } finally {
    socket.destroy()
  }
}

/** @returns undefined if the packet does not answer this query */
function replyTo(id: number, { name, type }: Query, packet: Buffer): Message | undefined {
  try {
    const message = decodeMessage(packet)
    const isReply = message.id === id && (message.flags & FLAG.QR) !== 0
    const { question } = message
    return isReply && question?.name === name && question.type === type ? message : undefined
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined
    throw error
  }
}

function limited(clock: Clock, ms: number, closing: AbortSignal): { signal: AbortSignal; timer: Timer } {
  const limit = new AbortController()
  const timer = clock.timer(ms, () => limit.abort(new Error(`nothing within ${ms / 1000} s`)))
  return { signal: AbortSignal.any([limit.signal, closing]), timer }
}

/**
 * @param text `address:port`, `[v6]:port`, or an address for port 53
 * @throws if the text has none of these forms
 */
export function serverOf(text: string): Server {
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const host = v6 ?? v4 ?? (isIPv6(text) ? text : undefined)
  if (host === undefined) throw new Error(`not a server: ${text}`)
  return { host, port: Number(port ?? 53) }
}
