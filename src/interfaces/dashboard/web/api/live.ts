/** Live events of the account: one EventSource shared by all components, open while the window is visible. */
import { probe } from './connection.ts'

type Listener = (type: string) => void

const listeners = new Set<Listener>()
let stream: EventSource | undefined

/** @returns a function that removes the listener */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  follow()
  return () => {
    listeners.delete(listener)
    follow()
  }
}

/**
 * Opens the stream while there are listeners and closes it otherwise. A lost connection is reopened by the
 * browser.
 */
function follow(): void {
  const isWanted = listeners.size > 0 && !document.hidden
  if (!isWanted) {
    stream?.close()
    stream = undefined
    return
  }
  if (stream && stream.readyState !== EventSource.CLOSED) return
  stream = new EventSource('/activity/stream')
  stream.onerror = () => void probe()
  stream.onmessage = ({ data }: MessageEvent<string>) => {
    const { type } = JSON.parse(data) as { type: string }
    for (const listener of listeners) listener(type)
  }
}

document.addEventListener('visibilitychange', follow)
