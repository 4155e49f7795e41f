/**
 * DNS look-ups with the runtime's c-ares. In: a name. Out: records, or a negative answer or failure as a
 * value. The time of a look-up is limited, and answers are cached for a short time.
 *
 * The workers for delivery, verdicts and webhooks, the HTTP clients, the domain checks and the doctor create
 * resolvers.
 */
import dns from 'node:dns'
import type { Clock } from '../../lib/clock.ts'
import type { Answer, LookUp } from './answer.ts'
import { createAnswerCache } from './answer-cache.ts'
import { parseQueryName } from './name.ts'

export interface MxRecord {
  /** Lower case, without final dot; `''` in a null MX record (RFC 7505). */
  exchange: string
  preference: number
}

/** The name server follows CNAMEs. If it does not, the answer is `no-data`, and `cname` shows the alias. */
export interface Resolver {
  mx: LookUp<MxRecord>
  addresses4: LookUp<string>
  addresses6: LookUp<string>
  /** One text per record; its strings are joined. */
  txt: LookUp<string>
  cname: LookUp<string>
  ns: LookUp<string>
  /** Takes the name in a reverse tree, see `reverse.ts`. */
  ptr: LookUp<string>
  /** Cancels look-ups in progress. They and all later ones are answered with a failure. */
  close(): void
}

export interface ResolverOptions {
  /** `host:port`, `host` or `[v6]:port`, IP literals only. An empty list means the servers of the system. */
  servers?: readonly string[] | undefined
  /** Timeout of one packet to one server, in ms. The minimum of c-ares is about 250 ms. */
  timeoutMs?: number
  /** Number of rounds over all servers that do not answer. */
  tries?: number
  /** Time limit of a whole look-up, in ms. */
  totalMs?: number
  /** Number of cached answers per record type. */
  maxEntries?: number
  clock: Clock
}

type Channel = dns.promises.Resolver

/** One query of the runtime's resolver. An empty list of records is `no-data`. */
type Query<T> = (channel: Channel, name: string) => Promise<{ records: T[]; ttlMs?: number }>

const REASONS = new Map([
  ['ESERVFAIL', 'the name server answered SERVFAIL'],
  ['EREFUSED', 'the name server answered REFUSED'],
  ['ENOTIMP', 'the name server answered NOTIMP'],
  ['EFORMERR', 'the name server answered FORMERR'],
  ['EBADRESP', 'the name server sent a malformed answer'],
  ['ETIMEOUT', 'no name server answered in time'],
  ['ECONNREFUSED', 'no name server is reachable'],
  ['ECANCELLED', 'the look-up was cancelled'],
])

const CLOSED: Answer<never> = { kind: 'failure', reason: 'the resolver is closed' }
/**
 * The runtime reads this number of datagrams from a socket per turn, so answers are read as fast as queries
 * are sent.
 */
const QUERIES_PER_TURN = 32

/** Failures of one server. c-ares does not try another server after these. */
const SERVER_FAILURES = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP', 'EFORMERR', 'EBADRESP'])

/** @throws if a server is not an IP literal */
export function createResolver(options: ResolverOptions): Resolver {
  const { clock, totalMs = 20_000, maxEntries = 10_000 } = options
  const channels = openChannels(options)
  const batching = createQueryBatching(QUERIES_PER_TURN)
  let closed = false

  const lookUp = <T>(query: Query<T>): LookUp<T> => {
    const lookUp = async (name: string): Promise<Answer<T>> => {
      await batching.turn()
      return closed ? CLOSED : askInTurn(channels, name, query)
    }
    const ask = (name: string) => bounded(clock, totalMs, lookUp(name))
    const cached = createAnswerCache({ ask, clock, maxEntries })
    return async (text, lookUpOptions) => {
      if (closed) return CLOSED
      const name = parseQueryName(text)
      return name === undefined ? { kind: 'no-domain' } : cached(name, lookUpOptions)
    }
  }

  return {
    mx: lookUp(async (channel, name) => {
      const found = await channel.resolveMx(name)
      return { records: found.map(mx => ({ exchange: lower(mx.exchange), preference: mx.priority })) }
    }),
    addresses4: lookUp(async (channel, name) => withTtl(await channel.resolve4(name, { ttl: true }))),
    addresses6: lookUp(async (channel, name) => withTtl(await channel.resolve6(name, { ttl: true }))),
    txt: lookUp(async (channel, name) => ({
      records: (await channel.resolveTxt(name)).map(strings => strings.join('')),
    })),
    cname: lookUp(async (channel, name) => ({ records: (await channel.resolveCname(name)).map(lower) })),
    ns: lookUp(async (channel, name) => ({ records: (await channel.resolveNs(name)).map(lower) })),
    ptr: lookUp(async (channel, name) => ({ records: (await channel.resolvePtr(name)).map(lower) })),
    close() {
      closed = true
      for (const channel of channels) channel.cancel()
    },
  }
}

