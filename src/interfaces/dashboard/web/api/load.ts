/**
 * Loads data from the API. The cached response is shown at once, then the current one, which is refreshed
 * while it is visible.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, call } from './client.ts'
import { onRestored } from './connection.ts'
import { listen } from './live.ts'

export interface Loaded<T> {
  /** Latest response for this path, possibly from the cache. */
  data: T | undefined
  /** Error of the latest request. */
  error: ApiError | undefined
  isLoading: boolean
  reload(): void
  /** Shows this data until the next refresh, for example the reply to a change. */
  put(data: T): void
}

export interface LoadOptions {
  /** Interval of refreshes while the page is visible, in ms. */
  everyMs?: number | undefined
  /** Prefix of event types that cause a refresh, such as `email.`. */
  on?: string
  /** Time for which a response is not asked for again, in ms. */
  keptMs?: number
}

/** Minimum interval between refreshes caused by events. */
const CALM_MS = 700
const REMEMBERED_MAX = 60
const remembered = new Map<string, unknown>()
/** Times at which the remembered data was read. */
const readAt = new Map<string, number>()
const begun = new Map<string, Promise<unknown>>()

/** @param path null loads nothing */
export function useLoad<T>(path: string | null, { everyMs, on, keptMs = 0 }: LoadOptions = {}): Loaded<T> {
  const [, redraw] = useState(0)
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn(n => n + 1), [])
  const state = useRef<{ path: string | null; error: ApiError | undefined; isLoading: boolean }>({
    ...{ path: null, error: undefined, isLoading: path !== null },
  })
  const interval = useRef(everyMs)
  interval.current = everyMs
  const isRepeated = everyMs !== undefined
  if (state.current.path !== path) state.current = { path, error: undefined, isLoading: path !== null }

  useEffect(() => {
    if (path === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const over = new AbortController()
    const read = async () => {
      if (document.hidden && isRepeated) return
      try {
        const isKept = Date.now() - (readAt.get(path) ?? Number.NEGATIVE_INFINITY) < keptMs
        if (!isKept) {
          remember(path, await readTogether<T>(path))
          readAt.set(path, Date.now())
        }
        if (over.signal.aborted) return
        state.current = { path, error: undefined, isLoading: false }
      } catch (error) {
        if (over.signal.aborted) return
        if (!(error instanceof ApiError)) throw error
        state.current = { path, error, isLoading: false }
      }
      redraw(n => n + 1)
      if (isRepeated) timer = setTimeout(read, interval.current)
    }
    const onSeen = () => {
      clearTimeout(timer)
      if (!document.hidden) void read()
    }
    void read()
    if (isRepeated) document.addEventListener('visibilitychange', onSeen)
    const endRestored = onRestored(reload)
    return () => {
      endRestored()
      over.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onSeen)
    }
  }, [path, isRepeated, turn])

  useEvents(path === null ? undefined : on, reload)

  const put = useCallback(
    (data: T) => {
      if (path !== null) remember(path, data)
      redraw(n => n + 1)
    },
    [path],
  )
  return {
    data: path === null ? undefined : (remembered.get(path) as T | undefined),
    error: state.current.error,
    isLoading: state.current.isLoading,
    reload,
    put,
  }
}

/** Calls `then` soon after events whose types have the prefix, at most once per `CALM_MS`. */
function useEvents(prefix: string | undefined, then: () => void): void {
  useEffect(() => {
    if (prefix === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = listen(type => {
      if (!type.startsWith(prefix)) return
      timer ??= setTimeout(() => {
        timer = undefined
        then()
      }, CALM_MS)
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [prefix, then])
}

/** Deduplicates concurrent requests for the same path. */
function readTogether<T>(path: string): Promise<T> {
  const known = begun.get(path)
  if (known) return known as Promise<T>
  const reading = call<T>('GET', path)
  begun.set(path, reading)
  setTimeout(() => begun.delete(path))
  return reading
}

/** Clears the cache so that one user never sees the data of another. */
export function forgetAll(): void {
  remembered.clear()
  readAt.clear()
}

function remember(path: string, data: unknown): void {
  remembered.delete(path)
  remembered.set(path, data)
  if (remembered.size <= REMEMBERED_MAX) return
  const oldest = remembered.keys().next().value!
  remembered.delete(oldest)
  readAt.delete(oldest)
}
