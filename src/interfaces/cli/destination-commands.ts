/**
 * `mailhorn destinations …` and `mailhorn queue destinations` show the queue and the delivery results of a
 * day, by destination.
 */

import { isUtcDay, utcDay } from '../../lib/periods.ts'
import { shortened } from '../../lib/shortened.ts'
import { type DestinationEntry, reportDestinations } from '../../pipeline/queue/destination-report.ts'
import { type PathState, type PathView, pathView } from '../../pipeline/queue/paths.ts'
import { AGE_LIMITS, type QueueEntry, VIEW_BY, viewQueue } from '../../pipeline/queue/view.ts'
import { tallyView } from '../api/queue/view-schema.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { CliCommand, Installation } from './command.ts'
import { printable, table, UsageError } from './control/result.ts'
import { cliPageOf, more, PAGING, PAGING_USAGE, pagingDetails } from './paging.ts'

const SHOWN_DESTINATIONS_MAX = 50
const TEXT_LENGTH_MAX = 60

export const destinationCliCommands: CliCommand[] = [
  ...VIEW_BY.map(
    (by): CliCommand => ({
      name: by === 'domain' ? 'queue ages' : 'queue destinations',
      usage: PAGING_USAGE,
      summary: `Show the age of queued deliveries by ${by}`,
      details: `${pagingDetails(`${by}s`, SHOWN_DESTINATIONS_MAX)}\n  The columns count deliveries by age, up to so many minutes since the email was accepted.`,
      options: PAGING,
      async run({ values, open }) {
        const page = cliPageOf(values, SHOWN_DESTINATIONS_MAX)
        const { db, clock, pathsTo } = await open()
        const all = { domain: null, accountId: null, class: null, ...page }
        const { entries, total } = await viewQueue(db, { ...all, by, now: clock.now() })
        const text = withMore(agesText(by, entries), more(page, entries.length, total))
        if (by === 'domain') return { json: entries.map(entry => entryJson(by, entry)), text }
        const shown = entries.flatMap(({ name }) => name ?? [])
        const paths = await pathsTo(shown)
        const json = entries.map(entry => ({
          ...entryJson(by, entry),
          paths: (paths.get(entry.name ?? '') ?? []).map(pathView),
        }))
        return { json, text: withMore(text, pathsText(shown, paths)) }
      },
    }),
  ),
  {
    name: 'destinations show',
    usage: `[--day <yyyy-mm-dd>] ${PAGING_USAGE}`,
    summary: 'Show delivery results per destination on a day (UTC), busiest first, and paused destinations',
    details: `  --day <day>   Day in UTC, such as 2026-11-28 (default: today).\n${pagingDetails('destinations', SHOWN_DESTINATIONS_MAX)}`,
    options: { ...PAGING, day: { type: 'string' } },
    async run({ values, open }) {
      const day = dayOf(values.day)
      const page = cliPageOf(values, SHOWN_DESTINATIONS_MAX)
      const { db, clock, pathsTo } = await open()
      const now = clock.now()
      const { entries, total } = await reportDestinations(db, {
        day: day ?? utcDay(now),
        destination: null,
        now,
        ...page,
      })
      const shown = entries.map(({ destination }) => destination)
      const paths = await pathsTo(shown)
      const text = withMore(destinationsText(entries), more(page, entries.length, total))
      const json = entries.map(entry => ({
        ...destinationJson(entry),
        paths: (paths.get(entry.destination) ?? []).map(pathView),
      }))
      return { json, text: withMore(text, pathsText(shown, paths)) }
    },
  },
  {
    name: 'destinations resume',
    usage: '<destination>',
    summary: 'Probe a paused destination now with a single delivery',
    details:
      '  <destination>  The name that `mailhorn destinations` shows; quote it if it consists of several hosts.',
    positionals: { min: 1, max: 1 },
    async run({ positionals, open }) {
      const { change }: Pick<Installation, 'change'> = await open()
      const destination = positionals[0]!
      await change('destination.resume', { destination })
      return {
        json: { destination },
        text: 'One delivery is tried now. If it fails, the pause doubles.',
      }
    },
  },
]

