/** Labels and progress of broadcasts. */
import type { Broadcast } from '../api/types.ts'
import { count, counted } from './numbers.ts'
import type { Tone } from './status.ts'

export const BROADCAST_WORDS: Readonly<{ [S in Broadcast['status']]: readonly [label: string, tone: Tone] }> =
  {
    draft: ['Draft', 'none'],
    scheduled: ['Scheduled', 'info'],
    sending: ['Sending', 'info'],
    paused: ['Paused', 'warn'],
    sent: ['Sent', 'good'],
    canceled: ['Canceled', 'none'],
    failed: ['Failed', 'bad'],
  }

type NoUnsubscribeReason = NonNullable<Broadcast['no_unsubscribe_reason']>

export const NO_UNSUBSCRIBE_WORDS: Readonly<
  Record<NoUnsubscribeReason, readonly [label: string, meaning: string]>
> = {
  transactional: ['Transactional', 'it answers something that each recipient did, such as an order'],
  required_notice: ['Required notice', 'a law or a contract requires it, such as new terms or a recall'],
  internal: ['Internal list', 'it goes to members of your own organization'],
}

export const SKIP_WORDS: Readonly<Record<string, string>> = {
  unsubscribed: 'unsubscribed',
  opted_out: 'opted out of the topic',
  suppressed: 'suppressed',
  quota: 'over the plan’s quota',
  deleted: 'deleted',
}

const TAG = /\{\{\{?\s*([\w.]+)(?:\s*\|([^{}]*))?\s*\}?\}\}/g

/** Returns the name, or the subject as it reads without a contact: with fallbacks in place of the tags. */
export function titleOf({ name, subject }: Pick<Broadcast, 'name' | 'subject'>): string {
  const filled = subject.replace(
    TAG,
    (_, tag: string, fallback?: string) => fallback?.trim() || `(${tag.replaceAll(/[._]/g, ' ')})`,
  )
  return name && name !== subject ? name : filled
}

export interface SendingProgress {
  /** Emails handed to mail servers. */
  sent: number
  /** Emails to hand over in all. */
  goal: number
}

/** @returns undefined until the number of recipients is known */
export function progressOf({
  progress,
  skipped,
  counts,
}: Pick<Broadcast, 'progress' | 'skipped' | 'counts'>): SendingProgress | undefined {
  const { total, handed_over: sent } = progress
  if (total === null) return undefined
  const unsent = ['canceled', 'suppressed', 'failed'].map(status => counts[status] ?? 0)
  const leftOut = [...Object.values(skipped), ...unsent].reduce((sum, number) => sum + number, 0)
  return { sent, goal: Math.max(sent, total - leftOut) }
}

const SPEED_AFTER_MS = 4_000
const MINUTE_MS = 60_000

/**
 * Formats the speed of sending and the time that is left, such as `1,200 a minute, 4 minutes left`.
 *
 * @param sentMeanwhile emails handed over within the last `elapsedMs`
 * @returns an empty string while it cannot be told
 */
export function speedWords(
  { sent, goal }: SendingProgress,
  sentMeanwhile: number,
  elapsedMs: number,
): string {
  const perMinute = (sentMeanwhile / elapsedMs) * MINUTE_MS
  if (elapsedMs < SPEED_AFTER_MS || perMinute < 1) return ''
  const minutes = (goal - sent) / perMinute
  const left =
    minutes > 90 ? counted(Math.round(minutes / 60), 'hour') : counted(Math.ceil(minutes), 'minute')
  return `${count(Math.round(perMinute))} a minute${minutes > 0 ? `, about ${left} left` : ''}`
}
