/** Commands of the dispatcher: lease due deliveries, store results of attempts and release leases. */
import { type Id, idKey } from '../../lib/ids.ts'
import { batchCommand, command, concurrent, type Tx } from '../../store/model/command.ts'
import {
  type LoggedAttempt,
  WEBHOOK_DELIVERY_STATE,
  type WebhookDeliveryRow,
  type WebhookRow,
} from '../../store/model/schema.ts'
import { isReadOnly } from '../queue/service-mode.ts'
import { WEBHOOK_CHANGED } from './commands.ts'
import { FAILING_MS_MAX } from './retry.ts'
import { loggedResponse } from './sent-events.ts'
import { SIGNING_COLUMNS } from './signature.ts'
import { DELIVERIES_LISTED_MAX, type ListedDelivery } from './webhook-rows.ts'

interface WebhookClaim {
  webhookId: Id
  now: number
  /** Time at which the leases expire, in ms since the epoch. */
  until: number
  limit: number
}

export type ClaimedWebhookDelivery = Pick<
  WebhookDeliveryRow,
  'id' | 'eventId' | 'eventType' | 'body' | 'isTest'
> & {
  /** Number of this attempt, from 1. */
  attempt: number
  /** Time since which the delivery has been due, in ms since the epoch; it determines the order. */
  dueAt: number
}

/** A lease that is released before its attempt has ended. */
type ReleasedWebhookDelivery = Pick<ClaimedWebhookDelivery, 'id' | 'attempt'> & {
  begun: boolean
  /** Time at which the delivery is due, in ms since the epoch. */
  nextAt: number
}

interface WebhookClaims {
  webhook: Pick<WebhookRow, (typeof WEBHOOK_COLUMNS)[number]>
  deliveries: ClaimedWebhookDelivery[]
  /** Time at which the next delivery is due, in ms since the epoch; null when none waits. */
  nextAt: number | null
}

export interface WebhookAttempt {
  webhookId: Id
  id: Id
  attempt: number
  startedAt: number
  durationMs: number
  url: string
  success: boolean
  responseStatus: number | null
  responseBody: string | null
  error: string | null
  /** Time of the next attempt, in ms since the epoch; null after the last attempt. */
  nextAt: number | null
}

interface WebhookDrop {
  webhookId: Id
  /** Only deliveries with a smaller id are dropped, unless the webhook has been deleted. */
  before: Id
  /** Whether deliveries of enabled webhooks are kept. */
  keepsEnabled: boolean
  limit: number
}

/** Effect of an attempt: `failing` means that the webhook has failed for too long and is to be disabled. */
type AttemptEffect = 'recorded' | 'stale' | 'failing'

/** Number of old deliveries that one command deletes; the next command deletes more. */
const DELETED_PER_COMMAND_MAX = 200

/** Figures that count attempts to deliver an event. */
export const WEBHOOK_FIGURES = { delivered: 'webhooks.delivered', failed: 'webhooks.failed' }