function withMore(text: string, rest: string | undefined): string {
  return rest === undefined ? text : `${text}\n\n${rest}`
}

/** Undefined if no current delivery state is known for these destinations. */
function pathsText(
  destinations: readonly string[],
  paths: ReadonlyMap<string, PathState[]>,
): string | undefined {
  const rows = destinations.flatMap(destination =>
    (paths.get(destination) ?? [])
      .map(pathView)
      .map(path => [
        shortened(destination, TEXT_LENGTH_MAX),
        path.source_ips.join(' ') || '(system default)',
        path.under_way,
        path.window,
        path.messages_per_second === null ? '' : `${path.messages_per_second}/s`,
        stateText(path),
      ]),
  )
  return rows.length === 0
    ? undefined
    : `Current delivery state:\n${table(['DESTINATION', 'FROM', 'IN PROGRESS', 'LIMIT', 'MAX RATE', 'STATE'], rows)}`
}

function stateText({ paused_until, pause_reason, probing, warmup_spent }: PathView): string {
  const reason = shortened(printable(pause_reason ?? ''), TEXT_LENGTH_MAX)
  if (probing) return 'probing'
  if (paused_until !== null) return `paused until ${paused_until}: ${reason}`
  return warmup_spent ? 'daily warm-up limit reached' : 'active'
}

/** @throws UsageError */
function dayOf(text: string | boolean | undefined): string | undefined {
  if (text === undefined) return undefined
  if (typeof text === 'string' && isUtcDay(text)) return text
  throw new UsageError('--day must be a date such as 2026-08-05')
}

function entryJson(by: (typeof VIEW_BY)[number], entry: QueueEntry) {
  return {
    [by]: entry.name,
    ...tallyView(entry),
    oldest_at: timestamp(entry.oldestAt),
    next_at: timestamp(entry.nextAt),
  }
}

function agesText(by: string, entries: readonly QueueEntry[]): string {
  if (entries.length === 0) return 'The queue is empty.'
  const limits = [...AGE_LIMITS.map(String), `${AGE_LIMITS.at(-1)}+`]
  const rows = entries.map(({ name, ages, held }) => [
    name === null ? '(unknown)' : shortened(name, TEXT_LENGTH_MAX),
    ages.reduce((sum, count) => sum + count, 0),
    held,
    ...ages,
  ])
  return table([by.toUpperCase(), 'TOTAL', 'HELD', ...limits], rows)
}

function destinationJson({ destination, counts, deferredBy, bouncedBy, pause, replies }: DestinationEntry) {
  return {
    destination,
    paused_until: timestamp(pause?.until ?? null),
    pause_reason: pause?.reason ?? null,
    ...counts,
    deferred_by_class: deferredBy,
    bounced_by_class: bouncedBy,
    replies: replies.map(({ form, example, count, lastAt }) => ({
      ...{ form, example, count },
      last_at: timestamp(lastAt),
    })),
  }
}

function destinationsText(entries: readonly DestinationEntry[]): string {
  if (entries.length === 0) return 'No deliveries on that day.'
  const rows = entries.map(({ destination, counts, pause, replies }) => [
    shortened(destination, TEXT_LENGTH_MAX),
    counts.delivered,
    counts.deferred,
    counts.bounced,
    counts.expired,
    pause === null ? '' : timestamp(pause.until),
    shortened(printable(pause?.reason ?? replies[0]?.example ?? ''), TEXT_LENGTH_MAX),
  ])
  return table(
    ['DESTINATION', 'DELIVERED', 'DEFERRED', 'BOUNCED', 'EXPIRED', 'PAUSED UNTIL', 'LAST REPLY'],
    rows,
  )
}
