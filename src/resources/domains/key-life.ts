/**
 * The life of a DKIM key: published, signing, retired, revoked; then another takes its place under the same
 * selector. Of two RSA keys one signs while the other waits its turn; the Ed25519 key has no companion and
 * rests between turns. Pure.
 */
import type { DkimKeyFacts } from './domain-rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * A record is out for so long before its key signs: whoever looked for it before has forgotten what they saw.
 */
export const PUBLISHED_AHEAD_MS = 48 * HOUR_MS
/**
 * After its last use, with an hour for delivery threads that hear of its end late: mail is verified on
 * arrival.
 */
export const KEPT_MS = 7 * DAY_MS + HOUR_MS
/** So long a selector says that its key is revoked, before it leads to another. */
export const REVOKED_FOR_MS = DAY_MS

export type KeyState = 'published' | 'signing' | 'retired' | 'revoked'

type Life = Pick<DkimKeyFacts, 'activeFrom' | 'retiredAt' | 'revokedAt'>

export function keyState({ activeFrom, retiredAt, revokedAt }: Life): KeyState {
  if (revokedAt !== null) return 'revoked'
  if (retiredAt !== null) return 'retired'
  return activeFrom === null ? 'published' : 'signing'
}

export type KeyStep =
  /** The RSA key that signs gives way to the other one, and the Ed25519 key, if it signs, begins its rest. */
  | { kind: 'switch'; from: DkimKeyFacts; to: DkimKeyFacts }
  /** The Ed25519 key signs, for the first time or after its rest. */
  | { kind: 'begin'; key: DkimKeyFacts }
  | { kind: 'revoke'; key: DkimKeyFacts }
  /** Another key takes its place. */
  | { kind: 'replace'; key: DkimKeyFacts }

export interface KeyTurns {
  now: number
  /** When somebody asked for other keys; null when nobody did. */
  wantedAt: number | null
  /** A key signs for so long; null for ever. */
  rotateAfterMs: number | null
}

/** What it is time for. A step that brings a key into use needs its record to be publicly visible, too. */
export function stepsDue(keys: readonly DkimKeyFacts[], turns: KeyTurns): KeyStep[] {
  const { now } = turns
  const steps: KeyStep[] = []
  for (const key of keys) {
    const state = keyState(key)
    if (state === 'retired' && now >= key.retiredAt! + KEPT_MS) steps.push({ kind: 'revoke', key })
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

/** From when on a key that is published may sign. */
export function readyAt({ createdAt }: Pick<DkimKeyFacts, 'createdAt'>): number {
  return createdAt + PUBLISHED_AHEAD_MS
}

/** When the key that signs is to give way, which may be past; infinity when it is not. */
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