/**
 * Opens one channel per server. Each channel has all servers and begins with another one; c-ares skips
 * servers that do not answer.
 */
function openChannels({ servers = [], timeoutMs = 5_000, tries = 2 }: ResolverOptions): Channel[] {
  const open = () => new dns.promises.Resolver({ timeout: timeoutMs, maxTimeout: timeoutMs, tries })
  const all = servers.length > 0 ? servers : open().getServers()
  if (servers.length === 0 && all.length === 1) return [open()]
  return all.map((_, first) => {
    const channel = open()
    channel.setServers([...all.slice(first), ...all.slice(0, first)])
    return channel
  })
}

async function askInTurn<T>(channels: readonly Channel[], name: string, query: Query<T>): Promise<Answer<T>> {
  let reason = 'no name server is configured'
  for (const channel of channels) {
    try {
      const { records, ttlMs } = await query(channel, name)
      if (records.length === 0) return { kind: 'no-data' }
      return ttlMs === undefined ? { kind: 'found', records } : { kind: 'found', records, ttlMs }
    } catch (error) {
      const code = queryErrorCode(error)
      if (code === 'ENOTFOUND') return { kind: 'no-domain' }
      if (code === 'ENODATA') return { kind: 'no-data' }
      reason = REASONS.get(code) ?? `the look-up failed with ${code}`
      if (!SERVER_FAILURES.has(code)) break
    }
  }
  return { kind: 'failure', reason }
}

/** @throws the error itself if it is not a result of a query */
function queryErrorCode(error: unknown): string {
  if (error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string')
    return error.code
  throw error
}

function bounded<T>(clock: Clock, ms: number, asking: Promise<Answer<T>>): Promise<Answer<T>> {
  return new Promise((resolve, reject) => {
    const reason = `no answer within ${ms / 1000} s`
    const timer = clock.timer(ms, () => resolve({ kind: 'failure', reason }))
    asking.then(resolve, reject).finally(() => timer.cancel())
  })
}

function withTtl(found: readonly { address: string; ttl: number }[]): { records: string[]; ttlMs: number } {
  const ttlMs = Math.min(...found.map(({ ttl }) => ttl)) * 1000
  return { records: found.map(({ address }) => address), ttlMs }
}

function lower(name: string): string {
  return name.toLowerCase()
}

/**
 * Spreads a burst of queries over turns of the event loop. More than about 250 datagrams at once overflow a
 * socket buffer at either end, and each lost datagram costs a retry timeout. A limit on queries in progress
 * would let slow look-ups delay fast ones; this limit per turn does not.
 */
export function createQueryBatching(perTurn: number) {
  const waiting: (() => void)[] = []
  let begun = 0

  const nextTurn = () => {
    begun = Math.min(perTurn, waiting.length)
    for (const begin of waiting.splice(0, begun)) begin()
    if (begun > 0) setImmediate(nextTurn)
  }

  return {
    /** Resolves when the caller may send its query: at once or in a later turn, in the order of the calls. */
    async turn(): Promise<void> {
      if (begun < perTurn) {
        if (begun++ === 0) setImmediate(nextTurn)
        return
      }
      await new Promise<void>(resolve => waiting.push(resolve))
    },
  }
}
