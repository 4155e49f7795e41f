/**
 * Counts the results of a broadcast by the mailbox provider of the recipients, which shows where mail is
 * refused or not read. Runs on the query worker.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { type SqlBool, sql } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { visibleSince } from '../../resources/emails/visible.ts'
import type { BroadcastRow, Db } from '../../store/model/schema.ts'

export interface ProviderQuestion {
  broadcast: Pick<BroadcastRow, 'accountId' | 'id' | 'firstEmailId' | 'lastEmailId'>
  /** Emails that ended at or before this time are not visible, in ms since the epoch. */
  horizon: number
}

const FIGURES = ['sent', 'delivered', 'delayed', 'bounced', 'complained', 'opened', 'clicked'] as const
export type ProviderFigures = Record<(typeof FIGURES)[number], number>

export interface ProviderResults {
  /** Providers with the most emails; the domain of the addresses where the provider is not known. */
  providers: ({ provider: string } & ProviderFigures)[]
  /** Sums of all further providers; null if there are none. */
  others: ProviderFigures | null
  /** False if the time was up before all emails were counted. */
  isComplete: boolean
}

/** Conditions on an email, by what they count. */
const CONDITIONS: Readonly<Record<keyof ProviderFigures, ReturnType<typeof sql<SqlBool>>>> = {
  sent: sql`emails.status in ('sent', 'delivery_delayed', 'delivered', 'bounced', 'complained')`,
  delivered: sql`emails.status in ('delivered', 'complained')`,
  delayed: sql`emails.status = 'delivery_delayed'`,
  bounced: sql`emails.status = 'bounced'`,
  complained: sql`emails.status = 'complained'`,
  opened: sql`emails.open_count > 0`,
  clicked: sql`emails.click_count > 0`,
}

const PROVIDERS_MAX = 15
/** Emails per statement, which takes some milliseconds. */
const CHUNK_EMAILS = 5_000
const COUNTING_MS_MAX = 10_000

/** @param size emails per statement */
export async function countByProvider(
  db: Db,
  clock: Pick<Clock, 'monotonic'>,
  { broadcast, horizon }: ProviderQuestion,
  size = CHUNK_EMAILS,
): Promise<ProviderResults> {
  const { firstEmailId, lastEmailId } = broadcast
  const sums = new Map<string, ProviderFigures>()
  if (!firstEmailId || !lastEmailId) return { providers: [], others: null, isComplete: true }
  const endsAt = clock.monotonic() + COUNTING_MS_MAX
  let isComplete = true
  for (let from: Id | undefined = firstEmailId; from; await turn()) {
    if (clock.monotonic() > endsAt) {
      isComplete = false
      break
    }
    const next: Id | undefined = await startOfNext(db, broadcast, from, size)
    for (const { provider, ...figures } of await countBetween(db, { broadcast, horizon }, from, next))
      sums.set(provider, added(sums.get(provider) ?? NOTHING, figures))
    from = next
  }
  const sorted = [...sums]
    .filter(([, { sent }]) => sent > 0)
    .sort(([a, one], [b, other]) => other.sent - one.sent || (a < b ? -1 : 1))
  const rest = sorted.slice(PROVIDERS_MAX).map(([, figures]) => figures)
  return {
    providers: sorted.slice(0, PROVIDERS_MAX).map(([provider, figures]) => ({ provider, ...figures })),
    others: rest.length > 0 ? rest.reduce(added) : null,
    isComplete,
  }
}

const NOTHING = Object.fromEntries(FIGURES.map(figure => [figure, 0])) as ProviderFigures

function added(one: ProviderFigures, other: ProviderFigures): ProviderFigures {
  return Object.fromEntries(FIGURES.map(key => [key, one[key] + other[key]])) as ProviderFigures
}

/** Returns the first email of the account after a chunk; undefined for the last chunk. */
async function startOfNext(
  db: Db,
  { accountId, lastEmailId }: ProviderQuestion['broadcast'],
  from: Id,
  size: number,
): Promise<Id | undefined> {
  const next = await db
    .selectFrom('emails')
    .select('id')
    .where('accountId', '=', accountId)
    .where('id', '>=', from)
    .where('id', '<=', lastEmailId!)
    .orderBy('id')
    .limit(1)
    .offset(size)
    .executeTakeFirst()
  return next?.id
}

/** Counts the emails from one id up to another one, which is not included. */
async function countBetween(
  db: Db,
  { broadcast: { accountId, id, lastEmailId }, horizon }: ProviderQuestion,
  from: Id,
  next: Id | undefined,
) {
  const rows = await db
    .selectFrom('emails')
    .innerJoin('deliveries', join =>
      join.onRef('deliveries.emailId', '=', 'emails.id').on('deliveries.ordinal', '=', 0),
    )
    .leftJoin('domainDestinations', 'domainDestinations.domain', 'deliveries.domain')
    .where('emails.accountId', '=', accountId)
    .where('emails.id', '>=', from)
    .where('emails.id', next ? '<' : '<=', next ?? lastEmailId!)
    .where('emails.broadcastId', '=', id)
    .where(visibleSince(horizon))
    .select(eb => [
      // destinations that are no known provider have the name of a host, which says less than the domain
      eb
        .case()
        .when('domainDestinations.destination', 'not like', '%.%')
        .then(eb.ref('domainDestinations.destination'))
        .else(eb.ref('deliveries.domain'))
        .end()
        .as('provider'),
      ...FIGURES.map(figure =>
        sql<number>`sum(case when ${CONDITIONS[figure]} then 1 else 0 end)`.as(figure),
      ),
    ])
    .groupBy(sql`provider`)
    .execute()
  return rows.map(({ provider, ...figures }) => ({
    provider: provider!,
    ...(Object.fromEntries(
      Object.entries(figures).map(([key, sum]) => [key, Number(sum)]),
    ) as ProviderFigures),
  }))
}
