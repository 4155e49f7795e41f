/** What the dispatcher does in the store: leases what is due, and records how attempts ended. */
import { type Id, idKey } from '../../lib/ids.ts'
import { batchCommand, command, concurrent, type Tx } from '../../store/command.ts'
import { WEBHOOK_DELIVERY_STATE, type WebhookDeliveryRow, type WebhookRow } from '../../store/schema.ts'
import { FAILING_FOR_MS } from './retry.ts'
import { DELIVERIES_KEPT } from './webhook-rows.ts'

interface WebhookClaim {
  webhookId: Id
  now: number
  /** Until when the leases are good. */
  until: number
  limit: number
}

export type ClaimedWebhookDelivery = Pick<
  WebhookDeliveryRow,
  'id' | 'eventId' | 'eventType' | 'body' | 'isTest'
> & {
  /** Number of this attempt, from 1. */
  attempt: number
  /** Since when it has been due, epoch ms: its place among those that wait. */
  dueAt: number
}

/** One that is let go of before its attempt has ended. */
type ReleasedWebhookDelivery = Pick<ClaimedWebhookDelivery, 'id' | 'attempt'> & {
  begun: boolean
  /** When it is due, epoch ms. */
  nextAt: number
}

interface WebhookClaims {
  webhook: Pick<WebhookRow, 'id' | 'url' | 'secret' | 'formerSecret' | 'formerUntil' | 'standard'>
  deliveries: ClaimedWebhookDelivery[]
  /** When the next is due, epoch ms; null when none waits. */
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
  /** Epoch ms; null after the last attempt. */
  nextAt: number | null
}

interface WebhookDrop {
  webhookId: Id
  /** Of a webhook that is there, only what is older. */
  before: Id
  /** Nothing of a webhook that is enabled. */
  sparesEnabled: boolean
  limit: number
}

/** What became of a webhook by an attempt: `failing` for too long, and is to be disabled. */
type AttemptEffect = 'recorded' | 'stale' | 'failing'

/** Those that are trimmed by one command; others follow by the next. */
const DELETED_PER_COMMAND_MAX = 200

export const webhookDispatchCommands = {
  /** Undefined when the webhook is disabled or gone. */
  claimWebhookDeliveries: concurrent(
    command<WebhookClaim, WebhookClaims | undefined>(async (tx, { webhookId, now, until, limit }) => {
      const [webhook] = await tx.rows.find('webhooks', [{ id: webhookId }], WEBHOOK_COLUMNS)
      if (!webhook || webhook.enabled === 0) return undefined
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
          ...{ webhookId, id, attempts: attempts + 1 },
          ...{ nextAt: until, leaseUntil: until, lastAttemptAt: now },
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
          ...{ ...delivery, dueAt, attempt: attempts + 1 },
        })),
        nextAt: next?.nextAt ?? null,
      }
    }),
    ({ webhookId }) => [holdOf(webhookId)],
  ),

  finishWebhookAttempt: concurrent(
    batchCommand<WebhookAttempt, AttemptEffect>(async (tx, attempts) => {
      const keys = attempts.map(({ webhookId, id }) => ({ webhookId, id }))
      const rows = await tx.rows.lock('webhookDeliveries', keys, ['attempts', 'state', 'isTest'])
      const good = attempts.flatMap((attempt, i) =>
        isGood(rows[i], attempt) ? { ...attempt, isTest: rows[i]!.isTest === 1 } : [],
      )
      await tx.rows.update('webhookDeliveries', ['webhookId', 'id'], good.map(endedRow))
      const effects = new Map<string, AttemptEffect>()
      for (const [key, some] of Map.groupBy(good, ({ webhookId }) => idKey(webhookId)))
        effects.set(key, await updateFailingSince(tx, some))
      return attempts.map((attempt, i) =>
        isGood(rows[i], attempt) ? effects.get(idKey(attempt.webhookId))! : 'stale',
      )
    }),
    ({ webhookId }) => [holdOf(webhookId)],
  ),

  /** What was leased and will not be tried now is due again; an attempt that has not begun is not counted. */
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
          ...{ webhookId, id, leaseUntil: null, nextAt, attempts: begun ? attempt : attempt - 1 },
        })),
      )
    },
  ),

  /** What waited for a webhook that is gone, or for too long. @returns how many there were */
  dropWebhookDeliveries: command<WebhookDrop, number>(
    async (tx, { webhookId, before, sparesEnabled, limit }) => {
      const [webhook] = await tx.rows.find('webhooks', [{ id: webhookId }], ['enabled'])
      if (webhook?.enabled === 1 && sparesEnabled) return 0
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

const WEBHOOK_COLUMNS = ['id', 'url', 'secret', 'formerSecret', 'formerUntil', 'standard', 'enabled'] as const

/** Of two groups that change deliveries of one webhook, one waits for the other. */
function holdOf(webhookId: Id): string {
  return `webhook ${idKey(webhookId)}`
}

function isGood(
  row: Pick<WebhookDeliveryRow, 'attempts' | 'state'> | undefined,
  { attempt }: WebhookAttempt,
): boolean {
  return row !== undefined && row.state === WEBHOOK_DELIVERY_STATE.waiting && row.attempts === attempt
}

function endedRow(attempt: WebhookAttempt): Partial<WebhookDeliveryRow> {
  const { webhookId, id, startedAt, durationMs, url, success, responseStatus, responseBody, error } = attempt
  const isDone = success || attempt.nextAt === null
  return {
    ...{ webhookId, id, durationMs, url, responseStatus, responseBody, error },
    lastAttemptAt: startedAt,
    success: success ? 1 : 0,
    state: isDone ? WEBHOOK_DELIVERY_STATE.done : WEBHOOK_DELIVERY_STATE.waiting,
    nextAt: attempt.nextAt ?? startedAt,
    leaseUntil: null,
  }
}

/** Remembers since when nothing has succeeded, but for tests, and keeps the log short. */
async function updateFailingSince(
  tx: Tx,
  attempts: readonly (WebhookAttempt & { isTest: boolean })[],
): Promise<AttemptEffect> {
  const { webhookId: id } = attempts[0]!
  const [webhook] = await tx.rows.lock('webhooks', [{ id }], ['failingSince'])
  await trimLog(tx, id)
  if (!webhook) return 'recorded'
  const telling = attempts.filter(({ isTest, success }) => success || !isTest)
  const last = telling.at(-1)
  if (!last) return 'recorded'
  const since = telling.some(({ success }) => success)
    ? null
    : (webhook.failingSince ?? Math.min(...telling.map(({ startedAt }) => startedAt)))
  if (since !== webhook.failingSince) await tx.rows.update('webhooks', ['id'], [{ id, failingSince: since }])
  const failedAt = last.startedAt + last.durationMs
  return since !== null && failedAt - since >= FAILING_FOR_MS ? 'failing' : 'recorded'
}

/** Of what has ended, the newest are kept. */
async function trimLog(tx: Tx, webhookId: Id): Promise<void> {
  const oldest = await tx.db
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('webhookId', '=', webhookId)
    .orderBy('id', 'desc')
    .offset(DELIVERIES_KEPT - 1)
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
