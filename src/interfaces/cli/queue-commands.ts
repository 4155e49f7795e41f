/** `mailhorn queue …`: shows, retries, holds, releases and cancels queued deliveries. */

import { shortened } from '../../lib/shortened.ts'
import { listActiveHolds } from '../../pipeline/queue/hold-rows.ts'
import { type QueueEntry, type QueueView, viewQueue } from '../../pipeline/queue/view.ts'
import { parseDomain } from '../../protocols/smtp/address.ts'
import type { QueueHoldRow } from '../../store/model/schema/steering.ts'
import { holdView } from '../api/queue/schema.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import { type CliCommand, type CommandInput, type Installation, textOf } from './command.ts'
import type { Selected } from './control/queue-operations.ts'
import { duration, printable, table, UsageError } from './control/result.ts'
import { type CliPage, cliPageOf, more, PAGING, PAGING_USAGE, pagingDetails } from './paging.ts'

const SHOWN_DOMAINS_MAX = 50
const REASON_LENGTH_MAX = 80
/** Maximum number of domains of one command. */
const RETRIED_DOMAINS_MAX = 500

const SELECTING = {
  domain: { type: 'string' },
  account: { type: 'string' },
  broadcast: { type: 'string' },
  email: { type: 'string' },
  'entered-before': { type: 'string' },
  'sender-domain': { type: 'string' },
} as const
const SELECTION_USAGE =
  '[--domain <name>] [--sender-domain <name>] [--account <id>] [--broadcast <id>] [--email <id>] [--entered-before <time>]'
const SELECTION_DETAILS = `  Selects all mail that matches every given option; at least one is required.

  --domain <name>          Mail to recipients in this domain.
  --sender-domain <name>   Mail from this domain and its subdomains.
  --account <id>           Mail of this account (acc_…).
  --broadcast <id>         Mail of this broadcast (brd_…).
  --email <id>             This email (eml_…).
  --entered-before <time>  Mail accepted before this time, such as 2026-11-28T00:30:00Z.`

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
    usage:
      '<domain>… | --all | [--sender-domain <name>] [--account <id>] [--broadcast <id>] [--email <id>] [--entered-before <time>]',
    summary: 'Retry deferred deliveries immediately',
    details: `  Give the domains of the recipients, --all, or a selection.
  --all                    All deferred deliveries.

${SELECTION_DETAILS}`,
    options: { ...SELECTING, all: { type: 'boolean' } },
    positionals: { min: 0, max: RETRIED_DOMAINS_MAX },
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
  {
    name: 'queue holds',
    usage: '',
    summary: 'List holds',
    async run({ open }) {
      const { db, clock } = await open()
      const holds = await listActiveHolds(db)
      return { json: holds.map(holdJson), text: holdsText(holds, clock.now()) }
    },
  },
  {
    name: 'queue hold',
    usage: `${SELECTION_USAGE} [--reason <text>]`,
    summary: 'Hold current and future deliveries in the queue until they are released',
    details: `${SELECTION_DETAILS}
  --reason <text>          Why; shown with the hold.

  Deliveries in progress are completed. Time on hold does not count towards expiry.`,
    options: { ...SELECTING, reason: { type: 'string' } },
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      const held = await change('queue.hold', { mail, reason: textOf(values.reason) })
      return {
        json: held,
        text: held.is_new
          ? 'Matching mail is held, including mail that arrives later.'
          : 'This hold already exists.',
      }
    },
  },
  {
    name: 'queue release',
    usage: SELECTION_USAGE,
    summary: 'Release the hold that was created with the same options',
    details: SELECTION_DETAILS,
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const { change } = await open()
      return { json: await change('queue.release', { mail }), text: 'The hold was released.' }
    },
  },
  {
    name: 'queue cancel',
    usage: SELECTION_USAGE,
    summary: 'Cancel queued and held deliveries',
    details: `${SELECTION_DETAILS}

  Deliveries in progress continue; to stop all deliveries, hold them first.`,
    options: SELECTING,
    async run({ values, open }) {
      const mail = selectedIn(values)
      const deliveries = await steerAll(await open(), 'cancel', mail)
      return { json: { deliveries }, text: `${counted(deliveries)} canceled.` }
    },
  },
]

