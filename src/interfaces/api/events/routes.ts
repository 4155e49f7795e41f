/** Serves the events of the account, as a list and as server-sent events (WHATWG HTML standard, §9.2). */

import type { Clock } from '../../../lib/clock.ts'
import { firstIdAt, type Id, idTime, parseWireId, wireId } from '../../../lib/ids.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { listEvents } from '../../../resources/emails/event-rows.ts'
import type { EventBatch, EventFeed } from '../../../resources/events/feed.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { invalidField } from '../api-error.ts'
import { type ApiRequest, type Credential, ok, type Route } from '../route/route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { eventPageQuery, eventView, listedEventSchema, readEventId, readEventPage } from './schema.ts'

interface EventRoutesOptions {
  store: { db: Db; find: Find }
  feed: EventFeed
  /** Tells whether the session or access token of a stream still exists. */
  isValid(credential: Credential): Promise<boolean>
  /** Events at or before this time are outside the retention window. */
  horizonOf: Plans['horizonOf']
  clock: Clock
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // closes the connection when the service ends the stream, because no further request follows
  connection: 'close',
  // tells proxies not to buffer the stream
  'x-accel-buffering': 'no',
}
const CREDENTIAL_CHECK_MS = 15_000
/** Clients reconnect 2 s after a lost connection. */
const BEGINNING = Buffer.from('retry: 2000\n\n')
/** Comment line, which keeps proxies from closing an idle connection. */
const HEARTBEAT = Buffer.from(':\n\n')

export function eventRoutes({ store, feed, isValid, horizonOf, clock }: EventRoutesOptions): Route[] {
  const frameOf = rememberedFrames()

  async function* framesFor(
    credential: Credential,
    batches: AsyncIterable<EventBatch>,
  ): AsyncGenerator<Uint8Array> {
    yield BEGINNING
    let checkedAt = clock.monotonic()
    for await (const batch of batches) {
      if (clock.monotonic() - checkedAt >= CREDENTIAL_CHECK_MS) {
        if (!(await isValid(credential))) return
        checkedAt = clock.monotonic()
      }
      yield batch.length === 0 ? HEARTBEAT : frameOf(batch)
    }
  }

  /** Ends a stream when its access token expires. @returns the function to call when the stream has ended */
  const endsInTime = (credential: Credential, end: () => void) => {
    if (credential.kind !== 'token' || credential.expiresAt === null) return end
    const timer = clock.timer(credential.expiresAt - clock.now(), end)
    return () => {
      timer.cancel()
      end()
    }
  }

  return [
    {
      method: 'GET',
      path: '/activity',
      access: 'session',
      summary: 'List the events of the account, newest first',
      query: eventPageQuery,
      replies: { 200: listSchema(listedEventSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readEventPage(query)
        const { total, hasMore, events } = await listEvents(
          store,
          accountId,
          await horizonOf(accountId),
          page,
        )
        const keys = events.map(({ subjectId: id }) => ({ accountId, id }))
        const emails = await store.find('emails', keys, ['subject'])
        const data = events.map((event, i) => ({ ...eventView(event), subject: emails[i]?.subject ?? null }))
        return ok({ object: 'list', total, has_more: hasMore, data })
      },
    },
    {
      method: 'GET',
      path: '/activity/stream',
      access: 'session',
      summary: 'Stream events as server-sent events; `Last-Event-ID` resumes after an event',
      query: { after: eventPageQuery.after },
      replies: { 200: 'text/event-stream' },
      async handle(request) {
        const { credential } = request
        const { accountId } = credential
        const since = lastSeen(request)
        const horizon = await horizonOf(accountId)
        const inSight = since && idTime(since) <= horizon ? firstIdAt(horizon + 1) : since
        const { batches, end } = await feed.follow(accountId, inSight)
        const done = endsInTime(credential, end)
        return { status: 200, headers: STREAM_HEADERS, content: framesFor(credential, batches), done }
      },
    },
  ]
}

/**
 * A reconnecting client sends the id of the last event in a header.
 * @throws ApiError
 */
function lastSeen({ headers, query }: ApiRequest): Id | undefined {
  const text = headers['last-event-id']
  if (typeof text !== 'string' || text === '') return readEventId(query, 'after')
  const id = parseWireId('evt', text)
  if (!id) throw invalidField('last-event-id', "The `Last-Event-ID` header must be an event's id.")
  return id
}

/** Caches the encoded frame of a batch, so that streams of the same account share its bytes. */
function rememberedFrames(): (batch: EventBatch) => Uint8Array {
  const frames = new WeakMap<EventBatch, Uint8Array>()
  return batch => {
    const known = frames.get(batch)
    if (known) return known
    const text = batch.map(
      event => `id: ${wireId('evt', event.id)}\ndata: ${JSON.stringify(eventView(event))}\n\n`,
    )
    const frame = Buffer.from(text.join(''))
    frames.set(batch, frame)
    return frame
  }
}
