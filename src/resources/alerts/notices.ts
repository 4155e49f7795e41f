/**
 * Derives from the stored alerts what the webhook of operators is to be told: that a condition is there, is
 * still there, or is over. There is one row per condition with the last message about it, so that a restart
 * neither loses a message nor makes another one.
 */
import { command, type Tx } from '../../store/model/command.ts'
import type {
  AlertCondition,
  AlertNoticeRow,
  AlertSilenceRow,
  OperatorAlertRow,
} from '../../store/model/schema/alerts.ts'
import { hourOf, isLastingKind } from './operator-alerts.ts'
import { listSilences, silenceOf } from './silences.ts'

const DAY_MS = 86_400_000
/** Alerts that are older are not news any more, such as those from before the webhook was set up. */
const NEWS_MS = DAY_MS
/** Longer than alerts are repeated at the latest. */
const RETENTION_MS = 31 * DAY_MS

interface Terms {
  now: number
  /** Time after which a message about the same condition is made again. */
  repeatMs: number
  isSilenced: boolean
}

/** `quiet`: the message that waits is dropped. `forget`: as if there had been none. */
type Step = AlertNoticeRow['event'] | 'quiet' | 'forget' | undefined

export const noticeCommands = {
  /**
   * Makes the messages that are due by the alerts of this moment, and leases up to `limit` messages to be
   * sent until `until`.
   */
  claimAlertNotices: command<
    { now: number; until: number; repeatMs: number; limit: number },
    AlertNoticeRow[]
  >(async (tx, { now, until, repeatMs, limit }) => {
    const silences = await listSilences(tx.db, now)
    await tx.db
      .deleteFrom('alertNotices')
      .where('dueAt', 'is', null)
      .where('since', '<', now - RETENTION_MS)
      .where('madeAt', '<', now - RETENTION_MS)
      .execute()
    await makeNotices(tx, silences, { now, repeatMs })
    const due = await tx.db
      .selectFrom('alertNotices')
      .selectAll()
      .where('dueAt', '<=', now)
      .orderBy('dueAt')
      .orderBy('id')
      .limit(limit)
      .execute()
    for (const { id, attempts } of due)
      await tx.db
        .updateTable('alertNotices')
        .set({ dueAt: until, attempts: attempts + 1 })
        .where('id', '=', id)
        .execute()
    return due.map(notice => ({ ...notice, dueAt: until, attempts: notice.attempts + 1 }))
  }),

  /** Records the result of an attempt, unless another message has taken the place of this one. */
  settleAlertNotice: command<Pick<AlertNoticeRow, 'id' | 'attempts' | 'dueAt'>, void>(
    async ({ db }, { id, attempts, dueAt }) => {
      await db
        .updateTable('alertNotices')
        .set({ dueAt })
        .where('id', '=', id)
        .where('attempts', '=', attempts)
        .execute()
    },
  ),
}

async function makeNotices(
  tx: Tx,
  silences: readonly AlertSilenceRow[],
  { now, repeatMs }: { now: number; repeatMs: number },
): Promise<void> {
  const notices = new Map(
    (await tx.db.selectFrom('alertNotices').selectAll().execute()).map(row => [keyOf(row), row]),
  )
  const alerts = await newestAlerts(tx, [...notices.values()], now)
  for (const [key, alert] of alerts) {
    const notice = notices.get(key)
    const isSilenced = silenceOf(silences, alert) !== undefined
    const step = stepOf(alert, notice, { now, repeatMs, isSilenced })
    if (step === 'forget') await forget(tx, alert)
    else if (step === 'quiet') await putQuietly(tx, alert, notice, now)
    else if (step) await put(tx, await noticeOf(tx, alert, step, now))
  }
}

/** Returns the newest alert of each condition that is news, or about which a message was made. */
async function newestAlerts(
  tx: Tx,
  notices: readonly AlertNoticeRow[],
  now: number,
): Promise<Map<string, OperatorAlertRow>> {
  const recent = await tx.db
    .selectFrom('operatorAlerts')
    .selectAll()
    .where('hour', '>=', hourOf(now - NEWS_MS))
    .orderBy('hour')
    .execute()
  const newest = new Map(recent.map(row => [keyOf(row), row]))
  for (const notice of notices) {
    if (!isOpen(notice) || newest.has(keyOf(notice))) continue
    const row = await tx.db
      .selectFrom('operatorAlerts')
      .selectAll()
      .where(({ and }) => and(conditionOf(notice)))
      .orderBy('hour', 'desc')
      .executeTakeFirst()
    if (row) newest.set(keyOf(row), row)
  }
  return newest
}

