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

export class VisitBatcher {
  readonly #options: BatcherOptions
  readonly #bursts = new ClickBursts(ENTRIES_MAX)
  #entries = new Map<string, VisitEntry>()
  #dropped = 0
  #timer: Timer | undefined
  #recording: Promise<void> | undefined
  #isClosed = false

  constructor(options: BatcherOptions) {
    this.#options = options
  }

  opened(recipient: TokenRecipient, hit: Hit): void {
    this.#note({ recipient, link: PIXEL, url: null }, hit)
  }

  clicked({ recipient, number, target }: ClickedLink, hit: Hit): void {
    this.#note({ recipient, link: number ?? numberOfUrl(target), url: target }, hit)
  }

  /** Resolves when all visits have been recorded, or the last attempt has failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#recording
    if (this.#entries.size > 0) await this.#record()
  }

  #note(entry: Pick<VisitEntry, 'recipient' | 'link' | 'url'>, hit: Hit): void {
    const { emailId, ordinal } = entry.recipient
    const recipient = `${idKey(emailId)} ${ordinal}`
    const key = `${recipient} ${entry.link}`
    let waiting = this.#entries.get(key)
    if (waiting) addHit(waiting, hit)
    else if (this.#entries.size >= ENTRIES_MAX) this.#dropped++
    else {
      waiting = { ...entry, hits: [hit], more: 0, moreMachines: 0, lastAt: hit.at }
      this.#entries.set(key, waiting)
    }
    if (waiting && entry.link !== PIXEL) this.#bursts.clicked(recipient, waiting, hit.at)
    this.#wake()
  }

  #wake(): void {
    if (this.#isClosed || this.#recording) return
    this.#timer ??= this.#options.clock.timer(BATCH_INTERVAL_MS, () => this.#start())
  }

  #start(): void {
    this.#timer = undefined
    this.#recording = this.#record().finally(() => {
      this.#recording = undefined
      if (this.#entries.size > 0) this.#wake()
    })
  }

  /** Takes the entries to record. Clicks are not held back any longer when many entries wait. */
  #takeDue(): Map<string, VisitEntry> {
    const now = this.#options.clock.now()
    this.#bursts.forget(now)
    const all = this.#entries
    this.#entries = new Map()
    if (this.#isClosed || all.size > ENTRIES_HELD_MAX) return all
    const due = new Map<string, VisitEntry>()
    for (const [key, entry] of all) {
      const isHeld = entry.link !== PIXEL && now < entry.hits[0]!.at + BURST_WINDOW_MS
      ;(isHeld ? this.#entries : due).set(key, entry)
    }
    return due
  }

  async #record(): Promise<void> {
    const { run, onError, onDropped } = this.#options
    const due = this.#takeDue()
    if (this.#dropped > 0) onDropped(this.#dropped)
    this.#dropped = 0
    const list = [...due.values()]
    try {
      while (list.length > 0) {
        await run('recordVisits', { visits: list.slice(0, ENTRIES_PER_COMMAND_MAX) })
        list.splice(0, ENTRIES_PER_COMMAND_MAX)
      }
    } catch (error) {
      onError(error)
      const entries = this.#entries
      for (const [key, entry] of due)
        if (list.includes(entry) && !entries.has(key) && entries.size < ENTRIES_MAX) entries.set(key, entry)
    }
  }
}

function addHit(entry: VisitEntry, hit: Hit) {
  entry.lastAt = hit.at
  if (entry.hits.length < HITS_MAX) entry.hits.push(hit)
  else if (hit.visitor.machine === null) entry.more++
  else entry.moreMachines++
}