/** @throws UsageError if no selection is given */
function selectedIn(values: CommandInput['values']): Selected {
  const time = textOf(values['entered-before'])
  const sender = textOf(values['sender-domain'])
  const mail = {
    domain: textOf(values.domain),
    account_id: textOf(values.account),
    broadcast_id: textOf(values.broadcast),
    email_id: textOf(values.email),
    ...(time !== null && { entered_before: time }),
    ...(sender !== null && { sender_domain: sender }),
  }
  if (Object.values(mail).every(value => value === null))
    throw new UsageError(
      'specify --domain, --sender-domain, --account, --broadcast, --email or --entered-before',
    )
  return mail
}

/**
 * Works through all deliveries, in batches.
 *
 * @param mail null to retry all deferred mail
 * @returns the number of deliveries
 */
async function steerAll(
  { change }: Pick<Installation, 'change'>,
  what: 'retry' | 'cancel',
  mail: Selected | null,
): Promise<number> {
  let sum = 0
  for (let hasMore = true; hasMore; ) {
    const part = await change('queue.steer', { what, mail })
    sum += part.deliveries
    hasMore = part.has_more
  }
  return sum
}

function counted(deliveries: number): string {
  return deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`
}

function holdJson(hold: QueueHoldRow) {
  const { object: _, ...shown } = holdView(hold)
  return shown
}

function holdsText(holds: readonly QueueHoldRow[], now: number): string {
  if (holds.length === 0) return 'There are no holds.'
  const rows = holds.map(hold => {
    const { domain, account_id: account, broadcast_id: broadcast, email_id: email, ...rest } = holdJson(hold)
    const time = rest.entered_before && `entered before ${rest.entered_before}`
    const sender = rest.sender_domain && `from ${rest.sender_domain}`
    const mail = [domain, sender, account, broadcast, email, time].filter(part => part !== null).join(' ')
    return [mail, duration(now - hold.createdAt), printable(hold.reason ?? '')]
  })
  return table(['SELECTION', 'AGE', 'REASON'], rows)
}

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
    domains: entries.map(({ name, oldestAt, nextAt, lastReply, explanation, ...tally }) => ({
      domain: name,
      ...countsOf(tally),
      oldest_at: timestamp(oldestAt),
      next_at: timestamp(nextAt),
      last_reply: lastReply,
      explanation,
    })),
  }
}

function countsOf({ neverTried, deferred, underWay, held }: Counts) {
  return { fresh: neverTried, deferred, under_way: underWay, held }
}

function queueText({ at, totals, total, entries }: QueueView, page: CliPage): string {
  if (total === 0) return 'The queue is empty.'
  const rows = entries.map(
    ({ name, neverTried, deferred, underWay, held, oldestAt, nextAt, explanation }) => [
      ...[name!, neverTried, deferred, underWay, held],
      duration(at - oldestAt),
      nextAt === null ? '–' : nextAt <= at ? 'now' : `in ${duration(nextAt - at)}`,
      shortened(printable(explanation?.summary ?? ''), REASON_LENGTH_MAX),
    ],
  )
  const { neverTried, deferred, underWay, held } = totals
  const lines = [
    table(['DOMAIN', 'QUEUED', 'DEFERRED', 'IN PROGRESS', 'HELD', 'OLDEST', 'NEXT', 'REASON'], rows),
    '',
    `${neverTried} queued, ${deferred} deferred, ${underWay} in progress, ${held} held, for ${total === 1 ? '1 domain' : `${total} domains`}.`,
  ]
  const rest = more(page, entries.length, total)
  if (rest !== undefined) lines.push(rest)
  return lines.join('\n')
}
