/**
 * Asks one validating resolver and tells what it vouches for: the runtime's resolver shows no AD bit. The way to that
 * resolver must be safe, since nothing is validated here (RFC 4035 §4.9.3, RFC 6840 §5.7).
 */
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import type { Clock, Timer } from '../lib/clock.ts'
import { frame, readFrames } from './frames.ts'
import { CLASS_IN, type DnsRecord, FLAG, type Message, RCODE, type TypeName } from './wire.ts'
import { decodeMessage, MalformedMessage } from './wire-decode.ts'
import { encodeMessage, encodeQuestion } from './wire-encode.ts'

export type SecureAnswer =
  /** The whole answer section: CNAMEs, then the records asked for. `secure`: the resolver has validated all of it. */
  | { kind: 'found'; answers: readonly DnsRecord[]; secure: boolean }
  /** No such name, or no such records; `secure`: that is proven. */
  | { kind: 'none'; secure: boolean }
  /** Not to be known now; with a resolver that validates, a forged answer is one, too. */
  | { kind: 'failure'; reason: string }

export interface ValidatingClient {
  /** @param fresh asks whatever has been learnt before */
  ask(name: string, type: TypeName, options?: { fresh?: boolean }): Promise<SecureAnswer>
  close(): void
}

interface ClientOptions {
  /** `address:port`, or `[v6]:port`; port 53 where it is left out. */
  server: string
  clock: Clock
  timeoutMs?: number
  tries?: number
}

const QUESTION_LIMIT = 512
const PAYLOAD_BYTES = 1232
const MOST_TCP_BYTES = 65_535
const MOST_KEPT = 10_000
const LONGEST_KEPT_MS = 3_600_000
const NONE_KEPT_MS = 60_000
const FAILURE_KEPT_MS = 5_000

export function createValidatingClient(options: ClientOptions): ValidatingClient {
  const { clock, tries = 2, timeoutMs = 5_000 } = options
  const server = serverOf(options.server)
  const kept = new Map<string, { answer: Promise<SecureAnswer>; until: number }>()
  const closing = new AbortController()

  const asked = async (name: string, type: TypeName): Promise<SecureAnswer> => {
    let reason = 'the validating resolver does not answer'
    for (let round = 0; round < tries && !closing.signal.aborted; round++) {
      try {
        return answerOf(await exchanged(name, type))
      } catch (error) {
        reason = `the validating resolver does not answer (${(error as Error).message})`
      }
    }
    return { kind: 'failure', reason }
  }

  const exchanged = async (name: string, type: TypeName): Promise<Message> => {
    const id = randomInt(65_536)
    const packet = queryOf(id, name, type)
    const limit = limited(clock, timeoutMs, closing.signal)
    try {
      const reply = await overUdp(server, packet, id, name, limit.signal)
      return reply.flags & FLAG.TC ? await overTcp(server, packet, id, name, limit.signal) : reply
    } finally {
      limit.timer.cancel()
    }
  }

  return {
    ask(name, type, { fresh = false } = {}) {
      const key = `${name} ${type}`
      const known = kept.get(key)
      if (!fresh && known && known.until > clock.monotonic()) return known.answer
      const entry = { answer: asked(name, type), until: Infinity }
      kept.delete(key)
      if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
      kept.set(key, entry)
      void entry.answer.then(answer => {
        entry.until = clock.monotonic() + lifeMs(answer)
      })
      return entry.answer
    },
    close: () => closing.abort(new Error('closed')),
  }
}

function lifeMs(answer: SecureAnswer): number {
  if (answer.kind === 'failure') return FAILURE_KEPT_MS
  if (answer.kind === 'none') return NONE_KEPT_MS
  return Math.min(LONGEST_KEPT_MS, ...answer.answers.map(({ ttlSeconds }) => ttlSeconds * 1000))
}

function answerOf({ rcode, flags, answers, question }: Message): SecureAnswer {
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN)
    return { kind: 'failure', reason: `the validating resolver answered with code ${rcode}` }
  const secure = (flags & FLAG.AD) !== 0
  if (!answers.some(({ type }) => type === question!.type)) return { kind: 'none', secure }
  return { kind: 'found', answers, secure }
}

function queryOf(id: number, name: string, type: TypeName): Buffer {
  const question = { name, type, class: CLASS_IN, bytes: encodeQuestion(name, type) }
  const edns = { payloadBytes: PAYLOAD_BYTES, version: 0, dnssecOk: false }
  const none = { answers: [], authority: [], additional: [] }
  return encodeMessage(
    { id, flags: FLAG.RD | FLAG.AD, opcode: 0, rcode: 0, question, ...none, edns },
    QUESTION_LIMIT,
  )
}

interface Server {
  host: string
  port: number
}

function overUdp({ host, port }: Server, packet: Buffer, id: number, name: string, signal: AbortSignal) {
  return new Promise<Message>((resolve, reject) => {
    const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
    const settle = (end: () => void) => {
      signal.removeEventListener('abort', onAbort)
      socket.close()
      end()
    }
    const onAbort = () => settle(() => reject(signal.reason))
    signal.addEventListener('abort', onAbort)
    socket.once('error', error => settle(() => reject(error)))
    socket.on('message', reply => {
      const message = replyTo(id, name, reply)
      if (message) settle(() => resolve(message))
    })
    socket.connect(port, host, () => socket.send(packet))
  })
}

async function overTcp(
  { host, port }: Server,
  packet: Buffer,
  id: number,
  name: string,
  signal: AbortSignal,
) {
  const socket = connect({ host, port, noDelay: true, signal })
  try {
    socket.write(frame(packet))
    for await (const reply of readFrames(socket, MOST_TCP_BYTES)) {
      const message = replyTo(id, name, reply)
      if (message) return message
    }
    throw new Error('the connection was closed')
  } finally {
    socket.destroy()
  }
}

/** Undefined for what is no answer to this question. */
function replyTo(id: number, name: string, packet: Buffer): Message | undefined {
  try {
    const message = decodeMessage(packet)
    const fits = message.id === id && (message.flags & FLAG.QR) !== 0 && message.question?.name === name
    return fits ? message : undefined
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

export function serverOf(text: string): Server {
  const [, v6, v4, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? []
  const host = v6 ?? v4
  if (host === undefined) throw new Error(`not a server: ${text}`)
  return { host, port: Number(port ?? 53) }
}
