/** Destinations, for operators: how each site takes our mail, and a word to one that rests. */

import type { Clock } from '../../lib/clock.ts'
import type { DestinationQuestion, DestinationReport } from '../../queue/destination-report.ts'
import type { PathsTo } from '../../queue/paths.ts'
import type { Run } from '../../store/command.ts'
import type { siteCommands } from '../../store/queue/site-states.ts'
import { insistOnOperator } from '../operator.ts'
import { listReply, ok, type Route } from '../route.ts'
import {
  destinationQuery,
  destinationsSchema,
  destinationView,
  readDestinationQuestion,
  readResume,
  resumeBodySchema,
  resumeSchema,
} from '../wire/queue-view.ts'

interface DestinationRoutesOptions {
  reader: { reportDestinations(question: DestinationQuestion): Promise<DestinationReport> }
  run: Run<Pick<typeof siteCommands, 'resumeSite'>>
  clock: Clock
  pathsTo: PathsTo
}

export function destinationRoutes({ reader, run, clock, pathsTo }: DestinationRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/destinations',
      access: 'session',
      summary: 'How sites take our mail on a day: counts, replies, rests (operator)',
      query: destinationQuery,
      replies: { 200: destinationsSchema },
      async handle(request) {
        insistOnOperator(request)
        const question = readDestinationQuestion(request.query, clock.now())
        const { total, entries } = await reader.reportDestinations(question)
        const paths = await pathsTo(entries.map(({ site }) => site))
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
      summary: 'Try a site that rests now, with a single delivery (operator)',
      body: resumeBodySchema,
      replies: { 200: resumeSchema },
      async handle(request) {
        insistOnOperator(request)
        const { site } = readResume(await request.body())
        const resumed = await run('resumeSite', { site, now: clock.now() })
        return ok({ object: 'destination_resume', site, resumed })
      },
    },
  ]
}
