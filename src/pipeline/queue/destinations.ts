/**
 * Counts the results of attempts by destination and day, and keeps the most frequent refusals of each
 * destination.
 */
import type { Id } from '../../lib/ids.ts'
import { utcDay } from '../../lib/periods.ts'
import type { BounceClass } from '../../protocols/bounces/rules/bounce-class.ts'
import type { Tx } from '../../store/model/command.ts'
import type { DestinationReplyRow } from '../../store/model/schema/steering.ts'

/** `expired` is a delivery that was given up at the end of its maximum lifetime. */
const DESTINATION_RESULTS = ['delivered', 'deferred', 'bounced', 'expired'] as const
export type DestinationResult = (typeof DESTINATION_RESULTS)[number]

/** Countable result of an attempt that reached a destination. */
export interface CountedResult {
  destination: string
  result: DestinationResult
  /** Null when the delivery succeeded. */
  class: BounceClass | null
  /** The reply without addresses and numbers (see `replyFormOf`); null when the delivery succeeded. */
  replyForm: string | null
}

export interface Arrival {
  domain: string
  finishedAt: number
  reply: string | null
  counted: CountedResult
}

/** Account id of counters that belong to the installation and to no account. */
export const NOBODY: Id = new Uint8Array(16)
/** LIKE pattern that matches the counters of destinations only. */
export const DESTINATION_KINDS = 'destination.%'
/**
 * Number of reply forms counted separately per destination and day. Further ones count under an empty form.
 */
export const REPLY_FORMS_MAX = 20
const DAY_MS = 86_400_000
const FORM_CHARACTERS_MAX = 160
const REPLY_CHARACTERS_MAX = 1_000

export function destinationKind({
  destination,
  result,
  class: why,
}: Omit<CountedResult, 'replyForm'>): string {
  return `destination.${why === null ? result : `${result}.${why}`} ${destination}`
}

/** Inverse of `destinationKind`; undefined when the counter does not belong to a destination. */
export function parseDestinationKind(kind: string): Omit<CountedResult, 'replyForm'> | undefined {
  const [, result, why, destination] = /^destination\.([a-z]+)(?:\.([a-z-]+))? (.+)$/.exec(kind) ?? []
  const known = DESTINATION_RESULTS.find(candidate => candidate === result)
  return known && destination
    ? { destination, result: known, class: (why as BounceClass | undefined) ?? null }
    : undefined
}

/** Replaces words that contain digits or an address by `#`, except the leading reply codes. */
export function replyFormOf(text: string): string {
  const [codes = ''] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?\b/.exec(text) ?? []
  const words = text.slice(codes.length, REPLY_CHARACTERS_MAX).split(/\s+/)
  const same = words
    .map(word => (/[\d@]/.test(word) ? '#' : word))
    .filter((word, i, all) => word !== '#' || all[i - 1] !== '#')
  return `${codes}${same.join(' ')}`.trim().slice(0, FORM_CHARACTERS_MAX).toWellFormed()
}

/** Runs inside the command that finishes attempts. */
export async function countArrivals(tx: Tx, arrivals: readonly Arrival[]): Promise<void> {
  for (const { finishedAt, counted } of arrivals)
    tx.count(NOBODY, destinationKind(counted), utcDay(finishedAt), 1)
  await storeDomainDestinations(tx, arrivals)
  const refused = arrivals.filter(({ counted }) => counted.replyForm !== null)
  if (refused.length > 0) await countReplies(tx, refused)
}

/** Keeps the destination of each domain. A row is written when the destination changes, or after a day. */
async function storeDomainDestinations(tx: Tx, arrivals: readonly Arrival[]): Promise<void> {
  const latest = new Map(arrivals.map(arrival => [arrival.domain, arrival]))
  const domains = [...latest.keys()].sort()
  const known = await tx.rows.find(
    'domainDestinations',
    domains.map(domain => ({ domain })),
    ['destination', 'seenAt'],
  )
  for (const [i, domain] of domains.entries()) {
    const { counted, finishedAt: seenAt } = latest.get(domain)!
    const { destination } = counted
    if (known[i]?.destination === destination && known[i].seenAt > seenAt - DAY_MS) continue
    await tx.db
      .insertInto('domainDestinations')
      .values({ domain, destination, seenAt })
      .onConflict(conflict => conflict.column('domain').doUpdateSet({ destination, seenAt }))
      .execute()
  }
}

async function countReplies(tx: Tx, refused: readonly Arrival[]): Promise<void> {
  const byForm = new Map<string, DestinationReplyRow>()
  for (const arrival of refused) {
    const row = replyRow(arrival)
    const key = `${row.day} ${row.destination}\n${row.form}`
    const former = byForm.get(key)
    byForm.set(key, former ? { ...row, count: former.count + 1 } : row)
  }
  const rows = [...byForm].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const keys = rows.map(({ day, destination, form }) => ({ day, destination, form }))
  const known = await tx.rows.find('destinationReplies', keys, ['count'])
  for (const [i, row] of rows.entries())
    await addReply(tx, known[i] || !(await isFull(tx, row)) ? row : { ...row, form: '', example: '' })
}

function replyRow({ finishedAt, reply, counted }: Arrival): DestinationReplyRow {
  const { destination, result, class: why, replyForm: form } = counted
  return {
    day: utcDay(finishedAt),
    destination,
    form: form!,
    result,
    class: why!,
    count: 1,
    example: reply ?? '',
    lastAt: finishedAt,
  }
}

async function isFull({ db }: Tx, { day, destination }: DestinationReplyRow): Promise<boolean> {
  const { count } = await db
    .selectFrom('destinationReplies')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('day', '=', day)
    .where('destination', '=', destination)
    .executeTakeFirstOrThrow()
  return Number(count) >= REPLY_FORMS_MAX
}

async function addReply({ db }: Tx, row: DestinationReplyRow): Promise<void> {
  await db
    .insertInto('destinationReplies')
    .values(row)
    .onConflict(conflict =>
      conflict.columns(['day', 'destination', 'form']).doUpdateSet(eb => ({
        count: eb('destinationReplies.count', '+', row.count),
        lastAt: row.lastAt,
      })),
    )
    .execute()
}
