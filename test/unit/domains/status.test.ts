import * as assert from 'uvu/assert'
import { afterCheck, GIVE_UP_AFTER_MS, maySend } from '../../../src/domains/status.ts'
import type { DomainStatus } from '../../../src/store/schema.ts'
import { suite } from '../../kit/suite.ts'

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

/** From each status: after a good check; after a bad one; after a bad one when that has lasted for 72 hours. */
const TABLE: [DomainStatus, good: DomainStatus, bad: DomainStatus, lasting: DomainStatus][] = [
  ['pending', 'verified', 'pending', 'failed'],
  ['verified', 'verified', 'temporary_failure', 'failed'],
  ['temporary_failure', 'verified', 'temporary_failure', 'failed'],
  ['failed', 'verified', 'failed', 'failed'],
]

for (const [status, good, bad, lasting] of TABLE)
  test(`${status} becomes ${good} by a good check, ${bad} by a bad one, ${lasting} when that lasts`, () => {
    const now = CREATED_AT + HOUR_MS
    assert.is(afterCheck(standing(status), true, now).status, good)
    assert.is(afterCheck(standing(status), false, now).status, bad)
    const failingSince = status === 'pending' ? null : CREATED_AT
    const late = afterCheck(standing(status, { failingSince }), false, CREATED_AT + GIVE_UP_AFTER_MS)
    assert.is(late.status, lasting)
  })

test('giving up takes 72 hours to the millisecond', () => {
  assert.is(GIVE_UP_AFTER_MS, 72 * HOUR_MS)
  const at = (ms: number) => afterCheck(standing('pending'), false, CREATED_AT + ms).status
  assert.equal([at(72 * HOUR_MS - 1), at(72 * HOUR_MS)], ['pending', 'failed'])
})

test('a pending domain is given up 72 hours after its creation, a verified one after its first bad check', () => {
  const first = afterCheck(
    standing('verified', { verifiedAt: CREATED_AT }),
    false,
    CREATED_AT + 1_000 * HOUR_MS,
  )
  assert.is(first.failingSince, CREATED_AT + 1_000 * HOUR_MS)
  const later = (ms: number) => afterCheck(first, false, first.failingSince! + ms).status
  assert.equal([later(72 * HOUR_MS - 1), later(72 * HOUR_MS)], ['temporary_failure', 'failed'])
})

test('a good check forgets the failing, and keeps when the domain was first verified', () => {
  const healed = afterCheck(
    standing('temporary_failure', { verifiedAt: 5, failingSince: 7 }),
    true,
    CREATED_AT,
  )
  assert.equal([healed.verifiedAt, healed.failingSince], [5, null])
  assert.is(afterCheck(standing('pending'), true, CREATED_AT + 9).verifiedAt, CREATED_AT + 9)
})

test('a domain whose records come and go is not given up', () => {
  let domain = afterCheck(standing('pending'), true, CREATED_AT)
  for (let hour = 1; hour < 200; hour++) {
    domain = afterCheck(domain, hour % 50 === 0, CREATED_AT + hour * HOUR_MS)
    assert.ok(maySend(domain.status))
  }
})

test('mail may be sent while the domain is verified or in temporary failure', () => {
  assert.equal((['pending', 'verified', 'temporary_failure', 'failed'] as const).filter(maySend), [
    'verified',
    'temporary_failure',
  ])
})

test.run()
