/**
 * Collects visits and records them in batches, so that requests do not wait for the database. Requests of one
 * recipient for one link are one entry. Clicks wait until it is known whether they belong to a burst.
 *
 * In: opens and clicks from the HTTP API (`interfaces/api/tracking`). Out: the command `recordVisits`.
 * Created by `app/tracking.ts`.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { idKey } from '../../lib/ids.ts'
import type { Run } from '../../store/model/command.ts'
import { BURST_WINDOW_MS, ClickBursts } from './click-bursts.ts'
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
/** Number of waiting entries up to which clicks are held back. */
const ENTRIES_HELD_MAX = 10_000
const ENTRIES_PER_COMMAND_MAX = 200
/** Requests of an entry that are kept with their visitor; further ones are only counted. */
const HITS_MAX = 8

export function createVisitBatcher({ run, clock, onError, onDropped }: BatcherOptions): VisitBatcher {
  let entries = new Map<string, VisitEntry>()
  const bursts = new ClickBursts(ENTRIES_MAX)
  let dropped = 0
  let timer: Timer | undefined
  let recording: Promise<void> | undefined
  let isClosed = false

  const note = (entry: Pick<VisitEntry, 'recipient' | 'link' | 'url'>, hit: Hit) => {
    const { emailId, ordinal } = entry.recipient
    const recipient = `${idKey(emailId)} ${ordinal}`
    const key = `${recipient} ${entry.link}`
    let waiting = entries.get(key)
    if (waiting) addHit(waiting, hit)
    else if (entries.size >= ENTRIES_MAX) dropped++
    else {
      waiting = { ...entry, hits: [hit], more: 0, moreMachines: 0, lastAt: hit.at }
      entries.set(key, waiting)
    }
    if (waiting && entry.link !== PIXEL) bursts.clicked(recipient, waiting, hit.at)
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
  /** Takes the entries to record. Clicks are not held back any longer when many entries wait. */
  const takeDue = (): Map<string, VisitEntry> => {
    const now = clock.now()
    bursts.forget(now)
    const all = entries
    entries = new Map()
    if (isClosed || all.size > ENTRIES_HELD_MAX) return all
    const due = new Map<string, VisitEntry>()
    for (const [key, entry] of all) {
      const isHeld = entry.link !== PIXEL && now < entry.hits[0]!.at + BURST_WINDOW_MS
      ;(isHeld ? entries : due).set(key, entry)
    }
    return due
  }
  const record = async () => {
    const due = takeDue()
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
