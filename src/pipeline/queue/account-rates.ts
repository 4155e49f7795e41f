/**
 * Watches the bounce rate and the complaint rate of each account, because one account with unwanted mail
 * harms the reputation of the source addresses that all accounts share. Above one threshold the operator gets
 * an alert; above another the account's mail is held until the operator releases it.
 *
 * In: the counters of the last 24 hours. Out: alerts and holds. Called by the maintenance sweeper.
 */

import type { Clock } from '../../lib/clock.ts'
import { type Id, type IdSource, wireId } from '../../lib/ids.ts'
import { type alertCommands, hourOf } from '../../resources/alerts/operator-alerts.ts'
import { metricKind, periodOf, quarterOf } from '../../resources/events/metrics.ts'
import type { Run } from '../../store/model/command.ts'
import type { OperatorAlertRow } from '../../store/model/schema/alerts.ts'
import type { Db } from '../../store/model/schema.ts'
import type { holdCommands } from './hold.ts'

/** Thresholds per 10,000 deliveries. Null turns a threshold off. */
export interface RateTerms {
  alertBounces: number | null
  alertComplaints: number | null
  pauseBounces: number | null
  pauseComplaints: number | null
}

/** Results of one account within a day. */
interface AccountFeedback {
  delivered: number
  /** Number of permanent bounces. */
  bounced: number
  complained: number
}

interface RateFinding {
  kind: 'account-bounces' | 'account-complaints'
  isTooMuch: boolean
  /** Message for the operator. */
  text: string
}

interface WatchOptions {
  db: Db
  run: Run<typeof alertCommands & typeof holdCommands>
  clock: Clock
  newId: IdSource
  terms: RateTerms
  onAlert(alert: OperatorAlertRow): void
}

const DAY_MS = 86_400_000
/** With fewer deliveries, a few bad addresses would already be a high rate. */
const DELIVERIES_MIN = 1_000
const ACCOUNTS_PER_STEP_MAX = 100
const METRICS = ['delivered', 'bounced_permanent', 'complained'] as const
const KINDS = METRICS.map(metric => metricKind(metric, null, null))

export function judgeRates(
  { delivered, bounced, complained }: AccountFeedback,
  terms: RateTerms,
): RateFinding[] {
  const all = delivered + bounced
  if (all < DELIVERIES_MIN) return []
  const judge = (
    kind: RateFinding['kind'],
    count: number,
    alert: number | null,
    pause: number | null,
    did: string,
  ) => {
    const per10000 = (count * 10_000) / all
    const isTooMuch = pause !== null && per10000 >= pause
    if (!isTooMuch && (alert === null || per10000 < alert)) return []
    return [{ kind, isTooMuch, text: `${(per10000 / 100).toFixed(2)} % of ${all} deliveries in 24 h ${did}` }]
  }
  return [
    ...judge('account-bounces', bounced, terms.alertBounces, terms.pauseBounces, 'bounced for good'),
    ...judge(
      'account-complaints',
      complained,
      terms.alertComplaints,
      terms.pauseComplaints,
      'were complained about',
    ),
  ]
}

/** Checks all accounts, one a step. The first account belongs to the operator and is never paused. */
export async function* watchAccountRates(options: WatchOptions): AsyncGenerator<void> {
  const { db } = options
  let isFirst = true
  for (
    let after: Id | undefined, ids = await nextAccounts(db, undefined);
    ids.length > 0;
    ids = await nextAccounts(db, after)
  ) {
    for (const id of ids) {
      await watch(id, isFirst, options)
      isFirst = false
      yield
    }
    after = ids.at(-1)
  }
}

async function nextAccounts(db: Db, after: Id | undefined): Promise<Id[]> {
  let accounts = db.selectFrom('accounts').select('id')
  if (after) accounts = accounts.where('id', '>', after)
  const rows = await accounts.orderBy('id').limit(ACCOUNTS_PER_STEP_MAX).execute()
  return rows.map(({ id }) => id)
}

async function watch(
  accountId: Id,
  isFirst: boolean,
  { db, run, clock, newId, terms, onAlert }: WatchOptions,
) {
  const now = clock.now()
  const pauses = await db
    .selectFrom('queueHolds')
    .select('releasedAt')
    .where('accountId', '=', accountId)
    .where('domain', 'is', null)
    .where('broadcastId', 'is', null)
    .where('emailId', 'is', null)
    .where('senderDomain', 'is', null)
    .execute()
  if (pauses.some(({ releasedAt }) => releasedAt === null)) return
  // after a release only later deliveries count
  const since = Math.max(now - DAY_MS, ...pauses.map(({ releasedAt }) => releasedAt ?? 0))
  const findings = judgeRates(await feedbackOf(db, accountId, since), terms)
  for (const { kind, text } of findings) {
    const provider = wireId('acc', accountId)
    const row = {
      hour: hourOf(now),
      kind,
      provider,
      sourceIp: '',
      raisedAt: now,
      mxHost: null,
      domain: '',
      reply: text,
    }
    if (await run('raiseAlert', row)) onAlert(row)
  }
  const cause = findings.find(({ isTooMuch }) => isTooMuch)
  if (!cause || isFirst) return
  const mail = { domain: null, accountId, broadcastId: null, emailId: null }
  await run('putHold', {
    id: newId(now),
    ...mail,
    reason: cause.text,
    origin: 'automatic',
    createdAt: now,
    releasedAt: null,
  })
}

async function feedbackOf(db: Db, accountId: Id, since: number): Promise<AccountFeedback> {
  const rows = await db
    .selectFrom('counters')
    .select(['kind', eb => eb.fn.sum<number>('count').as('count')])
    .where('accountId', '=', accountId)
    .where('kind', 'in', KINDS)
    .where('period', '>', periodOf(quarterOf(since)))
    .groupBy('kind')
    .execute()
  const count = (metric: (typeof METRICS)[number]) =>
    Number(rows.find(({ kind }) => kind === metricKind(metric, null, null))?.count ?? 0)
  return {
    delivered: count('delivered'),
    bounced: count('bounced_permanent'),
    complained: count('complained'),
  }
}
