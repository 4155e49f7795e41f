/**
 * Gathers visits apart from the requests that bring them, which do not wait: those of one recipient to one
 * link are one entry, whatever their number, and entries are recorded together.
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
  /** Resolves when all that was noted has been recorded, or cannot be. */
  close(): Promise<void>
}

interface BookOptions {
  run: Run<typeof visitCommands>
  clock: Clock
  /** What could not be recorded is tried again, as long as there is room. */
  onError(error: unknown): void
  /** So many visits were left out: too many different ones came at once. */
  onLeftOut(count: number): void
}

export const PIXEL = -1
const GATHER_MS = 500
/** Different ones that wait. */
const ENTRIES_MAX = 20_000
const ENTRIES_AT_ONCE = 200
/** Of one entry these are kept as they are; further ones are counted. */
const HITS_MAX = 8

export function createVisitBatcher({ run, clock, onError, onLeftOut }: BookOptions): VisitBatcher {
  let entries = new Map<string, VisitEntry>()
  let leftOut = 0
  let timer: Timer | undefined
  let recording: Promise<void> | undefined
  let isClosed = false

  const note = (entry: Omit<VisitEntry, 'hits' | 'more' | 'moreMachines' | 'lastAt'>, hit: Hit) => {
    const { emailId, ordinal } = entry.recipient
    const key = `${idKey(emailId)} ${ordinal} ${entry.link}`
    const known = entries.get(key)
    if (known) addHit(known, hit)
    else if (entries.size >= ENTRIES_MAX) leftOut++
    else entries.set(key, { ...entry, hits: [hit], more: 0, moreMachines: 0, lastAt: hit.at })
    wake()
  }
  const wake = () => {
    if (!isClosed && !recording) timer ??= clock.timer(GATHER_MS, start)
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
    if (leftOut > 0) onLeftOut(leftOut)
    leftOut = 0
    const list = [...due.values()]
    try {
      while (list.length > 0) {
        await run('recordVisits', { visits: list.slice(0, ENTRIES_AT_ONCE) })
        list.splice(0, ENTRIES_AT_ONCE)
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
