import * as assert from 'uvu/assert'
import { nextAttemptAt } from '../../../../src/pipeline/queue/retry-schedule.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/retry-schedule')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const now = Date.UTC(2026, 10, 21, 13)
const never = Number.POSITIVE_INFINITY
const middle = () => 0.5

test('retry schedule: the delays after each attempt, without jitter', () => {
  const waits = Array.from(
    { length: 12 },
    (_, i) => (nextAttemptAt({ now, attempts: i + 1, expiresAt: never }, middle)! - now) / MINUTE_MS,
  )
  assert.equal(waits, [1, 5, 10, 20, 40, 80, 120, 240, 240, 240, 240, 240])
})

test('retry schedule: 19 attempts fit into 48 hours, seven in the first three hours and the last at the end', () => {
  const expiresAt = now + 48 * HOUR_MS
  const times: number[] = []
  for (let at: number | undefined = now; at !== undefined; ) {
    times.push(at)
    at = nextAttemptAt({ now: at, attempts: times.length, expiresAt }, middle)
  }
  assert.is(times.filter(at => at <= now + 3 * HOUR_MS).length, 7)
  assert.is(times.length, 19)
  assert.is(times.at(-1), expiresAt)
})

test('retry schedule: jitter is at most 10 % in either direction', () => {
  const at = (attempts: number, random: number) =>
    nextAttemptAt({ now, attempts, expiresAt: never }, () => random)! - now
  assert.equal([at(1, 0), at(1, 0.5), at(1, 1)], [54_000, 60_000, 66_000])
  assert.equal([at(9, 0), at(9, 1)], [216 * MINUTE_MS, 264 * MINUTE_MS])
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const wait = at(attempts, random)
        const plain = at(attempts, 0.5)
        assert.ok(Number.isInteger(wait))
        assert.ok(wait >= plain * 0.9 - 1 && wait <= plain * 1.1 + 1)
      },
    ),
    { seed: 1, numRuns: 300 },
  )
})

test('retry schedule: a delay wanted by the caller replaces the scheduled one, with jitter', () => {
  const wanted = (random: number) =>
    nextAttemptAt({ now, attempts: 7, expiresAt: never, wantedMs: 2_000 }, () => random)! - now
  assert.equal([wanted(0), wanted(0.5), wanted(1)], [1_800, 2_000, 2_200])
})

test('retry schedule: greylisted deliveries are tried after a minute, then every five minutes for an hour, then as usual', () => {
  const waits = Array.from(
    { length: 19 },
    (_, i) =>
      (nextAttemptAt({ now, attempts: i + 1, expiresAt: never, isGreylisted: true }, middle)! - now) /
      MINUTE_MS,
  )
  assert.equal(waits, [1, ...Array(11).fill(5), 20, 40, 80, 120, 240, 240, 240])
})

test('retry schedule: a hint of the server is never shortened, only slightly lengthened', () => {
  const after = (random: number) =>
    nextAttemptAt({ now, attempts: 1, expiresAt: never, hintMs: 10 * MINUTE_MS }, () => random)! - now
  assert.equal([after(0), after(0.5), after(1)], [10 * MINUTE_MS, 10.5 * MINUTE_MS, 11 * MINUTE_MS])
})

test('retry schedule: a server that always hints 30 seconds is soon tried by the schedule', () => {
  const after = (attempts: number) =>
    nextAttemptAt({ now, attempts, expiresAt: never, hintMs: MINUTE_MS / 2 }, () => 0)! - now
  assert.equal([after(1), after(12)], [MINUTE_MS / 2, MINUTE_MS / 2])
  assert.is(after(13), 240 * MINUTE_MS)
})

test('retry schedule: a hint that would let the delivery expire is ignored', () => {
  const after = (expiresAt: number) =>
    nextAttemptAt({ now, attempts: 1, expiresAt, hintMs: HOUR_MS }, () => 0.5)
  assert.is(after(now + 10 * MINUTE_MS), now + MINUTE_MS)
  assert.is(after(now), undefined)
})

test('retry schedule: an attempt planned after the expiry takes place at the expiry, as the last one', () => {
  const at = (expiresAt: number, wantedMs?: number) =>
    nextAttemptAt({ now, attempts: 1, expiresAt, ...(wantedMs === undefined ? {} : { wantedMs }) }, middle)
  assert.is(at(now + 2 * MINUTE_MS), now + MINUTE_MS)
  assert.is(at(now + MINUTE_MS - 1), now + MINUTE_MS - 1)
  assert.is(at(now + MINUTE_MS, 2 * MINUTE_MS), now + MINUTE_MS)
  assert.is(at(now + 1), now + 1)
  assert.is(at(now), undefined)
  assert.is(at(now - HOUR_MS), undefined)
})

test('retry schedule: early attempts do not shorten the lifetime', () => {
  const expiresAt = now + HOUR_MS
  const after = (attempts: number) => nextAttemptAt({ now: now + 6_000, attempts, expiresAt }, middle)
  assert.equal([6, 7, 30].map(after), [expiresAt, expiresAt, expiresAt])
})

test.run()
