/**
 * Sends one request to a content filter over a new connection and reads its reply until the filter closes.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Clock } from '../../../lib/clock.ts'
import { hostPort } from '../../../lib/host-port.ts'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { printableAscii } from '../../../lib/printable-ascii.ts'

/** Address of a filter: a host and a port, or the path of a Unix socket. */
export type FilterAddress = { host: string; port: number } | { path: string }

export interface ExchangeOptions {
  address: FilterAddress
  clock: Clock
  /** Time limit from the connection to the end of the reply, in ms. */
  limitMs: number
  maxReplyBytes: number
  signal?: AbortSignal
}

/**
 * @param request is read with backpressure
 * @returns the reply
 * @throws Error with the reason
 */
export async function exchangeWithFilter(
  request: AsyncIterable<Uint8Array>,
  { address, clock, limitMs, maxReplyBytes, signal }: ExchangeOptions,
): Promise<Buffer> {
  const socket = connect(address)
  const over = new Error(`no answer within ${limitMs / 1_000} s`)
  const timer = clock.timer(limitMs, () => socket.destroy(over))
  const onAbort = () => socket.destroy(new Error('out of time'))
  signal?.addEventListener('abort', onAbort)
  const reply = replyOn(socket, maxReplyBytes)
  try {
    const [answer] = await Promise.all([reply, send(request, socket, reply)])
    return answer
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}

/** A reply before a broken connection counts: some filters send the reason and close. */
function replyOn(socket: Socket, maxBytes: number): Promise<Buffer> {
  const reply = new JoinedBytes()
  return new Promise((resolve, reject) => {
    let fault: Error | undefined
    socket.on('data', (chunk: Buffer) => {
      reply.add(chunk)
      if (reply.length > maxBytes) socket.destroy(new Error(`it said more than ${maxBytes} bytes`))
    })
    socket.on('error', error => {
      fault = error
    })
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      const isBroken = fault !== undefined && !BROKEN_OFF.has((fault as NodeJS.ErrnoException).code ?? '')
      if (reply.length > 0 && !isBroken) resolve(reply.take())
      else reject(fault ?? new Error('the connection was closed without an answer'))
    })
  })
}

const BROKEN_OFF = new Set(['EPIPE', 'ECONNRESET'])

/** Stops when the connection ends, since the reply tells the reason. @throws errors of reading the request */
async function send(request: AsyncIterable<Uint8Array>, socket: Socket, reply: Promise<Buffer>) {
  const closed = reply.then(
    () => {},
    () => {},
  )
  for await (const piece of request) {
    if (socket.destroyed || !socket.writable) return
    if (!socket.write(piece)) await Promise.race([drained(socket), closed])
  }
}

/** An error also ends the wait; the reply tells the reason. */
async function drained(socket: Socket): Promise<void> {
  await once(socket, 'drain').catch(() => {})
}

export function addressText(address: FilterAddress): string {
  return 'path' in address ? address.path : hostPort(address.host, address.port)
}

/** Reduces a text to one line of at most 500 characters, for headers of a request to a filter. */
export function singleLine(text: string): string {
  return printableAscii(text, 500)
}
