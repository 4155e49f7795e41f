/**
 * What became of attempts, counted by the site they went to and the day; and what sites said most when they
 * took none.
 */
import type { Id } from '../../lib/ids.ts'
import { utcDay } from '../../lib/periods.ts'
import type { BounceClass } from '../../protocols/bounces/bounce-class.ts'
import type { Tx } from '../../store/command.ts'
import type { DestinationReplyRow } from '../../store/schema/steering.ts'

/** `expired`: given up, since its time was over. */
const DESTINATION_RESULTS = ['delivered', 'deferred', 'bounced', 'expired'] as const
export type DestinationResult = (typeof DESTINATION_RESULTS)[number]

/** Of an attempt that came to a site, what is counted. */
export interface Destination {
  site: string
  result: DestinationResult
  /** Null where it was delivered. */
  class: BounceClass | null
  /** What is the same in replies that differ in addresses and numbers alone; null where it was delivered. */
  replyForm: string | null
}

export interface Arrival {
  domain: string
  finishedAt: number
  reply: string | null
  destination: Destination
}

/** Counters of the installation, which belong to no account. */
export const NOBODY: Id = new Uint8Array(16)
/** What all counters of destinations are called, and nothing else. */
export const DESTINATION_KINDS = 'destination.%'
/**
 * Different replies that are told apart, by site and day; the others are counted together, under an empty
 * form.
 */
export const REPLY_FORMS_MAX = 20
const DAY_MS = 86_400_000
const FORM_CHARACTERS_MAX = 160
const REPLY_CHARACTERS_MAX = 1_000

export function destinationKind({ site, result, class: why }: Omit<Destination, 'replyForm'>): string {
  return `destination.${why === null ? result : `${result}.${why}`} ${site}`
}

/** The other way round; undefined for what is no counter of a destination. */
export function parseDestinationKind(kind: string): Omit<Destination, 'replyForm'> | undefined {
  const [, result, why, site] = /^destination\.([a-z]+)(?:\.([a-z-]+))? (.+)$/.exec(kind) ?? []
  const known = DESTINATION_RESULTS.find(candidate => candidate === result)
  return known && site ? { site, result: known, class: (why as BounceClass | undefined) ?? null } : undefined
}

/** Words with digits or an address in them are a `#`, but for the codes that come first. */
export function replyFormOf(text: string): string {
  const [codes = ''] = /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?\b/.exec(text) ?? []
  const words = text.slice(codes.length, REPLY_CHARACTERS_MAX).split(/\s+/)
  const same = words
    .map(word => (/[\d@]/.test(word) ? '#' : word))
    .filter((word, i, all) => word !== '#' || all[i - 1] !== '#')
  return `${codes}${same.join(' ')}`.trim().slice(0, FORM_CHARACTERS_MAX).toWellFormed()
}

/** Part of the command that ends attempts. */
export async function countArrivals(tx: Tx, arrivals: readonly Arrival[]): Promise<void> {
  for (const { finishedAt, destination } of arrivals)
    tx.count(NOBODY, destinationKind(destination), utcDay(finishedAt), 1)
  await noteSites(tx, arrivals)
  const refused = arrivals.filter(({ destination }) => destination.replyForm !== null)
  if (refused.length > 0) await noteReplies(tx, refused)
}

/** Where the mail of a domain goes, for people: looked at each time, written when it is new, or a day old. */
async function noteSites(tx: Tx, arrivals: readonly Arrival[]): Promise<void> {
  const latest = new Map(arrivals.map(arrival => [arrival.domain, arrival]))
  const domains = [...latest.keys()].sort()
  const known = await tx.rows.find(
    'domainSites',
    domains.map(domain => ({ domain })),
    ['site', 'seenAt'],
  )
  for (const [i, domain] of domains.entries()) {
    const { destination, finishedAt: seenAt } = latest.get(domain)!
    const { site } = destination
    if (known[i]?.site === site && known[i].seenAt > seenAt - DAY_MS) continue
    await tx.db
      .insertInto('domainSites')
      .values({ domain, site, seenAt })
      .onConflict(conflict => conflict.column('domain').doUpdateSet({ site, seenAt }))
      .execute()
  }
}

async function noteReplies(tx: Tx, refused: readonly Arrival[]): Promise<void> {
  const said = new Map<string, DestinationReplyRow>()
  for (const arrival of refused) {
    const row = replyRow(arrival)
    const key = `${row.day} ${row.site}\n${row.form}`
    const former = said.get(key)
    said.set(key, former ? { ...row, count: former.count + 1 } : row)
  }
  const rows = [...said].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  const keys = rows.map(({ day, site, form }) => ({ day, site, form }))
  const known = await tx.rows.find('destinationReplies', keys, ['count'])
  for (const [i, row] of rows.entries())
    await addReply(tx, known[i] || !(await isFull(tx, row)) ? row : { ...row, form: '', example: '' })
}

function replyRow({ finishedAt, reply, destination }: Arrival): DestinationReplyRow {
  const { site, result, class: why, replyForm: form } = destination
  return {
    ...{ day: utcDay(finishedAt), site, form: form!, result, class: why!, count: 1 },
    ...{ example: reply ?? '', lastAt: finishedAt },
  }
}

async function isFull({ db }: Tx, { day, site }: DestinationReplyRow): Promise<boolean> {
  const { count } = await db
    .selectFrom('destinationReplies')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .where('day', '=', day)
    .where('site', '=', site)
    .executeTakeFirstOrThrow()
  return Number(count) >= REPLY_FORMS_MAX
}

async function addReply({ db }: Tx, row: DestinationReplyRow): Promise<void> {
  await db
    .insertInto('destinationReplies')
    .values(row)
    .onConflict(conflict =>
      conflict.columns(['day', 'site', 'form']).doUpdateSet(eb => ({
        count: eb('destinationReplies.count', '+', row.count),
        lastAt: row.lastAt,
      })),
    )
    .execute()
}
