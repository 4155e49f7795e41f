/** Scans a message for viruses with the ClamAV daemon, streaming it in chunks (`INSTREAM`). */
import { type ExchangeOptions, exchangeWithFilter, type FilterAddress } from './exchange.ts'
import { type ContentFilter, FILTER_MS, FilterFault, type FilterOptions, PING_MS } from './filter.ts'
import type { VirusFinding } from './verdict.ts'

/** Limit of a reply, which is one line. */
const REPLY_BYTES_MAX = 4_096
const LENGTH_BYTES = 4

export function createClamd(address: FilterAddress, { clock }: FilterOptions): ContentFilter<VirusFinding> {
  const base = { address, clock, maxReplyBytes: REPLY_BYTES_MAX }
  return {
    name: 'clamd',
    ask: async mail => findingOf(await say(inChunks(mail.read()), { ...base, limitMs: FILTER_MS })),
    async ping(signal) {
      const reply = await say(command('PING'), { ...base, limitMs: PING_MS, signal })
      if (reply !== 'PONG') throw new FilterFault(`it said "${reply}" instead of PONG`)
    },
  }
}

async function say(request: AsyncIterable<Uint8Array>, options: ExchangeOptions): Promise<string> {
  const reply = await exchangeWithFilter(request, options)
  return reply
    .toString('utf8')
    .replace(/\0[\s\S]*$/, '')
    .trim()
}

/** Commands with the prefix `z` end in NUL, and so do their replies. */
async function* command(word: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`z${word}\0`)
}

/**
 * Yields each chunk with its length in front, four octets in network byte order; a length of zero ends the
 * stream.
 */
async function* inChunks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* command('INSTREAM')
  for await (const piece of pieces) {
    if (piece.length === 0) continue
    yield lengthOf(piece.length)
    yield piece
  }
  yield lengthOf(0)
}

function lengthOf(sizeBytes: number): Uint8Array {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt32BE(sizeBytes)
  return bytes
}

function findingOf(reply: string): VirusFinding {
  const [, found, isClean] = /^stream: (?:(.+) FOUND|(OK))$/.exec(reply) ?? []
  if (isClean) return { by: 'clamd', verdict: 'PASS' }
  if (found !== undefined) return { by: 'clamd', verdict: 'FAIL', found: found.slice(0, 200) }
  throw new FilterFault(reply === '' ? 'it said nothing' : `it said "${reply.slice(0, 200)}"`)
}
