/**
 * Connections by the hundred, from addresses in 127.0.0.0/8, that keep their side open whatever the service
 * does.
 */
import { connect, type Socket } from 'node:net'

export interface CrowdOptions {
  port: number
  count: number
  /** From how many addresses. */
  addresses: number
  /** The second octet of the addresses: attacks that run beside each other use different ones. */
  net: number
  /** The one address that all come from, in place of those. */
  from?: string
  /** Returns the bytes that each client writes once it is connected. */
  words?: (index: number) => string | Uint8Array
  /** Replaces `words`: lines that the client writes after the greeting, and after each positive reply. */
  script?: readonly (string | Uint8Array)[]
  /** Never reads. */
  deaf?: boolean
}

export interface Crowd {
  readonly sockets: readonly Socket[]
  /** Number of clients that connected and completed their script. */
  readonly connectedCount: number
  /** Number of these whose connection is still open on this side. */
  standingCount(): number
  /** Writes to these. */
  say(words: string | Uint8Array): void
  close(): void
}

const WAVE = 250
/**
 * A connection that is not answered by then is one of many in the queue of the kernel; it counts as there.
 */
const CONNECT_LIMIT_MS = 3_000

export async function gather(options: CrowdOptions): Promise<Crowd> {
  const sockets: Socket[] = []
  const connected: Socket[] = []
  for (let begun = 0; begun < options.count; begun += WAVE) {
    const size = Math.min(WAVE, options.count - begun)
    const wave = Array.from({ length: size }, (_, at) => open(options, begun + at))
    sockets.push(...wave.map(({ socket }) => socket))
    await Promise.all(wave.map(async ({ socket, there }) => void ((await there) && connected.push(socket))))
  }
  const standing = () => connected.filter(socket => socket.writable && !socket.readableEnded)
  return {
    sockets,
    connectedCount: connected.length,
    standingCount: () => standing().length,
    say(words) {
      for (const socket of standing()) socket.write(words)
    },
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Returns the source address of the client with this index. */
export function addressOf(net: number, index: number): string {
  return `127.${net}.${Math.floor(index / 250)}.${(index % 250) + 1}`
}

function open({ port, addresses, net, from, words, script, deaf }: CrowdOptions, index: number) {
  const localAddress = from ?? addressOf(net, index % addresses)
  const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true })
  socket.on('error', () => {}) // the service may throw it out
  const there = new Promise<boolean>(resolve => {
    const limit = setTimeout(() => resolve(socket.writable && !socket.connecting), CONNECT_LIMIT_MS)
    const settle = (isThere: boolean) => {
      clearTimeout(limit)
      resolve(isThere)
    }
    socket.once('close', () => settle(false))
    if (script) follow(socket, script).then(settle)
    else
      socket.once('connect', () => {
        if (words) socket.write(words(index))
        settle(true)
      })
  })
  if (!deaf) socket.resume()
  else if (script) void there.then(() => socket.pause())
  return { socket, there }
}

/** @returns whether all of it could be said */
async function follow(socket: Socket, script: readonly (string | Uint8Array)[]): Promise<boolean> {
  for (const step of [undefined, ...script]) {
    if (step !== undefined) socket.write(step)
    if (step !== undefined && step === script.at(-1)) return true
    const reply = await new Promise<string>(resolve => {
      socket.once('data', chunk => resolve(`${chunk}`))
      socket.once('close', () => resolve(''))
    })
    if (!/^[23]/.test(reply)) return false
  }
  return true
}
