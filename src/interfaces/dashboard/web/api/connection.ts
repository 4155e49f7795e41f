/**
 * Watches whether the service can be reached. A failed request, a stream that ends or an unanswered probe
 * says that it cannot; it is then probed until it answers, and all that is shown is loaded again.
 */
import { signal } from '@preact/signals'
import { onUnreachable } from './client.ts'

/** Whether the last probe was not answered, or the browser is offline. */
export const isLost = signal(false)

const PROBE = '/healthz'
const PROBE_LIMIT_MS = 8_000
const PROBE_EVERY_MS = 10_000
const RETRY_EVERY_MS = 2_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined
let isProbing = false

/** @returns a function that removes the listener */
export function onRestored(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Probes the service now. There is one probe at a time. */
export async function probe(): Promise<void> {
  if (isProbing) return
  isProbing = true
  clearTimeout(timer)
  const answers = await fetch(PROBE, { cache: 'no-store', signal: AbortSignal.timeout(PROBE_LIMIT_MS) }).then(
    ({ ok }) => ok,
    () => false,
  )
  isProbing = false
  const wasLost = isLost.value
  isLost.value = !answers
  if (answers && wasLost) for (const listener of listeners) listener()
  timer = setTimeout(probeIfSeen, answers ? PROBE_EVERY_MS : RETRY_EVERY_MS)
}

function probeIfSeen(): void {
  if (!document.hidden) void probe()
}

export function watchConnection(): void {
  onUnreachable(() => void probe())
  document.addEventListener('visibilitychange', probeIfSeen)
  addEventListener('online', probeIfSeen)
  addEventListener('offline', () => {
    isLost.value = true
  })
  timer = setTimeout(probeIfSeen, PROBE_EVERY_MS)
}