function stepOf(alert: OperatorAlertRow, notice: AlertNoticeRow | undefined, terms: Terms): Step {
  return isLastingKind(alert.kind) ? stepOfLasting(alert, notice, terms) : stepOfEvent(alert, notice, terms)
}

/** An alert that was not raised for a day is not watched any more, and not repeated. */
function stepOfLasting(
  { endedAt, hour }: OperatorAlertRow,
  notice: AlertNoticeRow | undefined,
  { now, repeatMs, isSilenced }: Terms,
): Step {
  const isWaiting = notice !== undefined && notice.dueAt !== null
  if (endedAt !== null) {
    if (!notice || !isOpen(notice)) return isSilenced && isWaiting ? 'quiet' : undefined
    return isSilenced ? 'forget' : 'ended'
  }
  if (isSilenced) return isWaiting ? 'forget' : undefined
  const isNews = hour >= hourOf(now - NEWS_MS)
  if (!notice || !isOpen(notice)) return isNews ? 'raised' : undefined
  return isNews && !isWaiting && now >= notice.madeAt + repeatMs ? 'repeated' : undefined
}

/** An alert without an end is told of when it is raised, and within `repeatMs` not again. */
function stepOfEvent(
  { raisedAt }: OperatorAlertRow,
  notice: AlertNoticeRow | undefined,
  { repeatMs, isSilenced }: Terms,
): Step {
  const isNew = !notice || raisedAt > notice.since
  if (isSilenced) return isNew || notice.dueAt !== null ? 'quiet' : undefined
  return isNew && (!notice || raisedAt >= notice.madeAt + repeatMs) ? 'raised' : undefined
}

/** Whether the receiver was told of the condition, and not of its end. */
function isOpen({ kind, event }: AlertNoticeRow): boolean {
  return isLastingKind(kind) && event !== 'ended'
}

async function noticeOf(
  tx: Tx,
  alert: OperatorAlertRow,
  event: AlertNoticeRow['event'],
  now: number,
): Promise<AlertNoticeRow> {
  const { kind, provider, sourceIp, domain, reply: text, endedAt = null } = alert
  return {
    ...{ kind, provider, sourceIp, domain, text, event },
    id: tx.newId(now),
    since: await sinceOf(tx, alert),
    endedAt: isLastingKind(kind) ? endedAt : null,
    madeAt: now,
    dueAt: now,
    attempts: 0,
  }
}

/** Returns the time at which a condition began that may have been raised in several hours. */
async function sinceOf(tx: Tx, alert: OperatorAlertRow): Promise<number> {
  const { kind, raisedAt, endedAt = null } = alert
  if (!isLastingKind(kind)) return raisedAt
  const { first } = await tx.db
    .selectFrom('operatorAlerts')
    .select(({ fn }) => fn.min<number>('raisedAt').as('first'))
    .where(({ and }) => and(conditionOf(alert)))
    .where('endedAt', endedAt === null ? 'is' : '=', endedAt)
    .executeTakeFirstOrThrow()
  return Number(first)
}

/** Notes that the alert was seen, without a message. */
async function putQuietly(
  tx: Tx,
  alert: OperatorAlertRow,
  notice: AlertNoticeRow | undefined,
  now: number,
): Promise<void> {
  const fresh = await noticeOf(tx, alert, notice?.event ?? 'raised', now)
  await put(tx, { ...fresh, madeAt: notice && notice.dueAt === null ? notice.madeAt : 0, dueAt: null })
}

async function put({ db }: Tx, notice: AlertNoticeRow): Promise<void> {
  await db
    .insertInto('alertNotices')
    .values(notice)
    .onConflict(conflict => conflict.columns(['kind', 'provider', 'sourceIp']).doUpdateSet(notice))
    .execute()
}

async function forget({ db }: Tx, condition: AlertCondition): Promise<void> {
  await db
    .deleteFrom('alertNotices')
    .where(({ and }) => and(conditionOf(condition)))
    .execute()
}

function conditionOf({ kind, provider, sourceIp }: AlertCondition): AlertCondition {
  return { kind, provider, sourceIp }
}

function keyOf({ kind, provider, sourceIp }: AlertCondition): string {
  return JSON.stringify([kind, provider, sourceIp])
}
