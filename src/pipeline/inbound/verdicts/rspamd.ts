/** Scans a message for spam with rspamd over HTTP (`/checkv2`), passing the envelope in request headers. */
import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Clock } from '../../../lib/clock.ts'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { singleLine } from './exchange.ts'
import { type ContentFilter, FILTER_MS, FilterFault, type FilterOptions, PING_MS } from './filter.ts'
import type { Envelope, Mail } from './mail.ts'
import type { SpamFinding, Verdict } from './verdict.ts'

const REPLY_BYTES_MAX = 1024 * 1024
const RULES_MAX = 50
const RECIPIENTS_MAX = 100
/**
 * Verdicts by the action that rspamd recommends. `greylist` and `soft reject` are about time and not about
 * content.
 */
const VERDICTS = new Map<string, Verdict>([
  ['no action', 'PASS'],
  ['greylist', 'PASS'],
  ['soft reject', 'PASS'],
  ['add header', 'GRAY'],
  ['rewrite subject', 'GRAY'],
  ['quarantine', 'GRAY'],
  ['reject', 'FAIL'],
  ['discard', 'FAIL'],
])

interface HttpRequest {
  url: URL
  method: 'GET' | 'POST'
  headers: Record<string, string | string[]>
  body: AsyncIterable<Uint8Array>
  limitMs: number
  signal?: AbortSignal
}

/** @param base URL such as `http://host:port`, or with a path in front of that of rspamd */
export function createRspamd(base: string, { clock }: FilterOptions): ContentFilter<SpamFinding> {
  const at = (path: string) => new URL(`${base.replace(/\/+$/, '')}${path}`)
  return {
    name: 'rspamd',
    async ask(mail, envelope) {
      const headers = headersOf(mail, envelope)
      return findingOf(
        await talk(
          { url: at('/checkv2'), method: 'POST', headers, body: mail.read(), limitMs: FILTER_MS },
          clock,
        ),
      )
    },
    async ping(signal) {
      const none = Readable.from([])
      const reply = await talk(
        { url: at('/ping'), method: 'GET', headers: {}, body: none, limitMs: PING_MS, signal },
        clock,
      )
      if (reply.trim() !== 'pong')
        throw new FilterFault(`it said "${singleLine(reply).slice(0, 200)}" instead of pong`)
    },
  }
}

function headersOf({ sizeBytes }: Mail, envelope: Envelope): HttpRequest['headers'] {
  return {
    'Content-Length': String(sizeBytes),
    ...(envelope.clientIp === null ? {} : { IP: singleLine(envelope.clientIp) }),
    From: `<${singleLine(envelope.mailFrom)}>`,
    Rcpt: envelope.recipients.slice(0, RECIPIENTS_MAX).map(recipient => `<${singleLine(recipient)}>`),
    ...(envelope.helo === '' ? {} : { Helo: singleLine(envelope.helo) }),
  }
}

/** @returns the body of a 200 reply @throws Error for any other reply */
async function talk({ url, body, limitMs, signal, ...options }: HttpRequest, clock: Clock): Promise<string> {
  const over = new AbortController()
  const timer = clock.timer(limitMs, () => over.abort(new Error(`no answer within ${limitMs / 1_000} s`)))
  const aborted = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  const request = (url.protocol === 'https:' ? overHttps : overHttp)(url, { ...options, agent: false })
  const onAbort = () => request.destroy(aborted.reason as Error)
  aborted.addEventListener('abort', onAbort)
  try {
    const reply = new Promise<string>((resolve, reject) => {
      request.on('error', reject) // a request may fail more than once
      request.once('response', response => void textOf(response).then(resolve, reject))
    })
    // The reply counts, even if it arrives and the connection ends before the whole message has been sent.
    const sent = pipeline(body, request).catch(() => {})
    const [text] = await Promise.all([reply, Promise.race([sent, reply])])
    return text
  } finally {
    timer.cancel()
    aborted.removeEventListener('abort', onAbort)
    request.destroy()
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  const reply = new JoinedBytes()
  for await (const chunk of response as AsyncIterable<Buffer>) {
    reply.add(chunk)
    if (reply.length > REPLY_BYTES_MAX) throw new FilterFault(`it said more than ${REPLY_BYTES_MAX} bytes`)
  }
  const text = reply.take().toString('utf8')
  if (response.statusCode === 200) return text
  throw new FilterFault(`it answered ${response.statusCode}: ${singleLine(text).slice(0, 200)}`)
}

function findingOf(text: string): SpamFinding {
  const { action, score, required_score: threshold, symbols } = readReply(text)
  const verdict = typeof action === 'string' ? VERDICTS.get(action) : undefined
  if (verdict === undefined || typeof score !== 'number')
    throw new FilterFault(`it said "${singleLine(text).slice(0, 200)}"`)
  return {
    by: 'rspamd',
    verdict,
    score,
    threshold: typeof threshold === 'number' ? threshold : undefined,
    rules: rulesOf(symbols).slice(0, RULES_MAX),
  }
}

function readReply(text: string): Record<string, unknown> {
  try {
    const reply: unknown = JSON.parse(text)
    if (reply && typeof reply === 'object') return reply as Record<string, unknown>
  } catch {} // the check below reports it
  throw new FilterFault(`it said "${singleLine(text).slice(0, 200)}"`)
}

/** Names of the rules that changed the score. */
function rulesOf(symbols: unknown): string[] {
  if (!symbols || typeof symbols !== 'object') return []
  return Object.entries(symbols as Record<string, { score?: unknown } | null>)
    .filter(([, rule]) => typeof rule?.score === 'number' && rule.score !== 0)
    .map(([name]) => name)
}
