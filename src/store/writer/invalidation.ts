/** Invalidation of data that a thread caches from the store. */
import { type Commands, MISSED } from '../model/command.ts'
import type { WriterClient } from './client.ts'

/**
 * Runs `look` on every announcement of the topic, and when announcements may have been missed.
 * @param onError called when `look` fails; the cached data is kept
 */
export function invalidateOn(
  topic: string,
  store: Pick<WriterClient<Commands>, 'on'>,
  read: () => Promise<void>,
  onError: (error: unknown) => void,
): void {
  const refresh = () => read().catch(onError)
  store.on(topic, refresh)
  store.on(MISSED, refresh)
}
