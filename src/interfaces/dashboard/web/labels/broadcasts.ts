/** What the statuses of broadcasts are called. */
import type { Broadcast } from '../api/types.ts'
import type { Tone } from './status.ts'

export const BROADCAST_WORDS: Readonly<{ [S in Broadcast['status']]: readonly [label: string, tone: Tone] }> =
  {
    draft: ['Draft', 'none'],
    scheduled: ['Scheduled', 'info'],
    sending: ['Going out', 'info'],
    paused: ['Paused', 'warn'],
    sent: ['Sent', 'good'],
    canceled: ['Canceled', 'none'],
    failed: ['Failed', 'bad'],
  }

export const SKIP_WORDS: Readonly<Record<string, string>> = {
  unsubscribed: 'have unsubscribed',
  opted_out: 'do not want the topic',
  suppressed: 'are suppressed',
  quota: 'were beyond the plan',
  deleted: 'were deleted',
}
