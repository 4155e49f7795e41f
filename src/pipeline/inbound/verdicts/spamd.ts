/** Scans a message for spam with the SpamAssassin daemon, and asks for the rules that matched (`SYMBOLS`). */
import { type ExchangeOptions, exchangeWithFilter, type FilterAddress } from './exchange.ts'
import { type ContentFilter, FILTER_MS, FilterFault, type FilterOptions, PING_MS } from './filter.ts'
import type { Mail } from './mail.ts'
import type { SpamFinding } from './verdict.ts'

/** SpamAssassin runs its rules over the whole message, which takes minutes for larger ones. */
const MESSAGE_BYTES_MAX = 10 * 1024 * 1024
const REPLY_BYTES_MAX = 64 * 1024
const RULES_MAX = 50
const REPLY =
  /^SPAMD\/[\d.]+ (\d+) ([^\r\n]*)\r\n(?:[^\r\n]*\r\n)*?Spam: (True|False|Yes|No) ; (-?[\d.]+) \/ (-?[\d.]+)\r\n(?:[^\r\n]+\r\n)*\r\n([\s\S]*)$/i

export function createSpamd(address: FilterAddress, { clock }: FilterOptions): ContentFilter<SpamFinding> {
  const base = { address, clock, maxReplyBytes: REPLY_BYTES_MAX }
  return {
    name: 'spamd',
    async ask(mail) {
      if (mail.sizeBytes > MESSAGE_BYTES_MAX) throw new FilterFault('the message is too large for it')
      return findingOf(await say(request(mail), { ...base, limitMs: FILTER_MS }))
    },
    async ping(signal) {
      const reply = await say(ping(), { ...base, limitMs: PING_MS, signal })
      if (!/^SPAMD\/[\d.]+ 0 PONG/.test(reply))
        throw new FilterFault(`it said "${reply.slice(0, 200).trim()}" instead of PONG`)
    },
  }
}

async function say(request: AsyncIterable<Uint8Array>, options: ExchangeOptions): Promise<string> {
  return (await exchangeWithFilter(request, options)).toString('latin1')
}

async function* request(mail: Mail): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`SYMBOLS SPAMC/1.5\r\nContent-length: ${mail.sizeBytes}\r\n\r\n`)
  yield* mail.read()
}

async function* ping(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('PING SPAMC/1.5\r\n\r\n')
}

function findingOf(reply: string): SpamFinding {
  const [, code, word, isSpam, score, threshold, rules] = REPLY.exec(reply) ?? []
  if (code === undefined) throw new FilterFault(`it said "${reply.slice(0, 200).trim()}"`)
  if (code !== '0') throw new FilterFault(`it failed: ${code} ${word}`)
  return {
    by: 'spamd',
    verdict: /^(?:true|yes)$/i.test(isSpam!) ? 'FAIL' : 'PASS',
    score: Number(score),
    threshold: Number(threshold),
    rules: rules!
      .trim()
      .split(/[,\s]+/)
      .filter(rule => /^\w+$/.test(rule))
      .slice(0, RULES_MAX),
  }
}
