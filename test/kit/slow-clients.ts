/**
 * Connections of clients that are slow or silent, and the passing of time for the server that waits for them.
 */
import { connect, type Socket } from 'node:net'
import { type ManualClock, settled } from './manual-clock.ts'
import type { TestContext } from './suite.ts'
import { until } from './until.ts'

export interface SlowClient {
  socket: Socket
  received(): string
  /** The server has closed its side. */
  hasEnd(): boolean
  /** Nothing can be sent any more: the connection has been reset or destroyed. */
  isGone(): boolean
  /** Resolves when the bytes are with the system. */
  send(bytes: string | Uint8Array): Promise<void>
}

interface SlowClientOptions {
  port: number
  /** The local address to come from. */
  from?: string
  /** Keeps its side open when the server has closed its own. */
  staysOpen?: boolean
}

/** Resolves when the connection is open. */
export async function slowClient(
  t: TestContext,
  { port, from = '127.0.0.1', staysOpen = false }: SlowClientOptions,
): Promise<SlowClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: staysOpen })
  t.after(() => socket.destroy())
  let received = ''
  let ended = false
  let gone = false
  socket.setEncoding('latin1').on('data', text => {
    received += text
  })
  socket.on('end', () => {
    ended = true
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    gone = true
  })
  await new Promise<void>(resolve => socket.once('connect', resolve).once('close', () => resolve()))
  return {
    socket,
    received: () => received,
    hasEnd: () => ended || gone,
    isGone: () => gone,
    send: bytes => new Promise<void>(resolve => socket.write(bytes, () => resolve())),
  }
}

const STEP_MS = 2_000

/** Lets time pass in steps, and what was sent arrive between them. */
export async function pass(clock: ManualClock, ms: number, between?: () => unknown): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await between?.()
    await settled()
    clock.advance(Math.min(STEP_MS, ms - passed))
    await settled()
  }
}

/** Resolves when the server has so many connections. */
export async function connectionsAre(server: { connectionCount(): number }, count: number): Promise<void> {
  await until(() => server.connectionCount() === count)
}
