/**
 * Asks a DNS server one question with a packet of our own making, over UDP or TCP, and shows the whole
 * answer.
 */
import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { frame, readFrames } from '../../src/protocols/dns/frames.ts'
import { CLASS_IN, type Edns, FLAG, type Message, type TypeName } from '../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../src/protocols/dns/wire-decode.ts'
import { encodeMessage, encodeQuestion } from '../../src/protocols/dns/wire-encode.ts'

export interface Asking {
  transport?: 'udp' | 'tcp'
  edns?: Edns
  id?: number
  flags?: number
  /** Ends the waiting. */
  signal?: AbortSignal
}

const MAX_BYTES = 65_535
const ANSWER_LIMIT_MS = 30_000

/** The packet that asks for `type` of `name`; the name keeps its case. */
export function queryPacket(
  name: string,
  type: TypeName,
  { edns, id = 4711, flags = FLAG.RD }: Asking = {},
): Buffer {
  const question = { name, type, class: CLASS_IN, bytes: encodeQuestion(name, type) }
  const none = { answers: [], authority: [], additional: [] }
  return encodeMessage({ id, flags, opcode: 0, rcode: 0, question, ...none, edns }, MAX_BYTES)
}

/** @param server `127.0.0.1:port` or `[::1]:port` */
export async function askServer(
  server: string,
  name: string,
  type: TypeName,
  asking: Asking = {},
): Promise<Message> {
  const send = asking.transport === 'tcp' ? exchangeTcp : exchangeUdp
  return decodeMessage(await send(server, queryPacket(name, type, asking), asking.signal))
}

/**
 * Sends one datagram and resolves with the first that comes back. Rejects when the port is closed or silent.
 */
export async function exchangeUdp(server: string, packet: Uint8Array, signal?: AbortSignal): Promise<Buffer> {
  const { host, port } = splitServer(server)
  const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4')
  try {
    socket.connect(port, host)
    await once(socket, 'connect')
    socket.send(packet)
    const [reply] = await once(socket, 'message', { signal: patience(signal) })
    return reply
  } finally {
    socket.close()
  }
}

/** The same over a connection of its own. Rejects when that is closed without an answer. */
export async function exchangeTcp(server: string, packet: Uint8Array, signal?: AbortSignal): Promise<Buffer> {
  const { host, port } = splitServer(server)
  const socket = net.connect({ host, port, noDelay: true, signal: patience(signal) })
  try {
    socket.write(frame(packet))
    for await (const reply of readFrames(socket, MAX_BYTES)) return reply
    throw new Error('the server closed the connection without an answer')
  } finally {
    socket.destroy()
  }
}

function patience(signal: AbortSignal | undefined): AbortSignal {
  const limit = AbortSignal.timeout(ANSWER_LIMIT_MS)
  return signal ? AbortSignal.any([limit, signal]) : limit
}

export function splitServer(server: string): { host: string; port: number } {
  const colon = server.lastIndexOf(':')
  return { host: server.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(server.slice(colon + 1)) }
}
