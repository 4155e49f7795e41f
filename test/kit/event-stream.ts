/**
 * A client of server-sent events, as a browser's: reads what comes, and can come back after what it has seen.
 */
import { until } from './until.ts'

export interface StreamedEvent {
  id: string
  type: string
  subject_id: string
  recipient: string | null
}

export interface EventStream {
  status: number
  headers: Headers
  events: StreamedEvent[]
  /** Comments that have come. */
  readonly heartbeatCount: number
  /** Resolves with the types seen, once there are so many. @throws Error if the stream ends before */
  types(count: number): Promise<string[]>
  /** Resolves when the server ends it. */
  ended: Promise<void>
  close(): Promise<void>
}

export async function openEventStream(
  baseUrl: string,
  { session, lastEventId, query = '' }: { session: string; lastEventId?: string; query?: string },
): Promise<EventStream> {
  const response = await fetch(`${baseUrl}/activity/stream${query}`, {
    headers: {
      authorization: `Bearer ${session}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  })
  const events: StreamedEvent[] = []
  let heartbeatCount = 0
  const reader = response.body!.getReader()
  const take = (block: string) => {
    if (block.startsWith(':')) heartbeatCount++
    const id = /^id: (.*)$/m.exec(block)?.[1]
    const data = /^data: (.*)$/m.exec(block)?.[1]
    if (id === undefined || data === undefined) return
    const event = JSON.parse(data) as StreamedEvent
    if (event.id !== id) throw new Error(`the event ${event.id} came as ${id}`)
    events.push(event)
  }
  const read = async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      const blocks = (rest + decoder.decode(piece.value, { stream: true })).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) take(block)
    }
  }
  let hasEnded = false
  const ended = read()
    .catch(() => {})
    .finally(() => {
      hasEnded = true
    })
  return {
    status: response.status,
    headers: response.headers,
    events,
    get heartbeatCount() {
      return heartbeatCount
    },
    async types(count) {
      await until(() => events.length >= count || hasEnded)
      if (events.length < count) throw new Error(`the stream ended after ${events.length} of ${count} events`)
      return events.map(({ type }) => type)
    },
    ended,
    close: () => reader.cancel(),
  }
}
