/** Number of unread received messages, which the sidebar and the Inbox show. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLoad } from '../api/load.ts'
import type { UnreadCount } from '../api/types.ts'

/** New mail refreshes the number at once; polling covers what other users have read. */
const LIVE_MS = 30_000
/** Grows when this window has marked or deleted messages. */
const changes = signal(0)

/** Returns the number of unread messages, such as `7` or `999+`; undefined if there are none. */
export function useUnread(): string | undefined {
  const { data, reload } = useLoad<UnreadCount>('/inbound/unread-count', {
    ...{ everyMs: LIVE_MS, on: 'email.received' },
  })
  useEffect(() => (changes.value > 0 ? reload() : undefined), [changes.value])
  if (!data || data.count === 0) return undefined
  return data.has_more ? `${data.count}+` : String(data.count)
}

/** Has the number read anew after messages were marked or deleted. */
export function refreshUnread(): void {
  changes.value++
}
