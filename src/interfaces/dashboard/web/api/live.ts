/**
 * What happens in the account, heard as it happens: one stream for all that is shown, open while the window
 * can be seen.
 */

type Listener = (type: string) => void

const listeners = new Set<Listener>()
let stream: EventSource | undefined

/** @returns an end to it */
export function listen(listener: Listener): () => void {
  listeners.add(listener)
  follow()
  return () => {
    listeners.delete(listener)
    follow()
  }
}

/** Opens the stream where it is wanted, and closes it where it is not. A lost one comes back by itself. */
function follow(): void {
  const isWanted = listeners.size > 0 && !document.hidden
  if (!isWanted) {
    stream?.close()
    stream = undefined
    return
  }
  if (stream && stream.readyState !== EventSource.CLOSED) return
  stream = new EventSource('/events/stream')
  stream.onmessage = ({ data }: MessageEvent<string>) => {
    const { type } = JSON.parse(data) as { type: string }
    for (const listener of listeners) listener(type)
  }
}

document.addEventListener('visibilitychange', follow)
