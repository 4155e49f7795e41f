/** `mailhorn queue …`: shows queued deliveries and retries deferred ones. */

import { shortened } from '../../lib/shortened.ts'
import { type QueueEntry, type QueueView, viewQueue } from '../../pipeline/queue/view.ts'
import { parseDomain } from '../../protocols/smtp/address.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { CliCommand } from './command.ts'
import type { Selected } from './control/queue-operations.ts'
import { duration, printable, table, UsageError } from './control/result.ts'
import { SELECTING, selectedIn, steerAll } from './hold-commands.ts'
import { type CliPage, cliPageOf, more, PAGING, PAGING_USAGE, pagingDetails } from './paging.ts'

const SHOWN_DOMAINS_MAX = 50
const REPLY_LENGTH_MAX = 60
/** Maximum number of domains of one command. */
const RETRIED_DOMAINS_MAX = 500

type Counts = Pick<QueueEntry, 'neverTried' | 'deferred' | 'underWay' | 'held'>

export const queueCliCommands: CliCommand[] = [
  {
    name: 'queue show',
    usage: PAGING_USAGE,
    summary: 'Show queued deliveries by domain, largest first',
    details: pagingDetails('domains', SHOWN_DOMAINS_MAX),
    options: PAGING,
    async run({ values, open }) {
      const page = cliPageOf(values, SHOWN_DOMAINS_MAX)
      const { db, clock } = await open()
      const all = { by: 'domain', domain: null, accountId: null, class: null } as const
      const view = await viewQueue(db, { ...all, now: clock.now(), ...page })
      return { json: queueJson(view), text: queueText(view, page) }
    },
  },
  {
    name: 'queue retry',
    usage: '<domain>… | --all | [--account <id>] [--broadcast <id>] [--email <id>]',
    summary: 'Retry deferred deliveries immediately',
    options: { ...SELECTING, all: { type: 'boolean' } },
    positionals: { least: 0, most: RETRIED_DOMAINS_MAX },
    async run({ values, positionals, open }) {
      const isSelected = Object.keys(SELECTING).some(name => values[name] !== undefined)
      const ways = [values.all === true, positionals.length > 0, isSelected].filter(Boolean)
      if (ways.length !== 1) throw new UsageError('specify the domains to retry, --all, or a selection')
      const selections = isSelected ? [selectedIn(values)] : positionals.map(inDomain)
      const installation = await open()
      let deliveries = 0
      for (const mail of values.all ? [null] : selections)
        deliveries += await steerAll(installation, 'retry', mail)
      const what = deliveries === 1 ? '1 deferred delivery' : `${deliveries} deferred deliveries`
      return {
        json: { deliveries },
        text: `${what} will be tried next. Holds and paused destinations still apply.`,
      }
    },
  },
]

/** @throws UsageError */
function inDomain(text: string): Selected {
  const domain = parseDomain(text)
  if (domain === undefined) throw new UsageError(`"${text}" is not a valid domain`)
  return selectedIn({ domain })
}

function queueJson({ totals, total, entries }: QueueView) {
  return {
    ...countsOf(totals),
    domain_count: total,
    domains: entries.map(({ name, oldestAt, nextAt, lastReply, ...tally }) => ({
      domain: name,
      ...countsOf(tally),
      oldest_at: timestamp(oldestAt),
      next_at: timestamp(nextAt),
      last_reply: lastReply,
    })),
  }
}

function countsOf({ neverTried, deferred, underWay, held }: Counts) {
  return { fresh: neverTried, deferred, under_way: underWay, held }
}

function queueText({ at, totals, total, entries }: QueueView, page: CliPage): string {
  if (total === 0) return 'The queue is empty.'
  const rows = entries.map(({ name, neverTried, deferred, underWay, held, oldestAt, nextAt, lastReply }) => [
    ...[name!, neverTried, deferred, underWay, held],
    duration(at - oldestAt),
    nextAt === null ? '' : nextAt <= at ? 'now' : `in ${duration(nextAt - at)}`,
    shortened(printable(lastReply ?? ''), REPLY_LENGTH_MAX),
  ])
  const { neverTried, deferred, underWay, held } = totals
  const lines = [
    table(['DOMAIN', 'QUEUED', 'DEFERRED', 'IN PROGRESS', 'HELD', 'OLDEST', 'NEXT', 'LAST REPLY'], rows),
    '',
    `${neverTried} queued, ${deferred} deferred, ${underWay} in progress, ${held} held, for ${total} domains.`,
  ]
  const rest = more(page, entries.length, total)
  if (rest !== undefined) lines.push(rest)
  return lines.join('\n')
}
