/**
 * Queries one DNSSEC-validating resolver and returns its AD bit, which the runtime's resolver does not
 * expose. Nothing is validated here, so the path to that resolver must be trusted (RFC 4035 §4.9.3, RFC 6840
 * §5.7).
 */
import type { Clock } from '../../lib/clock.ts'
import { createExpiringMap, keepUnlessFailed } from '../../lib/expiring-map.ts'
import { askServer, serverOf } from './query.ts'
import { type DnsRecord, FLAG, type Message, RCODE, type TypeName } from './wire.ts'

export type SecureAnswer =
  /**
   * The whole answer section: CNAMEs, then the queried records. `secure`: the resolver has validated all of
   * it.
   */
  | { kind: 'found'; answers: readonly DnsRecord[]; secure: boolean }
  /** The name or the records do not exist. `secure`: this is proven. */
  | { kind: 'none'; secure: boolean }
  /** The query failed. A validating resolver answers this way for a forged answer, too. */
  | { kind: 'failure'; reason: string }

export interface ValidatingClient {
  /** @param fresh bypasses the cache */
  ask(name: string, type: TypeName, options?: { fresh?: boolean }): Promise<SecureAnswer>
  close(): void
}

interface ClientOptions {
  /** `address:port` or `[v6]:port`; the default port is 53. */
  server: string
  clock: Clock
  timeoutMs?: number
  tries?: number
}

const CACHED_ANSWERS_MAX = 10_000
const CACHED_MS_MAX = 3_600_000
const NEGATIVE_TTL_MS = 60_000
const FAILURE_TTL_MS = 5_000

export function createValidatingClient(options: ClientOptions): ValidatingClient {
  const { clock, tries = 2, timeoutMs = 5_000 } = options
  const server = serverOf(options.server)
  const cache = createExpiringMap<Promise<SecureAnswer>>(clock, {
    ttlMs: Number.POSITIVE_INFINITY,
    maxEntries: CACHED_ANSWERS_MAX,
  })
  const closing = new AbortController()
  const limits = { clock, timeoutMs, closing: closing.signal }

  const query = async (name: string, type: TypeName): Promise<SecureAnswer> => {
    let reason = 'the validating resolver does not answer'
    for (let round = 0; round < tries && !closing.signal.aborted; round++) {
      try {
        return answerOf(await askServer({ server, name, type, flags: FLAG.RD | FLAG.AD }, limits))
      } catch (error) {
        reason = `the validating resolver does not answer (${(error as Error).message})`
      }
    }
    return { kind: 'failure', reason }
  }

  return {
    ask(name, type, { fresh = false } = {}) {
      const key = `${name} ${type}`
      const known = fresh ? undefined : cache.get(key)
      return known ?? keepUnlessFailed(cache, key, query(name, type), lifeMs)
    },
    close: () => closing.abort(new Error('closed')),
  }
}

function lifeMs(answer: SecureAnswer): number {
  if (answer.kind === 'failure') return FAILURE_TTL_MS
  if (answer.kind === 'none') return NEGATIVE_TTL_MS
  return Math.min(CACHED_MS_MAX, ...answer.answers.map(({ ttlSeconds }) => ttlSeconds * 1000))
}

function answerOf({ rcode, flags, answers, question }: Message): SecureAnswer {
  if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN)
    return { kind: 'failure', reason: `the validating resolver answered with code ${rcode}` }
  const secure = (flags & FLAG.AD) !== 0
  if (!answers.some(({ type }) => type === question!.type)) return { kind: 'none', secure }
  return { kind: 'found', answers, secure }
}
