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

export const SKIP_WORDS: Readonly<Record<string, string>> = {
  unsubscribed: 'unsubscribed',
  opted_out: 'opted out of the topic',
  suppressed: 'suppressed',
  quota: 'over the plan’s quota',
  deleted: 'deleted',
}
