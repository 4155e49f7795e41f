/**
 * Effects of commands besides rows: counter sums, figures and announcements, kept until the group commits.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Announcement } from './protocol.ts'

export interface CountDelta {
  accountId: Id
  kind: string
  period: string
  delta: number
}

export interface Effects {
  count(change: CountDelta): void
  /** @returns the sum that was added to a counter so far */
  counted(accountId: Id, kind: string, period: string): number
  announce(topic: string, payload: unknown): void
  /** Adds to a figure of the metrics of the process, which is not stored. */
  tally(name: string, count: number): void
  /** Adds the effects of one savepoint. */
  absorb(other: Effects): void
  counts(): Iterable<CountDelta>
  announcements(): Announcement[]
  tallies(): ReadonlyMap<string, number>
}

export function createEffects(): Effects {
  const sums = new Map<string, CountDelta>()
  const announced = new Map<string, unknown[]>()
  const tallies = new Map<string, number>()
  const effects: Effects = {
    count(change) {
      const key = keyOf(change.accountId, change.kind, change.period)
      const known = sums.get(key)
      if (known) known.delta += change.delta
      else sums.set(key, { ...change })
    },
    counted: (accountId, kind, period) => sums.get(keyOf(accountId, kind, period))?.delta ?? 0,
    announce(topic, payload) {
      const known = announced.get(topic)
      if (known) known.push(payload)
      else announced.set(topic, [payload])
    },
    tally: (name, count) => void tallies.set(name, (tallies.get(name) ?? 0) + count),
    absorb(other) {
      for (const [name, count] of other.tallies()) effects.tally(name, count)
      for (const change of other.counts()) effects.count(change)
      for (const { topic, payloads } of other.announcements())
        for (const payload of payloads) effects.announce(topic, payload)
    },
    counts: () => sums.values(),
    tallies: () => tallies,
    announcements: () => [...announced].map(([topic, payloads]) => ({ topic, payloads })),
  }
  return effects
}

function keyOf(accountId: Id, kind: string, period: string): string {
  return `${idKey(accountId)}${kind} ${period}`
}
