/** Serves the queue to operators: view, hold, release, retry and cancel. */

import type { Clock } from '../../../lib/clock.ts'
import { listActiveHolds } from '../../../pipeline/queue/hold-rows.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { destinationOf, type QueueQuestion, type QueueView } from '../../../pipeline/queue/view.ts'
import type { MailSelector } from '../../../store/model/schema/steering.ts'
import type { Db } from '../../../store/model/schema.ts'
import { notFound } from '../api-error.ts'
import { requireOperator } from '../auth/operator.ts'
import { created, listReply, ok, type Route } from '../route/route.ts'
import { timestamp } from '../schema/timestamp.ts'
import {
  changeSchema,
  changeView,
  holdListSchema,
  holdSchema,
  holdView,
  listedHoldView,
  newHoldSchema,
  readNewHold,
  readSelector,
  releaseSchema,
  selectorSchema,
} from './schema.ts'
import { entryView, queueQuery, queueSchema, readQueueQuestion, tallyView } from './view-schema.ts'

interface QueueRoutesOptions {
  reader: { viewQueue(question: QueueQuestion): Promise<QueueView> }
  clock: Clock
  pathsTo: PathsTo
  queueAdmin: QueueAdmin
  db: Db
}

export function queueRoutes(options: QueueRoutesOptions): Route[] {
  return [
    viewRoute(options),
    ...holdRoutes(options),
    changeRoute(options, 'retry'),
    changeRoute(options, 'cancel'),
  ]
}

function viewRoute({ reader, clock, pathsTo }: QueueRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/queue',
    access: 'session',
    summary: 'List queued deliveries by domain or destination, with their age (operator)',
    query: queueQuery,
    replies: { 200: queueSchema },
    async handle(request) {
      requireOperator(request)
      const question = readQueueQuestion(request.query, clock.now())
      const { at, total, totals, entries } = await reader.viewQueue(question)
      const destinations = entries.flatMap(entry => destinationOf(question.by, entry) ?? [])
      const paths = await pathsTo([...new Set(destinations)])
      const { body, ...reply } = listReply(
        { total, offset: question.offset },
        entries.map(entryView(question.by, paths)),
      )
      return { ...reply, body: { ...body, as_of: timestamp(at), totals: tallyView(totals) } }
    },
  }
}

function holdRoutes({ queueAdmin, db }: QueueRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/queue/hold',
      access: 'session',
      summary: 'Hold matching mail in the queue, including future mail (operator); 200 if the hold exists',
      body: newHoldSchema,
      replies: { 200: holdSchema, 201: holdSchema },
      async handle(request) {
        requireOperator(request)
        const { selector, reason } = readNewHold(await request.body())
        await requireKnown(queueAdmin, selector)
        const { hold, isNew } = await queueAdmin.hold(selector, reason)
        return isNew ? created(holdView(hold)) : ok(holdView(hold))
      },
    },
    {
      method: 'GET',
      path: '/queue/holds',
      access: 'session',
      summary: 'List holds (operator)',
      replies: { 200: holdListSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: (await listActiveHolds(db)).map(listedHoldView) })
      },
    },
    {
      method: 'POST',
      path: '/queue/release',
      access: 'session',
      summary: 'Release a hold (operator)',
      body: selectorSchema,
      replies: { 200: releaseSchema },
      async handle(request) {
        requireOperator(request)
        const hold = await queueAdmin.release(readSelector(await request.body()))
        return ok({ object: 'queue_release', released: hold !== undefined })
      },
    },
  ]
}

const SUMMARIES = {
  retry: 'Try deferred mail now (operator)',
  cancel: 'Give up mail that waits or is held (operator)',
}

function changeRoute({ queueAdmin }: QueueRoutesOptions, what: 'retry' | 'cancel'): Route {
  return {
    method: 'POST',
    path: `/queue/${what}`,
    access: 'session',
    summary: SUMMARIES[what],
    body: selectorSchema,
    replies: { 200: changeSchema },
    async handle(request) {
      requireOperator(request)
      const selector = readSelector(await request.body())
      await requireKnown(queueAdmin, selector)
      return ok(changeView(await queueAdmin[what](selector)))
    },
  }
}

const NAMES = { account: 'Account', broadcast: 'Broadcast', email: 'Email' }

/** @throws ApiError 404 */
async function requireKnown(queueAdmin: QueueAdmin, selector: MailSelector): Promise<void> {
  const unknown = await queueAdmin.unknownIn(selector)
  if (unknown) throw notFound(NAMES[unknown])
}
