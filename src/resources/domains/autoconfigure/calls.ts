/** Makes single calls of Cloudflare's API, with retries within a common time limit. */
import * as z from 'zod'
import { type Clock, sleep } from '../../../lib/clock.ts'
import type { OutboundReply } from '../../../protocols/http-client/exchange.ts'
import { OutboundFault } from '../../../protocols/http-client/fault.ts'
import type { Outbound } from '../../../protocols/http-client/outbound.ts'
import { ProviderFault, type ProviderFaultKind } from './provider.ts'

interface CallsOptions {
  outbound: Outbound
  clock: Clock
  baseUrl: string
}

/** @throws ProviderFault */
export type Call = (
  method: 'GET' | 'POST' | 'PATCH',
  /** Path with its query. */
  path: string,
  body?: object,
) => Promise<{ result: unknown; pageCount: number }>

const replySchema = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })).nullish(),
  result: z.unknown(),
  result_info: z.object({ total_pages: z.number().nullish() }).nullish(),
})
type Reply = z.output<typeof replySchema>

/** Time limit of all provider calls of one API request. */
const DEADLINE_MS = 30_000
const CALL_LIMIT_MS = 10_000
const REPLY_LIMIT_BYTES = 1024 * 1024
const TRIES_MAX = 3
const FIRST_WAIT_MS = 1_000
const MESSAGE_LENGTH_MAX = 300
/** Error codes for "An identical record already exists". */
const EXISTS = new Set([81_057, 81_058])
/** Error codes for a conflicting A, AAAA or CNAME record. */
const TAKEN = new Set([81_053, 81_054, 81_056])
const BAD_TOKEN = new Set([6_003, 6_111, 9_103, 9_106, 9_109, 10_000, 10_001])

/** The token is kept in this closure only, so that it cannot be logged. */
export function createCalls({ outbound, clock, baseUrl }: CallsOptions, token: string): Call {
  const deadline = clock.monotonic() + DEADLINE_MS
  const leftMs = () => deadline - clock.monotonic()
  const shown = (text: string) => redacted(text, token)

  const send = (method: string, path: string, body: object | undefined) =>
    outbound.send({
      url: `${baseUrl}${path}`,
      method: method as 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      limitMs: Math.max(1, Math.min(CALL_LIMIT_MS, leftMs())),
      limitBytes: REPLY_LIMIT_BYTES,
    })

  return async (method, path, body) => {
    for (let tries = 1; ; tries++) {
      if (leftMs() <= 0) throw new ProviderFault('failed', 'The DNS provider did not respond in time.')
      const reply = await send(method, path, body)
      const waitMs = waitBefore(reply, tries)
      if (waitMs === undefined || tries === TRIES_MAX || waitMs >= leftMs()) return outcomeOf(reply, shown)
      await sleep(clock, waitMs)
    }
  }
}

/** Returns the delay before a retry, or undefined if a retry cannot succeed. */
function waitBefore(reply: OutboundReply | OutboundFault, tries: number): number | undefined {
  if (reply instanceof OutboundFault) return reply.kind === 'forbidden' ? undefined : FIRST_WAIT_MS * tries
  if (reply.status === 429) return askedWaitMs(reply) ?? FIRST_WAIT_MS * tries
  return reply.status >= 500 ? FIRST_WAIT_MS * tries : undefined
}

function askedWaitMs({ headers }: OutboundReply): number | undefined {
  const seconds = headers['retry-after']
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}

/** @throws ProviderFault */
function outcomeOf(reply: OutboundReply | OutboundFault, shown: (text: string) => string) {
  if (reply instanceof OutboundFault)
    throw new ProviderFault('failed', `The DNS provider cannot be reached: ${reply.message}.`)
  const read = readReply(reply)
  if (read?.success && reply.status < 300)
    return { result: read.result, pageCount: read.result_info?.total_pages ?? 1 }
  const [error] = read?.errors ?? []
  if (reply.status === 429)
    throw new ProviderFault('failed', 'The rate limit of the DNS provider is exceeded. Retry later.')
  const message = error ? shown(`${error.message} (${error.code})`) : `HTTP status ${reply.status}`
  throw new ProviderFault(kindOf(reply.status, error?.code), `The DNS provider answers: ${message}`)
}

function readReply({ body }: OutboundReply): Reply | undefined {
  try {
    return replySchema.safeParse(JSON.parse(body.toString('utf8'))).data
  } catch {
    return undefined // the body is not JSON, so only the status counts
  }
}

function kindOf(status: number, code: number | undefined): ProviderFaultKind {
  if (code !== undefined && EXISTS.has(code)) return 'exists'
  if (code !== undefined && TAKEN.has(code)) return 'taken'
  const isDenied = status === 401 || status === 403 || (code !== undefined && BAD_TOKEN.has(code))
  return isDenied ? 'token' : 'failed'
}

/** Removes the token and control characters from a text of the provider. */
function redacted(text: string, token: string): string {
  return text
    .replaceAll(token, '[token]')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .slice(0, MESSAGE_LENGTH_MAX)
}
