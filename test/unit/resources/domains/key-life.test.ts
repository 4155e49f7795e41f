import * as assert from 'uvu/assert'
import type { DkimKeyFacts } from '../../../../src/resources/domains/domain-rows.ts'
import {
  keyState,
  PUBLISHED_AHEAD_MS,
  RETIRED_KEY_MS,
  REVOKED_FOR_MS,
  stepsDue,
} from '../../../../src/resources/domains/key-life.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('domains/key-life')
const DAY_MS = 24 * 3_600_000
const NOW = Date.UTC(2026, 10, 21)
const OLD = NOW - 365 * DAY_MS

type Life = Partial<Pick<DkimKeyFacts, 'createdAt' | 'activeFrom' | 'retiredAt' | 'revokedAt'>>

function key(slot: number, life: Life = {}): DkimKeyFacts {
  const algorithm = slot === 3 ? 'ed25519-sha256' : 'rsa-sha256'
  const id = new Uint8Array([slot])
  const times = { createdAt: OLD, activeFrom: null, retiredAt: null, revokedAt: null, ...life }
  return { id, domainId: id, slot, token: `token${slot}`, algorithm, publicKey: `key${slot}`, ...times }
}

const signing = (since: number): Life => ({ activeFrom: since })
const retired = (at: number): Life => ({ activeFrom: OLD, retiredAt: at })
const revoked = (at: number): Life => ({ ...retired(OLD), revokedAt: at })
const due = (keys: DkimKeyFacts[], { wantedAt = null as number | null, days = 180 as number | null } = {}) =>
  stepsDue(keys, { now: NOW, wantedAt, rotateAfterMs: days === null ? null : days * DAY_MS }).map(step =>
    step.kind === 'switch' ? `switch ${step.from.slot} ${step.to.slot}` : `${step.kind} ${step.key.slot}`,
  )

test('key life: published, signing, retired, revoked', () => {
  assert.is(keyState(key(1)), 'published')
  assert.is(keyState(key(1, signing(OLD))), 'signing')
  assert.is(keyState(key(1, retired(NOW))), 'retired')
  assert.is(keyState(key(1, revoked(NOW))), 'revoked')
})

test('key life: no step is due early', () => {
  assert.equal(due([key(1, signing(NOW - 180 * DAY_MS + 1)), key(2), key(3, signing(OLD))]), [])
})

test('key life: the active RSA key is replaced by the other one', () => {
  assert.equal(due([key(1, signing(NOW - 180 * DAY_MS)), key(2), key(3, signing(OLD))]), ['switch 1 2'])
  assert.equal(due([key(1), key(2, signing(NOW - 180 * DAY_MS)), key(3, signing(OLD))]), ['switch 2 1'])
})

test('key life: a request rotates at once; without a schedule only requests do', () => {
  const keys = [key(1, signing(NOW - 1)), key(2), key(3, signing(OLD))]
  assert.equal(due(keys), [])
  assert.equal(due(keys, { wantedAt: NOW }), ['switch 1 2'])
  const old = [key(1, signing(OLD)), key(2), key(3, signing(OLD))]
  assert.equal(due(old, { days: null }), [])
  assert.equal(due(old, { days: null, wantedAt: NOW }), ['switch 1 2'])
})

test('key life: a key signs only after 48 h of publication', () => {
  const fresh = (ms: number) => [
    key(1, signing(OLD)),
    key(2, { createdAt: NOW - ms }),
    key(3, { createdAt: NOW - ms }),
  ]
  assert.equal(due(fresh(PUBLISHED_AHEAD_MS - 1), { wantedAt: NOW }), [])
  assert.equal(due(fresh(PUBLISHED_AHEAD_MS)), ['switch 1 2', 'begin 3'])
})

test('key life: a retired key is revoked after 7 d 1 h and replaced 1 d later', () => {
  const rest = [key(2, signing(NOW - DAY_MS)), key(3, signing(OLD))]
  assert.equal(due([key(1, retired(NOW - RETIRED_KEY_MS + 1)), ...rest]), [])
  assert.equal(due([key(1, retired(NOW - RETIRED_KEY_MS)), ...rest]), ['revoke 1'])
  assert.equal(due([key(1, revoked(NOW - REVOKED_FOR_MS + 1)), ...rest]), [])
  assert.equal(due([key(1, revoked(NOW - REVOKED_FOR_MS)), ...rest]), ['replace 1'])
  assert.ok(RETIRED_KEY_MS >= 7 * DAY_MS && PUBLISHED_AHEAD_MS >= 2 * DAY_MS)
})

test('key life: no rotation while the other key is retired or revoked', () => {
  const rest = [key(2, signing(OLD)), key(3, signing(OLD))]
  for (const life of [retired(NOW - 1), revoked(NOW - 1)])
    assert.equal(due([key(1, life), ...rest], { wantedAt: NOW }), [])
})

test('key life: before the first signature only verification activates keys', () => {
  assert.equal(due([key(1), key(2), key(3)], { wantedAt: NOW }), [])
})

test.run()
