/**
 * DNS response rate limiting (RRL) per client network, against amplification with forged source addresses. It
 * applies to UDP only, since TCP addresses cannot be forged.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'

/** `truncated` tells a resolver that means it to come again over TCP. */
type Sending = 'whole' | 'truncated' | 'nothing'

export interface ResponseRate {
  /**
   * Counts one answer.
   * @param network from `netblockOf`
   * @param sameness answers that say the same have the same
   */
  sendingOf(network: string, sameness: string): Sending
  /** Counts what an answer is longer than its question may cause; false when that is too much for now. */
  mayExceed(network: string, bytes: number): boolean
}

interface ResponseRateOptions {
  clock: Clock
  /** Of one sameness to one network. */
  perSecond: number
  /** Of the keyed hash: 32 bits that nobody else knows. */
  seed?: number
}

/** Every second answer beyond the rate is sent truncated, the other ones are not sent at all. */
const SLIP = 2
/** To one network: some 400 whole keys a second; what more it wants to know it can ask over TCP. */
const EXCESS_BYTES_PER_SECOND = 100_000
const BURST_MS = 1_000
/**
 * Limits are kept in so many places, found by a keyed hash. Two that meet in one share it: with a hundred
 * thousand answers a second to networks of all the world a place gets no more than two of them, far from any
 * rate.
 */
const PLACES = 65_536

export function createResponseRate({
  clock,
  perSecond,
  seed = randomBytes(4).readUInt32LE(),
}: ResponseRateOptions): ResponseRate {
  /** When each would be idle again if nothing more came (the generic cell rate algorithm). */
  const answersUntil = new Float64Array(PLACES)
  const bytesUntil = new Float64Array(PLACES)
  const heldBack = new Uint8Array(PLACES)

  const spend = (until: Float64Array, place: number, costMs: number): boolean => {
    const now = clock.monotonic()
    const after = Math.max(until[place]!, now) + costMs
    if (after - now > BURST_MS) return false
    until[place] = after
    return true
  }

  return {
    sendingOf(network, sameness) {
      const place = hash(hash(seed, network), sameness) % PLACES
      if (spend(answersUntil, place, 1_000 / perSecond)) return 'whole'
      heldBack[place] = (heldBack[place]! + 1) % SLIP
      return heldBack[place] === 0 ? 'truncated' : 'nothing'
    },
    mayExceed(network, bytes) {
      return spend(bytesUntil, hash(seed, network) % PLACES, (bytes * 1_000) / EXCESS_BYTES_PER_SECOND)
    },
  }
}

/** FNV-1a, with a last mixing so that all bits count. */
function hash(seed: number, text: string): number {
  let value = seed
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d)
  return (value ^ (value >>> 13)) >>> 0
}
