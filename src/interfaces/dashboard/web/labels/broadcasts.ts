/** Labels and progress of broadcasts. */
import type { Audience, Broadcast, Domain, RecipientPreview } from '../api/types.ts'
import { bytes, count, counted } from './numbers.ts'
import { domainIn, type RecipientType } from './places.ts'
import { durationWords } from './rates.ts'
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

/** Formats `2,843 subscribed of 2,990`. Others of an audience get no broadcast. */
export function subscribedWords({
  contact_count,
  unsubscribed_count,
}: Pick<Audience, 'contact_count' | 'unsubscribed_count'>): string {
  return `${count(contact_count - unsubscribed_count)} subscribed of ${count(contact_count)}`
}

/** Formats `prices.pdf (1.2 MB), map.png (80.0 kB)`. */
export function attachmentWords(attachments: Broadcast['attachments']): string {
  return attachments.map(({ filename, size }) => `${filename} (${bytes(size)})`).join(', ')
}

type NoUnsubscribeReason = NonNullable<Broadcast['no_unsubscribe_reason']>

export const NO_UNSUBSCRIBE_WORDS: Readonly<
  Record<NoUnsubscribeReason, readonly [label: string, meaning: string]>
> = {
  transactional: ['Transactional', 'it answers something that each recipient did, such as an order'],
  required_notice: ['Required notice', 'a law or a contract requires it, such as new terms or a recall'],
  internal: ['Internal list', 'it goes to members of your own organization'],
}

/** Reasons why contacts are skipped. */
export const SKIP_WORDS: Readonly<Record<string, string>> = {
  unsubscribed: 'Unsubscribed',
  opted_out: 'Opted out of the topic',
  suppressed: 'Suppressed',
  quota: 'Over the plan’s quota',
  deleted: 'Deleted',
}

/**
 * Returns how many recipients have a result, which is the length of their list.
 * @param reason only with the type `skipped`; empty for any
 */
export function recipientCount(
  { progress, counts, unique_opens, unique_clicks, unsubscribes, skipped }: Broadcast,
  type: RecipientType,
  reason = '',
): number {
  const of = (status: string) => counts[status] ?? 0
  if (type === 'sent') return progress.handed_over
  if (type === 'delivered') return of('delivered') + of('complained')
  if (type === 'opened') return unique_opens
  if (type === 'clicked') return unique_clicks
  if (type === 'unsubscribed') return unsubscribes
  if (type !== 'skipped') return of(type)
  return reason === '' ? sum(Object.values(skipped)) : (skipped[reason] ?? 0)
}

/** Why recipients are counted, but not listed. */
const UNLISTED_WORDS: Readonly<Partial<Record<RecipientType, string>>> = {
  skipped: 'skipped before Mailhorn stored who is skipped, or longer ago than your plan keeps emails',
  unsubscribed: 'who unsubscribed before Mailhorn stored who does, or longer ago than your plan keeps emails',
}

/**
 * Returns which of the counted recipients have no rows, such as those of a broadcast that a former version
 * sent.
 * @param known number of recipients with the result
 * @param listed length of their list
 * @returns undefined if there are none
 */
export function unlistedWords(known: number, listed: number, type: RecipientType): string | undefined {
  const missing = known - listed
  if (missing <= 0) return undefined
  const why = UNLISTED_WORDS[type]
  if (why) return `Not listed: ${counted(missing, 'recipient')} ${why}.`
  // other results change while they are read
  return listed > 0
    ? undefined
    : `Not listed: ${counted(missing, 'recipient')} whose emails have been deleted.`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

export interface Untracked {
  domain: Pick<Domain, 'id' | 'name'>
  /** Whether opens are not counted. */
  opens: boolean
  clicks: boolean
}

/** @returns undefined if opens and clicks are counted for mail from the sender, or the domain is not known */
export function untrackedOf(
  from: string,
  domains: readonly Pick<Domain, 'id' | 'name' | 'open_tracking' | 'click_tracking'>[],
): Untracked | undefined {
  const domain = domains.find(({ name }) => name === domainIn(from))
  if (!domain || (domain.open_tracking && domain.click_tracking)) return undefined
  return { domain, opens: !domain.open_tracking, clicks: !domain.click_tracking }
}

export function untrackedWords({ opens, clicks }: Untracked): string {
  return opens && clicks ? 'Opens and clicks' : opens ? 'Opens' : 'Clicks'
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
  /** Emails to hand over in all; at most as many unless the number is known. */
  goal: number
  /** False while contacts who will be skipped may be among them. */
  isGoalKnown: boolean
}

/**
 * @param forecast whom the broadcast would reach now, which tells who will be skipped before it is their turn
 * @returns undefined until the number of recipients is known
 */
export function progressOf(
  { progress, skipped, counts }: Pick<Broadcast, 'progress' | 'skipped' | 'counts'>,
  forecast?: Pick<RecipientPreview, 'recipients' | 'skipped' | 'complete'>,
): SendingProgress | undefined {
  const { total, expanded, handed_over: sent } = progress
  if (total === null) return undefined
  const unsent = sum(['canceled', 'suppressed', 'failed'].map(status => counts[status] ?? 0))
  const most = Math.max(sent, total - sum(Object.values(skipped)) - unsent)
  if (expanded === total) return { sent, goal: most, isGoalKnown: true }
  // the emails that were sent count against the quota of those that follow
  const isKnown = forecast?.complete && !forecast.skipped.quota
  if (!isKnown) return { sent, goal: most, isGoalKnown: false }
  return { sent, goal: Math.max(sent, Math.min(most, forecast.recipients - unsent)), isGoalKnown: true }
}

/** Formats `46 of 388 emails sent`. */
export function progressWords({ sent, goal, isGoalKnown }: SendingProgress): string {
  return isGoalKnown ? `${count(sent)} of ${counted(goal, 'email')} sent` : `${counted(sent, 'email')} sent`
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
  { sent, goal }: Pick<SendingProgress, 'sent' | 'goal'>,
  sentMeanwhile: number,
  elapsedMs: number,
): string {
  const perMinute = (sentMeanwhile / elapsedMs) * MINUTE_MS
  if (elapsedMs < SPEED_AFTER_MS || perMinute < 1) return ''
  const minutes = (goal - sent) / perMinute
  return `${count(Math.round(perMinute))} a minute${minutes > 0 ? `, about ${durationWords(minutes)} left` : ''}`
}
