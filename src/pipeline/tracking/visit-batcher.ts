/**
 * Collects visits and records them in batches, so that requests do not wait for the database. Requests of one
 * recipient for one link are one entry.
 *
 * In: opens and clicks from the HTTP API (`interfaces/api/tracking`). Out: the command `recordVisits`.
 * Created by `app/tracking.ts`.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import { numberOfUrl } from './link-numbers.ts'
import type { Hit, VisitEntry, visitCommands } from './record-visits.ts'
import type { ClickedLink, TokenRecipient } from './tokens.ts'

export interface VisitBatcher {
  opened(recipient: TokenRecipient, hit: Hit): void
  clicked(link: ClickedLink, hit: Hit): void
  /** Resolves when all visits have been recorded, or the last attempt has failed. */
  close(): Promise<void>
}

interface BatcherOptions {
  run: Run<typeof visitCommands>
  clock: Clock
  /** Called when visits could not be recorded. They are tried again while there is room. */
  onError(error: unknown): void
  /** Called with the number of visits that were dropped because too many entries were waiting. */
  onDropped(count: number): void
}

export const PIXEL = -1
/** Time during which visits are collected. */
const BATCH_INTERVAL_MS = 500
/** Number of waiting entries; visits beyond it are dropped. */
const ENTRIES_MAX = 20_000
const ENTRIES_PER_COMMAND_MAX = 200
/** Requests of an entry that are kept with their visitor; further ones are only counted. */
const HITS_MAX = 8

export function createVisitBatcher({ run, clock, onError, onDropped }: BatcherOptions): VisitBatcher {
  let entries = new Map<string, VisitEntry>()
  let dropped = 0
  let timer: Timer | undefined
  let recording: Promise<void> | undefined
  let isClosed = false

  const note = (entry: Omit<VisitEntry, 'hits' | 'more' | 'moreMachines' | 'lastAt'>, hit: Hit) => {
    const { emailId, ordinal } = entry.recipient
    const key = `${idKey(emailId)} ${ordinal} ${entry.link}`
    const known = entries.get(key)
    if (known) addHit(known, hit)
    else if (entries.size >= ENTRIES_MAX) dropped++
    else entries.set(key, { ...entry, hits: [hit], more: 0, moreMachines: 0, lastAt: hit.at })
    wake()
  }
  const wake = () => {
    if (!isClosed && !recording) timer ??= clock.timer(BATCH_INTERVAL_MS, start)
  }
  const start = () => {
    timer = undefined
    recording = record().finally(() => {
      recording = undefined
      if (entries.size > 0) wake()
    })
  }
  const record = async () => {
    const due = entries
    entries = new Map()
    if (dropped > 0) onDropped(dropped)
    dropped = 0
    const list = [...due.values()]
    try {
      while (list.length > 0) {
        await run('recordVisits', { visits: list.slice(0, ENTRIES_PER_COMMAND_MAX) })
        list.splice(0, ENTRIES_PER_COMMAND_MAX)
      }
    } catch (error) {
      onError(error)
      for (const [key, entry] of due)
        if (list.includes(entry) && !entries.has(key) && entries.size < ENTRIES_MAX) entries.set(key, entry)
    }
  }

  return {
    opened: (recipient, hit) => note({ recipient, link: PIXEL, url: null }, hit),
    clicked: ({ recipient, number, target }, hit) =>
      note({ recipient, link: number ?? numberOfUrl(target), url: target }, hit),
    async close() {
      isClosed = true
      timer?.cancel()
      await recording
      if (entries.size > 0) await record()
    },
  }
}

function addHit(entry: VisitEntry, hit: Hit) {
  entry.lastAt = hit.at
  if (entry.hits.length < HITS_MAX) entry.hits.push(hit)
  else if (hit.visitor.machine === null) entry.more++
  else entry.moreMachines++
}
