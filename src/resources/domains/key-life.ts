/**
 * Life cycle of a DKIM key: published, signing, retired, revoked; then a new key replaces it under the same
 * selector. Of two RSA keys, one signs while the other waits. The Ed25519 key has no counterpart and pauses
 * between rotations. Pure functions.
 */
import type { DkimKeyFacts } from './domain-rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * A key signs only after its record has been published for this time, so that negative DNS answers have
 * expired from caches.
 */
export const PUBLISHED_AHEAD_MS = 48 * HOUR_MS
/**
 * A retired key stays published for this time. Receivers verify mail on arrival; the additional hour covers
 * delivery threads that learn late about the rotation.
 */
export const RETIRED_KEY_MS = 7 * DAY_MS + HOUR_MS
/** A selector publishes a revoked key for this time before it gets a new key. */
export const REVOKED_FOR_MS = DAY_MS

type KeyState = 'published' | 'signing' | 'retired' | 'revoked'

type Life = Pick<DkimKeyFacts, 'activeFrom' | 'retiredAt' | 'revokedAt'>

export function keyState({ activeFrom, retiredAt, revokedAt }: Life): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (retiredAt !== null) return 'retired'
  return activeFrom === null ? 'published' : 'signing'
}

export type KeyStep =
  /** The other RSA key becomes active, and an active Ed25519 key pauses. */
  | { kind: 'switch'; from: DkimKeyFacts; to: DkimKeyFacts }
  /** The Ed25519 key becomes active, for the first time or after a pause. */
  | { kind: 'begin'; key: DkimKeyFacts }
  | { kind: 'revoke'; key: DkimKeyFacts }
  /** A new key replaces the revoked one. */
  | { kind: 'replace'; key: DkimKeyFacts }

interface KeyTurns {
  now: number
  /** Time at which a rotation was requested, in ms since the epoch; null if none was. */
  wantedAt: number | null
  /** Maximum time for which a key signs; null means no limit. */
  rotateAfterMs: number | null
}

/**
 * Returns the steps that are due. A step that activates a key also requires that its record is publicly
 * visible.
 */
export function stepsDue(keys: readonly DkimKeyFacts[], turns: KeyTurns): KeyStep[] {
  const { now } = turns
  const steps: KeyStep[] = []
  for (const key of keys) {
    const state = keyState(key)
    if (state === 'retired' && now >= key.retiredAt! + RETIRED_KEY_MS) steps.push({ kind: 'revoke', key })
    if (state === 'revoked' && now >= key.revokedAt! + REVOKED_FOR_MS) steps.push({ kind: 'replace', key })
  }
  const from = signingRsa(keys)
  if (!from) return steps
  const isReady = (key: DkimKeyFacts) => keyState(key) === 'published' && now >= readyAt(key)
  const to = keys.find(key => isRsa(key) && isReady(key))
  if (to && now >= turnEndsAt(from, turns)) steps.push({ kind: 'switch', from, to })
  const single = keys.find(key => !isRsa(key) && isReady(key))
  if (single) steps.push({ kind: 'begin', key: single })
  return steps
}

/** Returns the time from which a published key may sign. */
export function readyAt({ createdAt }: Pick<DkimKeyFacts, 'createdAt'>): number {
  return createdAt + PUBLISHED_AHEAD_MS
}

/**
 * Returns the time at which the active key is to be rotated, which may be in the past; infinity if it is not.
 */
export function turnEndsAt(
  { activeFrom }: Pick<DkimKeyFacts, 'activeFrom'>,
  { wantedAt, rotateAfterMs }: Omit<KeyTurns, 'now'>,
): number {
  const scheduled = rotateAfterMs === null ? Number.POSITIVE_INFINITY : activeFrom! + rotateAfterMs
  return Math.min(scheduled, wantedAt ?? Number.POSITIVE_INFINITY)
}

export function signingRsa<K extends DkimKeyFacts>(keys: readonly K[]): K | undefined {
  return keys.find(key => isRsa(key) && keyState(key) === 'signing')
}

function isRsa({ algorithm }: Pick<DkimKeyFacts, 'algorithm'>): boolean {
  return algorithm === 'rsa-sha256'
}
