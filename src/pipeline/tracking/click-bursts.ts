/**
 * Recognises clicks on several links of one email within seconds, which mail filters make with the user agent
 * of a browser. In: the waiting clicks of each recipient. Out: the mark `isBurst` on them. Called by
 * `visit-batcher.ts`, which waits for `BURST_WINDOW_MS` before it records a click.
 */
import type { VisitEntry } from './record-visits.ts'

/** Clicks on three different links within this time are a burst. */
export const BURST_WINDOW_MS = 3_000
const BURST_LINKS = 3
/** Further clicks this soon after one of a burst belong to it. */
const BURST_GOES_ON_MS = 10_000

interface Recent {
  /** Clicks of the last seconds, the oldest first. */
  clicks: { entry: VisitEntry; at: number }[]
  /** Time until which further clicks belong to a burst; 0 without one. */
  burstUntil: number
  lastAt: number
}

export class ClickBursts {
  readonly #recipients = new Map<string, Recent>()
  readonly #recipientsMax: number

  /** @param recipientsMax number of recipients; the clicks of further ones count as those of people */
  constructor(recipientsMax: number) {
    this.#recipientsMax = recipientsMax
  }

  /** @param recipient key of an email and its recipient */
  clicked(recipient: string, entry: VisitEntry, at: number): void {
    const recent = this.#recipients.get(recipient) ?? this.#begun(recipient)
    if (!recent) return
    recent.lastAt = at
    recent.clicks = recent.clicks.filter(
      click => click.entry.link !== entry.link && click.at > at - BURST_WINDOW_MS,
    )
    recent.clicks.push({ entry, at })
    if (recent.clicks.length >= BURST_LINKS || at < recent.burstUntil) {
      recent.burstUntil = at + BURST_GOES_ON_MS
      for (const click of recent.clicks) click.entry.isBurst = true
    }
  }

  /** Forgets recipients whose last click was long ago. */
  forget(now: number): void {
    for (const [recipient, { lastAt, burstUntil }] of this.#recipients)
      if (now >= Math.max(lastAt + BURST_WINDOW_MS, burstUntil)) this.#recipients.delete(recipient)
  }

  #begun(recipient: string): Recent | undefined {
    if (this.#recipients.size >= this.#recipientsMax) return undefined
    const recent = { clicks: [], burstUntil: 0, lastAt: 0 }
    this.#recipients.set(recipient, recent)
    return recent
  }
}
