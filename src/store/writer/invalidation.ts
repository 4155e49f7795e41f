/** Invalidation of data that a thread caches from the store. */
import { type Commands, MISSED } from '../command.ts'
import type { WriterClient } from './client.ts'

/**
 * Looks at every announcement of the topic, and where some may have been missed.
 * @param onError is told where that fails; what was known before stays
 */
export function invalidateOn(
  topic: string,
  store: Pick<WriterClient<Commands>, 'on'>,
  look: () => Promise<void>,
  onError: (error: unknown) => void,
): void {
  const refresh = () => look().catch(onError)
  store.on(topic, refresh)
  store.on(MISSED, refresh)
}
