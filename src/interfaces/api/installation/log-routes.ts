/** Serves the last lines of the log of this process to operators, newest first, with secrets redacted. */
import * as z from 'zod'
import { requireOperator } from '../auth/operator.ts'
import { ok, type Route } from '../route/route.ts'
import { readChoice, readNumber } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

/** From the least to the most severe. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

const levelSchema = z.enum(LEVELS)

const lineSchema = z
  .object({
    time: timeSchema,
    level: levelSchema,
    event: z.string().nullable(),
    message: z.string(),
    thread: z.string().nullable(),
    fields: z.record(z.string(), z.unknown()).meta({ description: 'Everything else in the line.' }),
  })
  .meta({ id: 'LogLine' })

export type LogLineView = z.output<typeof lineSchema>

const replySchema = z.object({
  object: z.literal('list'),
  has_more: z.boolean(),
  events: z.array(z.string()).meta({ description: 'Events of all lines that are kept.' }),
  since: timeSchema.nullable().meta({ description: 'Time of the oldest line that is kept.' }),
  data: z.array(lineSchema),
})

export type LogTailView = z.output<typeof replySchema>

const LIMIT = { fallback: 100, min: 1, max: 500 }
const query = {
  level: levelSchema.optional().meta({ description: 'Minimum level.' }),
  event: z.string().optional(),
  q: z.string().optional().meta({ description: 'Text in any part of the line, in any case.' }),
  limit: z.int().min(LIMIT.min).max(LIMIT.max).default(LIMIT.fallback),
}

/** @param tail returns the lines that are kept, oldest first */
export function logTailRoutes({ tail }: { tail: { lines(): string[] } }): Route[] {
  return [
    {
      method: 'GET',
      path: '/installation/log',
      access: 'session',
      scopes: ['operator'],
      summary: 'List the last lines of the log of this process, newest first (operator)',
      query,
      replies: { 200: replySchema },
      async handle(request) {
        requireOperator(request)
        const { query } = request
        const limit = readNumber(query, 'limit', LIMIT)
        const level = readChoice(query, 'level', LEVELS)
        const event = query.get('event')
        const text = (query.get('q') ?? '').toLowerCase()
        const lines = tail.lines().flatMap(line => parsed(line) ?? [])
        const found = lines.filter(
          ({ raw, view }) =>
            (level === undefined || LEVELS.indexOf(view.level) >= LEVELS.indexOf(level)) &&
            (event === null || event === '' || view.event === event) &&
            raw.toLowerCase().includes(text),
        )
        return ok({
          object: 'list',
          has_more: found.length > limit,
          events: [...new Set(lines.flatMap(({ view }) => view.event ?? []))].sort(),
          since: lines[0]?.view.time ?? null,
          data: found
            .slice(-limit)
            .reverse()
            .map(({ view }) => view),
        })
      },
    },
  ]
}

/** @returns undefined for a line that is torn, because it is being written or was overwritten */
function parsed(raw: string): { raw: string; view: LogLineView } | undefined {
  let line: Record<string, unknown>
  try {
    line = JSON.parse(raw)
  } catch {
    return undefined
  }
  const { time, level, event = null, thread = null, msg = '', ...fields } = line
  const view = lineSchema.safeParse({ time, level, event, message: msg, thread, fields })
  return view.success ? { raw, view: view.data } : undefined
}
