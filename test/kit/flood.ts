/**
 * Many connections of a client that means harm: each says at most one thing, reads nothing and never closes
 * its side.
 */
import { connect, type Socket } from 'node:net'

export interface Flood {
  sockets: Socket[]
  close(): void
}

interface FloodOptions {
  port: number
  count: number
  /** The local address of each, by its number. */
  from(i: number): string
  /** Said as soon as the connection is there. */
  opening?: string | Uint8Array
}

/** The beginning of a TLS ClientHello, of which the rest never comes. */
export const HALF_HELLO = Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01)

/** Resolves when each is connected, or was turned away. */
export async function flood({ port, count, from, opening }: FloodOptions): Promise<Flood> {
  const open = (i: number) =>
    new Promise<Socket>(resolve => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from(i), allowHalfOpen: true })
      socket.on('error', () => resolve(socket))
      socket.once('connect', () => {
        if (opening !== undefined) socket.write(opening)
        resolve(socket)
      })
    })
  const sockets = await Promise.all(Array.from({ length: count }, (_, i) => open(i)))
  return {
    sockets,
    close() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** One of `of` addresses, each in a netblock of its own. */
export function scattered(i: number, of: number): string {
  return `127.1.${i % of}.1`
}
