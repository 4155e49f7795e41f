/**
 * Sends signed requests to a certificate authority, one at a time (RFC 8555 §6). Manages nonces and parses
 * problem documents and JSON replies.
 */
import type { KeyObject } from 'node:crypto'
import * as z from 'zod'
import type { OutboundReply } from '../../protocols/http-client/exchange.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { AcmeFault } from './fault.ts'
import { signedBody } from './jws.ts'

const directorySchema = z.object({ newNonce: z.url(), newAccount: z.url(), newOrder: z.url() })
type Directory = z.infer<typeof directorySchema>

const problemSchema = z.object({ type: z.string().default(''), detail: z.string().default('') })

interface AcmeReply {
  /** URL of the resource that the request created. */
  location: string | null
  /** Delay before the next request that the authority asks for, in ms; null if it asks for none. */
  retryAfterMs: number | null
  text: string
}

export interface AcmeSession {
  /** @throws AcmeFault */
  directory(): Promise<Directory>
  /**
   * @param kid URL of the account; null before it exists
   * @throws AcmeFault
   */
  post(url: string, payload: object | null, kid: string | null): Promise<AcmeReply>
}

interface SessionOptions {
  outbound: Pick<Outbound, 'send'>
  directoryUrl: string
  /** Private key of the account. */
  key: KeyObject
  /** Returns the wall-clock time for dates in replies, in ms since the epoch. */
  now(): number
}

const LIMIT_MS = 30_000
const LIMIT_BYTES = 256 * 1024
/** Maximum number of requests with expired nonces. A refusal contains a new nonce. */
const NONCES_MAX = 6
const PROBLEM = /^urn:ietf:params:acme:error:(\w+)$/

export function createAcmeSession({ outbound, directoryUrl, key, now }: SessionOptions): AcmeSession {
  let known: Directory | undefined
  let nonce: string | undefined

  const exchange = async (url: string, body?: string): Promise<OutboundReply> => {
    const reply = await outbound.send({
      url,
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { body, headers: { 'content-type': 'application/jose+json' } }),
      limitMs: LIMIT_MS,
      limitBytes: LIMIT_BYTES,
    })
    if (reply instanceof OutboundFault)
      throw new AcmeFault('unreachable', `the authority cannot be asked: ${reply.message}`)
    const fresh = reply.headers['replay-nonce']
    nonce = typeof fresh === 'string' ? fresh : undefined
    return reply
  }
  const directory = async () => {
    known ??= readJson(directorySchema, successOf(await exchange(directoryUrl), now).text)
    return known
  }
  const freshNonce = async () => {
    if (nonce === undefined) successOf(await exchange((await directory()).newNonce), now)
    if (nonce === undefined) throw new AcmeFault('unreadable', 'the authority gives no nonce')
    return nonce
  }

  return {
    directory,
    async post(url, payload, kid) {
      for (let attempt = 1; ; attempt++) {
        const body = signedBody(key, { url, nonce: await freshNonce(), kid }, payload)
        try {
          return successOf(await exchange(url, body), now)
        } catch (error) {
          const isStale = error instanceof AcmeFault && error.kind === 'badNonce'
          if (!isStale || attempt === NONCES_MAX) throw error
        }
      }
    },
  }
}

/** @throws AcmeFault */
export function readJson<T>(schema: z.ZodType<T>, text: string): T {
  const result = schema.safeParse(parsed(text))
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue?.path.join('.') || 'it'
  throw new AcmeFault('unreadable', `the authority's reply cannot be read: ${where}: ${issue?.message}`)
}

/** Returns undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return undefined
  }
}

function successOf({ status, headers, body }: OutboundReply, now: () => number): AcmeReply {
  const text = body.toString('utf8')
  const retryAfterMs = waitOf(headers['retry-after'], now())
  if (status < 200 || status > 299) throw faultOf(status, text, retryAfterMs)
  return { location: headers.location ?? null, retryAfterMs, text }
}

function faultOf(status: number, text: string, retryAfterMs: number | null): AcmeFault {
  const { data } = problemSchema.safeParse(parsed(text))
  const kind = PROBLEM.exec(data?.type ?? '')?.[1]
  if (kind !== undefined) return new AcmeFault(kind, `${kind}: ${shortened(data!.detail)}`, retryAfterMs)
  return new AcmeFault(
    status >= 500 || status === 429 ? 'serverInternal' : 'refused',
    `the authority answered ${status}`,
    retryAfterMs,
  )
}

/** Reads a Retry-After header: seconds, or a date (RFC 9110 §10.2.3). */
function waitOf(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : null
}

const DETAIL_LENGTH_MAX = 300

/** Shortens a text of the authority for a log line or a list. */
export function shortened(detail: string): string {
  return detail.replace(/[\0-\x1f\x7f]+/g, ' ').slice(0, DETAIL_LENGTH_MAX)
}
