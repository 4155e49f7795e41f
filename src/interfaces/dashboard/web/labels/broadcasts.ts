/** Labels of broadcast statuses. */
import type { Broadcast } from '../api/types.ts'
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