export const webhookDispatchCommands = {
  /** Undefined when the webhook is disabled or gone. Nothing is claimed while the service is read-only. */
  claimWebhookDeliveries: concurrent(
    command<WebhookClaim, WebhookClaims | undefined>(async (tx, { webhookId, now, until, limit }) => {
      const [webhook] = await tx.rows.find('webhooks', [{ id: webhookId }], WEBHOOK_COLUMNS)
      if (!webhook || webhook.enabled === 0) return undefined
      if (await isReadOnly(tx.db)) return { webhook, deliveries: [], nextAt: null }
      const due = await tx.db
        .selectFrom('webhookDeliveries')
        .select(['id', 'eventId', 'eventType', 'body', 'isTest', 'attempts', 'nextAt'])
        .where('webhookId', '=', webhookId)
        .where('state', '=', WEBHOOK_DELIVERY_STATE.waiting)
        .where('nextAt', '<=', now)
        .orderBy('nextAt')
        .limit(limit)
        .execute()
      await tx.rows.update(
        'webhookDeliveries',
        ['webhookId', 'id'],
        due.map(({ id, attempts }) => ({
          webhookId,
          id,
          attempts: attempts + 1,
          nextAt: until,
          leaseUntil: until,
          lastAttemptAt: now,
        })),
      )
      const next = await tx.db
        .selectFrom('webhookDeliveries')
        .select('nextAt')
        .where('webhookId', '=', webhookId)
        .where('state', '=', WEBHOOK_DELIVERY_STATE.waiting)
        .orderBy('nextAt')
        .limit(1)
        .executeTakeFirst()
      return {
        webhook,
        deliveries: due.map(({ attempts, nextAt: dueAt, ...delivery }) => ({
          ...delivery,
          dueAt,
          attempt: attempts + 1,
        })),
        nextAt: next?.nextAt ?? null,
      }
    }),
    ({ webhookId }) => [conflictKey(webhookId)],
  ),

  finishWebhookAttempt: concurrent(
    batchCommand<WebhookAttempt, AttemptEffect>(async (tx, attempts) => {
      const keys = attempts.map(({ webhookId, id }) => ({ webhookId, id }))
      const rows = await tx.rows.lock('webhookDeliveries', keys, FENCING_COLUMNS)
      const valid = attempts.flatMap((attempt, i) =>
        isValid(rows[i], attempt)
          ? { ...attempt, isTest: rows[i]!.isTest === 1, formerLog: rows[i]!.attemptLog }
          : [],
      )
      await tx.rows.update('webhookDeliveries', ['webhookId', 'id'], valid.map(finishedRow))
      for (const { success } of valid)
        tx.tally(success ? WEBHOOK_FIGURES.delivered : WEBHOOK_FIGURES.failed, 1)
      const effects = new Map<string, AttemptEffect>()
      for (const [key, ofWebhook] of Map.groupBy(valid, ({ webhookId }) => idKey(webhookId)))
        effects.set(key, await updateFailingSince(tx, ofWebhook))
      return attempts.map((attempt, i) =>
        isValid(rows[i], attempt) ? effects.get(idKey(attempt.webhookId))! : 'stale',
      )
    }),
    ({ webhookId }) => [conflictKey(webhookId)],
  ),

  /** Stores a test event that was sent outside of the queue. A success ends the pause of the endpoint. */
  storeWebhookTest: concurrent(
    command<{ delivery: WebhookDeliveryRow; attempt: WebhookAttempt }, ListedDelivery | 'no-webhook'>(
      async (tx, { delivery, attempt }) => {
        const { webhookId } = delivery
        const [webhook] = await tx.rows.find('webhooks', [{ id: webhookId }], ['dialect'])
        if (!webhook) return 'no-webhook'
        const stored = { ...delivery, attempts: 1, ...finishedRow({ ...attempt, formerLog: null }) }
        await tx.rows.insert('webhookDeliveries', [stored])
        tx.tally(attempt.success ? WEBHOOK_FIGURES.delivered : WEBHOOK_FIGURES.failed, 1)
        await updateFailingSince(tx, [{ ...attempt, isTest: true }])
        if (attempt.success) tx.announce(WEBHOOK_CHANGED, webhookId)
        return { ...stored, dialect: webhook.dialect }
      },
    ),
    ({ delivery }) => [conflictKey(delivery.webhookId)],
  ),

  /** Releases leases. The deliveries are due again; an attempt that has not started is not counted. */
  releaseWebhookDeliveries: command<{ webhookId: Id; leased: readonly ReleasedWebhookDelivery[] }, void>(
    async (tx, { webhookId, leased }) => {
      const keys = leased.map(({ id }) => ({ webhookId, id }))
      const rows = await tx.rows.lock('webhookDeliveries', keys, ['attempts', 'leaseUntil'])
      const held = leased.filter(
        ({ attempt }, i) => rows[i]?.attempts === attempt && rows[i].leaseUntil !== null,
      )
      await tx.rows.update(
        'webhookDeliveries',
        ['webhookId', 'id'],
        held.map(({ id, attempt, begun, nextAt }) => ({
          webhookId,
          id,
          leaseUntil: null,
          nextAt,
          attempts: begun ? attempt : attempt - 1,
        })),
      )
    },
  ),

  /**
   * Deletes deliveries of a deleted webhook, and those that have waited for too long.
   * @returns the number of deleted deliveries
   */
  dropWebhookDeliveries: command<WebhookDrop, number>(
    async (tx, { webhookId, before, keepsEnabled, limit }) => {
      const [webhook] = await tx.rows.find('webhooks', [{ id: webhookId }], ['enabled'])
      if (webhook?.enabled === 1 && keepsEnabled) return 0
      let old = tx.db
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .orderBy('id')
        .limit(limit)
      if (webhook)
        old = old
          .where('id', '<', before)
          .where('state', '=', WEBHOOK_DELIVERY_STATE.waiting)
          .where('leaseUntil', 'is', null)
      const { numDeletedRows } = await tx.db
        .deleteFrom('webhookDeliveries')
        .where('webhookId', '=', webhookId)
        .where('id', 'in', old)
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  ),
}

const WEBHOOK_COLUMNS = [...SIGNING_COLUMNS, 'url', 'dialect', 'enabled'] as const

/** Columns of a delivery that decide whether the result of an attempt counts, and its log. */
const FENCING_COLUMNS = ['attempts', 'state', 'isTest', 'attemptLog'] as const

/** Conflict key: commit groups that change deliveries of one webhook run one after the other. */
function conflictKey(webhookId: Id): string {
  return `webhook ${idKey(webhookId)}`
}

function isValid(
  row: Pick<WebhookDeliveryRow, 'attempts' | 'state'> | undefined,
  { attempt }: WebhookAttempt,
): boolean {
  return row !== undefined && row.state === WEBHOOK_DELIVERY_STATE.waiting && row.attempts === attempt
}

function finishedRow(attempt: WebhookAttempt & { formerLog: string | null }): Partial<WebhookDeliveryRow> {
  const { webhookId, id, startedAt, durationMs, url, success, responseStatus, responseBody, error } = attempt
  const isDone = success || attempt.nextAt === null
  return {
    webhookId,
    id,
    durationMs,
    url,
    responseStatus,
    responseBody,
    error,
    attemptLog: logAfter(attempt),
    lastAttemptAt: startedAt,
    success: success ? 1 : 0,
    state: isDone ? WEBHOOK_DELIVERY_STATE.done : WEBHOOK_DELIVERY_STATE.waiting,
    nextAt: attempt.nextAt ?? startedAt,
    leaseUntil: null,
  }
}

/** A delivery that the first attempt ends needs no log, because its row has all about that attempt. */
function logAfter(ended: WebhookAttempt & { formerLog: string | null }): string | null {
  const { formerLog, attempt, startedAt, nextAt, responseStatus: status } = ended
  if (formerLog === null && nextAt === null) return null
  const former = formerLog === null ? [] : (JSON.parse(formerLog) as LoggedAttempt[])
  return JSON.stringify([...former, { attempt, startedAt, status, response: loggedResponse(ended) }])
}

/** Stores since when every attempt has failed, except tests, and trims the log of deliveries. */
async function updateFailingSince(
  tx: Tx,
  attempts: readonly (WebhookAttempt & { isTest: boolean })[],
): Promise<AttemptEffect> {
  const { webhookId: id } = attempts[0]!
  const [webhook] = await tx.rows.lock('webhooks', [{ id }], ['failingSince'])
  await trimLog(tx, id)
  if (!webhook) return 'recorded'
  const counted = attempts.filter(({ isTest, success }) => success || !isTest)
  const last = counted.at(-1)
  if (!last) return 'recorded'
  const since = counted.some(({ success }) => success)
    ? null
    : (webhook.failingSince ?? Math.min(...counted.map(({ startedAt }) => startedAt)))
  if (since !== webhook.failingSince) await tx.rows.update('webhooks', ['id'], [{ id, failingSince: since }])
  const failedAt = last.startedAt + last.durationMs
  return since !== null && failedAt - since >= FAILING_MS_MAX ? 'failing' : 'recorded'
}

/** Deletes finished deliveries, except the newest ones. */
async function trimLog(tx: Tx, webhookId: Id): Promise<void> {
  const oldest = await tx.db
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('webhookId', '=', webhookId)
    .orderBy('id', 'desc')
    .offset(DELIVERIES_LISTED_MAX - 1)
    .limit(1)
    .executeTakeFirst()
  if (!oldest) return
  await tx.db
    .deleteFrom('webhookDeliveries')
    .where('webhookId', '=', webhookId)
    .where('id', 'in', eb =>
      eb
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .where('state', '=', WEBHOOK_DELIVERY_STATE.done)
        .where('id', '<', oldest.id)
        .orderBy('id')
        .limit(DELETED_PER_COMMAND_MAX),
    )
    .execute()
}
