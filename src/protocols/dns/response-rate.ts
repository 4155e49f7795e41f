/**
 * DNS response rate limiting (RRL) per client network, against amplification with forged source addresses. It
 * applies to UDP only, since TCP addresses cannot be forged.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'

/** `truncated` makes a genuine resolver retry over TCP. */
type Sending = 'whole' | 'truncated' | 'nothing'

export interface ResponseRate {
  /**
   * Counts one answer.
   * @param network from `netblockOf`
   * @param sameness key that is equal for equal answers
   */
  sendingOf(network: string, sameness: string): Sending
  /**
   * Counts the bytes by which an answer exceeds the fair size.
   * @returns false if the limit is reached
   */
  mayExceed(network: string, bytes: number): boolean
}

interface ResponseRateOptions {
  clock: Clock
  /** Limit per network for answers with the same key. */
  perSecond: number
  /** Secret key of the hash, 32 bits. It is random by default. */
  seed?: number
}

/** Of the answers beyond the rate, every second one is sent truncated and the others are dropped. */
const TRUNCATED_EVERY = 2
/** Limit per network, about 400 whole DKIM keys a second. Further keys are available over TCP. */
const EXCESS_BYTES_PER_SECOND = 100_000
const BURST_MS = 1_000
/**
 * Number of counters, which a keyed hash selects. Colliding answers share a limit: with 100,000 answers a
 * second to networks everywhere a counter gets at most two of them, far below any rate.
 */
const COUNTERS_MAX = 65_536

export function createResponseRate({
  clock,
  perSecond,
  seed = randomBytes(4).readUInt32LE(),
}: ResponseRateOptions): ResponseRate {
  /** Time until which each counter is busy (generic cell rate algorithm), in monotonic ms. */
  const answersUntil = new Float64Array(COUNTERS_MAX)
  const bytesUntil = new Float64Array(COUNTERS_MAX)
  const overRate = new Uint8Array(COUNTERS_MAX)

  const spend = (until: Float64Array, counter: number, costMs: number): boolean => {
    const now = clock.monotonic()
    const after = Math.max(until[counter]!, now) + costMs
    if (after - now > BURST_MS) return false
    until[counter] = after
    return true
  }

  return {
    sendingOf(network, sameness) {
      const counter = hash(hash(seed, network), sameness) % COUNTERS_MAX
      if (spend(answersUntil, counter, 1_000 / perSecond)) return 'whole'
      overRate[counter] = (overRate[counter]! + 1) % TRUNCATED_EVERY
      return overRate[counter] === 0 ? 'truncated' : 'nothing'
    },
    mayExceed(network, bytes) {
      return spend(bytesUntil, hash(seed, network) % COUNTERS_MAX, (bytes * 1_000) / EXCESS_BYTES_PER_SECOND)
    },
  }
}

/** FNV-1a with a final mix, so that all bits count. */
function hash(seed: number, text: string): number {
  let value = seed
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
