import * as assert from 'uvu/assert'
import {
  afterCheck,
  GIVE_UP_AFTER_MS,
  maySend,
  nextCheckAt,
} from '../../../../src/resources/domains/status.ts'
import type { DomainStatus } from '../../../../src/store/model/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('domains/status')
const HOUR_MS = 3_600_000
const CREATED_AT = Date.UTC(2026, 10, 21)

const standing = (status: DomainStatus, over: object = {}) => ({
  status,
  createdAt: CREATED_AT,
  verifiedAt: null,
  failingSince: null,
  ...over,
})

/**
 * From each status: after a good check; after a bad one; after a bad one when that has lasted for 72 hours.
 */
const TABLE: [DomainStatus, good: DomainStatus, bad: DomainStatus, lasting: DomainStatus][] = [
  ['pending', 'verified', 'pending', 'failed'],
  ['verified', 'verified', 'temporary_failure', 'failed'],
  ['temporary_failure', 'verified', 'temporary_failure', 'failed'],
  ['failed', 'verified', 'failed', 'failed'],
]

for (const [status, good, bad, lasting] of TABLE)
  test(`domain status: ${status} becomes ${good} after a good check, ${bad} after a bad one, ${lasting} if that lasts`, () => {
    const now = CREATED_AT + HOUR_MS
    assert.is(afterCheck(standing(status), 'good', now).status, good)
    assert.is(afterCheck(standing(status), 'gone', now).status, bad)
    const failingSince = status === 'pending' ? null : CREATED_AT
    const late = afterCheck(standing(status, { failingSince }), 'gone', CREATED_AT + GIVE_UP_AFTER_MS)
    assert.is(late.status, lasting)
  })

test('domain status: failed after exactly 72 hours', () => {
  assert.is(GIVE_UP_AFTER_MS, 72 * HOUR_MS)
  const at = (ms: number) => afterCheck(standing('pending'), 'gone', CREATED_AT + ms).status
  assert.equal([at(72 * HOUR_MS - 1), at(72 * HOUR_MS)], ['pending', 'failed'])
})

test('domain status: the 72 hours start at creation or at the first bad check', () => {
  const first = afterCheck(
    standing('verified', { verifiedAt: CREATED_AT }),
    'gone',
    CREATED_AT + 1_000 * HOUR_MS,
  )
  assert.is(first.failingSince, CREATED_AT + 1_000 * HOUR_MS)
  const later = (ms: number) => afterCheck(first, 'gone', first.failingSince! + ms).status
  assert.equal([later(72 * HOUR_MS - 1), later(72 * HOUR_MS)], ['temporary_failure', 'failed'])
})

test('domain status: a good check resets the failure and keeps verified_at', () => {
  const healed = afterCheck(
    standing('temporary_failure', { verifiedAt: 5, failingSince: 7 }),
    'good',
    CREATED_AT,
  )
  assert.equal([healed.verifiedAt, healed.failingSince], [5, null])
  assert.is(afterCheck(standing('pending'), 'good', CREATED_AT + 9).verifiedAt, CREATED_AT + 9)
})

test('domain status: intermittent records do not cause failed', () => {
  let domain = afterCheck(standing('pending'), 'good', CREATED_AT)
  for (let hour = 1; hour < 200; hour++) {
    domain = afterCheck(domain, hour % 50 === 0 ? 'good' : 'gone', CREATED_AT + hour * HOUR_MS)
    assert.ok(maySend(domain.status))
  }
})

test('domain status: lost answers only let a pending domain fail', () => {
  const late = CREATED_AT + 1_000 * HOUR_MS
  for (const status of ['verified', 'temporary_failure', 'failed'] as const) {
    const before = standing(status, { verifiedAt: CREATED_AT, failingSince: CREATED_AT })
    assert.equal(afterCheck(before, 'unknown', late), before)
  }
  assert.is(afterCheck(standing('pending'), 'unknown', late).status, 'failed')
  assert.is(afterCheck(standing('pending'), 'unknown', CREATED_AT + HOUR_MS).status, 'pending')
})

const NO_LINK_HOST = { trackingSubdomain: null, trackingTerms: null }
const idEnding = (end: number) => Uint8Array.from([...Array(14).fill(0), end >> 8, end & 255])
const nextOf = (
  status: DomainStatus,
  over: object = {},
  outcome: 'good' | 'gone' | 'unknown' = 'gone',
  end = 0,
) =>
  nextCheckAt(
    { ...NO_LINK_HOST, ...standing(status, over), id: idEnding(end) },
    outcome,
    CREATED_AT + 100 * HOUR_MS,
  )
const hoursTo = (at: number | null) => (at === null ? null : (at - CREATED_AT) / HOUR_MS - 100)

test('domain status: intervals of checks by status', () => {
  assert.is(hoursTo(nextOf('verified', {}, 'good')), 24)
  assert.is(hoursTo(nextOf('verified', {}, 'unknown')), 1)
  const waiting = { trackingSubdomain: 'links' }
  assert.is(hoursTo(nextOf('verified', waiting, 'good')), 1)
  assert.is(hoursTo(nextOf('verified', { ...waiting, trackingTerms: 5 }, 'good')), 24)
  assert.is(hoursTo(nextOf('temporary_failure')), 1)
  assert.is(hoursTo(nextOf('pending')), 1)
  assert.is(hoursTo(nextOf('failed', { failingSince: CREATED_AT })), 24)
  const monthAgo = CREATED_AT + 100 * HOUR_MS - 30 * 24 * HOUR_MS
  assert.is(nextOf('failed', { failingSince: monthAgo }), null)
  assert.is(hoursTo(nextOf('failed', { failingSince: monthAgo + 1 })), 24)
})

test('domain status: checks of many domains are spread', () => {
  const times = Array.from(
    { length: 10_000 },
    (_, i) => nextOf('verified', {}, 'good', Math.floor(i * 6.5536))!,
  )
  const minutes = Map.groupBy(times, at => Math.floor(at / 60_000))
  assert.ok(minutes.size >= 119, String(minutes.size))
  assert.ok([...minutes.values()].every(some => some.length < 100))
  assert.ok(times.every(at => hoursTo(at)! >= 22 && hoursTo(at)! <= 24))
})

test('domain status: sending is allowed in verified and temporary_failure', () => {
  assert.equal((['pending', 'verified', 'temporary_failure', 'failed'] as const).filter(maySend), [
    'verified',
    'temporary_failure',
  ])
})

test.run()
