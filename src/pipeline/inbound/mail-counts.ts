/** Metrics of a mail listener: accepted messages, and rejections by reply code and enhanced status code. */
import type { Metrics } from '../../lib/metrics.ts'

export interface MailCounts {
  /** Counts an accepted message. */
  taken(): void
  /**
   * Counts a rejection.
   *
   * @param code reply code
   * @param text reply text, which may begin with an enhanced status code
   */
  turnedAway(code: number, text: string): void
}

const STATUS = /^(?:Error: )?([45]\.\d{1,3}\.\d{1,3}) /

export function countMail(
  metrics: Metrics,
  listener: 'inbound' | 'submission' | 'submission_tls' | 'relay',
): MailCounts {
  const taken = metrics.counter('smtp_taken', 'Messages that a mail listener has answered for.', [
    { listener },
  ])
  const refused = metrics.counter(
    'smtp_refused',
    'Negative replies for good, by reply and enhanced status code.',
  )
  const deferred = metrics.counter(
    'smtp_deferred',
    'Negative replies for now, by reply and enhanced status code.',
  )
  return {
    taken: () => taken.add({ listener }),
    turnedAway(code, text) {
      const counter = code >= 500 ? refused : deferred
      counter.add({ listener, code: String(code), status: STATUS.exec(text)?.[1] ?? '' })
    },
  }
}
