/** Serves destinations to operators: delivery results, circuit breakers and rate limits. */

import type { Clock } from '../../../lib/clock.ts'
import type { DestinationQuestion, DestinationReport } from '../../../pipeline/queue/destination-report.ts'
import {
  type destinationStateCommands,
  listDestinationCaps,
} from '../../../pipeline/queue/destination-states.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { requireOperator } from '../auth/operator.ts'
import { listReply, ok, type Route } from '../route/route.ts'
import {
  destinationQuery,
  destinationsSchema,
  destinationView,
  readDestinationQuestion,
  readResume,
  readSlow,
  resumeBodySchema,
  resumeSchema,
  slowBodySchema,
  slowListSchema,
  slowSchema,
  slowView,
  unslowSchema,
} from './view-schema.ts'

interface DestinationRoutesOptions {
  reader: { reportDestinations(question: DestinationQuestion): Promise<DestinationReport> }
  run: Run<
    Pick<typeof destinationStateCommands, 'resumeDestination' | 'slowDestination' | 'unslowDestination'>
  >
  db: Db
  clock: Clock
  pathsTo: PathsTo
}

export function destinationRoutes(options: DestinationRoutesOptions): Route[] {
  const { reader, run, clock, pathsTo } = options
  return [
    ...slowRoutes(options),
    {
      method: 'GET',
      path: '/destinations',
      access: 'session',
      summary: 'List delivery results per destination and day: counts, replies, pauses (operator)',
      query: destinationQuery,
      replies: { 200: destinationsSchema },
      async handle(request) {
        requireOperator(request)
        const question = readDestinationQuestion(request.query, clock.now())
        const { total, entries } = await reader.reportDestinations(question)
        const paths = await pathsTo(entries.map(({ destination }) => destination))
        return listReply(
          { total, offset: question.offset },
          entries.map(destinationView(question.day, paths)),
        )
      },
    },
    {
      method: 'POST',
      path: '/destinations/resume',
      access: 'session',
      summary: 'Probe a paused destination now with a single delivery (operator)',
      body: resumeBodySchema,
      replies: { 200: resumeSchema },
      async handle(request) {
        requireOperator(request)
        const { destination } = readResume(await request.body())
        const resumed = await run('resumeDestination', { destination, now: clock.now() })
        return ok({ object: 'destination_resume', destination, resumed })
      },
    },
  ]
}

function slowRoutes({ run, db, clock }: DestinationRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/destinations/slow',
      access: 'session',
      summary: 'List destinations with a rate limit (operator)',
      replies: { 200: slowListSchema },
      async handle(request) {
        requireOperator(request)
        return ok({ object: 'list', data: (await listDestinationCaps(db)).map(slowView) })
      },
    },
    {
      method: 'POST',
      path: '/destinations/slow',
      access: 'session',
      summary: 'Set the rate limit of a destination in messages per minute (operator)',
      body: slowBodySchema,
      replies: { 200: slowSchema },
      async handle(request) {
        requireOperator(request)
        const { destination, messagesPerMinute: perMinute } = readSlow(await request.body())
        const cap = { destination, perMinute, createdAt: clock.now() }
        await run('slowDestination', cap)
        return ok(slowView(cap))
      },
    },
    {
      method: 'POST',
      path: '/destinations/unslow',
      access: 'session',
      summary: 'Remove the rate limit of a destination (operator)',
      body: resumeBodySchema,
      replies: { 200: unslowSchema },
      async handle(request) {
        requireOperator(request)
        const { destination } = readResume(await request.body())
        const ended = await run('unslowDestination', destination)
        return ok({ object: 'destination_unslow', destination, ended })
      },
    },
  ]
}
