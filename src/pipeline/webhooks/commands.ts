/**
 * Commands that change webhooks. They run alone, so that every later commit group uses the new subscriptions.
 */

import { type Id, idKey, idText } from '../../lib/ids.ts'
import { deliveryRow, WEBHOOK_DUE } from '../../resources/events/outbox.ts'
import type { EventType } from '../../resources/events/types.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { OwnKey } from '../../store/model/own-row.ts'
import { WEBHOOK_DELIVERY_STATE, type WebhookDeliveryRow, type WebhookRow } from '../../store/model/schema.ts'
import { FAILING_MS_MAX } from './retry.ts'
import { DELIVERIES_LISTED_MAX, domainIdsOf, findWebhook, type ListedDelivery } from './webhook-rows.ts'

/** Announcement topics; the messages are ids of webhooks. */
export const WEBHOOK_CHANGED = 'webhook_changed'
export const WEBHOOK_DISABLED = 'webhook_disabled'

/** Number of webhooks of an account. */
export const WEBHOOKS_MAX = 100

/** Absent fields keep their values. */
type WebhookChanges = Partial<Pick<WebhookRow, 'url' | 'events' | 'enabled' | 'standard' | 'domainIds'>>

/** The delivery that was requested, or why there is none. */
export type RequestedDelivery = ListedDelivery | 'no-webhook' | 'no-delivery' | 'disabled'

/** Why a webhook is not stored: there are too many, or it names a domain that the account does not have. */
type WebhookRefusal = 'too-many' | 'no-domain'

/** A rotated webhook. */
interface RotatedWebhook {
  webhook: WebhookRow
  /** Whether a former secret stopped signing before its day was over. */
  isCutOff: boolean
}

export const webhookCommands = {
  createWebhook: command<WebhookRow, 'created' | WebhookRefusal>(async (tx, webhook) => {
    const others = await tx.db
      .selectFrom('webhooks')
      .select('id')
      .where('accountId', '=', webhook.accountId)
      .limit(WEBHOOKS_MAX)
      .execute()
    if (others.length >= WEBHOOKS_MAX) return 'too-many'
    if (!(await hasDomains(tx, webhook, []))) return 'no-domain'
    await tx.db.insertInto('webhooks').values(webhook).execute()
    await changed(tx, webhook.id)
    return 'created'
  }),

  /** Changes the webhook and resets its failures. Undefined when the account has no such webhook. */
  changeWebhook: command<
    OwnKey & { changes: WebhookChanges; at: number },
    WebhookRow | 'no-domain' | undefined
  >(async (tx, { accountId, id, changes, at }) => {
    const former = await findWebhook(tx.db, accountId, id)
    if (!former || Object.keys(changes).length === 0) return former
    const webhook: WebhookRow = { ...former, ...changes }
    if (!(await hasDomains(tx, webhook, domainIdsOf(former) ?? []))) return 'no-domain'
    if (webhook.url !== former.url || changes.enabled === 1) webhook.failingSince = null
    if (changes.enabled === 1)
      Object.assign(webhook, { disabledAt: null, disabledReason: null, noticeDue: 0 })
    else if (changes.enabled === 0 && former.enabled === 1)
      Object.assign(webhook, { disabledAt: at, disabledReason: 'user' })
    await tx.rows.update('webhooks', ['id'], [webhook])
    await changed(tx, id)
    if (webhook.enabled === 1) tx.announce(WEBHOOK_DUE, id)
    return webhook
  }),

  /**
   * The former secret signs until `formerUntil`, and the one before it for the rest of its own time.
   * Undefined when the account has no such webhook.
   */
  rotateWebhookSecret: command<
    OwnKey & { secret: Uint8Array; formerUntil: number; at: number },
    RotatedWebhook | undefined
  >(async (tx, { accountId, id, secret, formerUntil, at }) => {
    const former = await findWebhook(tx.db, accountId, id)
    if (!former) return undefined
    const isStillSigning = former.formerUntil !== null && at < former.formerUntil
    const webhook = {
      ...former,
      secret,
      formerSecret: former.secret,
      formerUntil,
      earlierSecret: isStillSigning ? former.formerSecret : null,
      earlierUntil: isStillSigning ? former.formerUntil : null,
    }
    await tx.rows.update('webhooks', ['id'], [webhook])
    tx.announce(WEBHOOK_CHANGED, id)
    return { webhook, isCutOff: former.earlierUntil !== null && at < former.earlierUntil }
  }),

  /** The sweeper deletes its deliveries later. Returns false when the account has no such webhook. */
  deleteWebhook: command<OwnKey, boolean>(async (tx, { accountId, id }) => {
    const webhook = await findWebhook(tx.db, accountId, id)
    if (!webhook) return false
    await tx.db.deleteFrom('webhooks').where('id', '=', id).execute()
    await changed(tx, id)
    return true
  }),

  /**
   * Queues the event of a delivery again, with all its attempts. If the former delivery waits for another
   * attempt, that attempt is canceled.
   */
  replayWebhookDelivery: command<OwnKey & { deliveryId: Id; at: number }, RequestedDelivery>(
    async (tx, { accountId, id, deliveryId, at }) => {
      const webhook = await findWebhook(tx.db, accountId, id)
      if (!webhook) return 'no-webhook'
      const former = await findListed(tx, id, deliveryId)
      if (!former) return 'no-delivery'
      if (webhook.enabled === 0) return 'disabled'
      const { eventId, eventType: type, body, isTest } = former
      if (former.state === WEBHOOK_DELIVERY_STATE.waiting && former.leaseUntil === null)
        await tx.rows.update(
          'webhookDeliveries',
          ['webhookId', 'id'],
          [{ webhookId: id, id: deliveryId, state: WEBHOOK_DELIVERY_STATE.done }],
        )
      const fields = { webhookId: id, id: tx.newId(at), accountId, body, at }
      const row = { ...deliveryRow(fields, { id: eventId, type: type as EventType }), isTest }
      return queued(tx, webhook, row)
    },
  ),

  /** Returns false when the webhook has succeeded, was changed or deleted meanwhile. */
  disableFailingWebhook: command<{ id: Id; at: number }, boolean>(async (tx, { id, at }) => {
    const [webhook] = await tx.rows.lock('webhooks', [{ id }], ['enabled', 'failingSince'])
    if (!webhook || webhook.enabled === 0) return false
    if (webhook.failingSince === null || at - webhook.failingSince < FAILING_MS_MAX) return false
    const set = {
      id,
      enabled: 0 as const,
      disabledAt: at,
      disabledReason: 'failing' as const,
      noticeDue: 1 as const,
    }
    await tx.rows.update('webhooks', ['id'], [set])
    await changed(tx, id)
    tx.announce(WEBHOOK_DISABLED, id)
    return true
  }),

  webhookNoticeSent: command<{ id: Id }, void>(async (tx, { id }) => {
    await tx.rows.update('webhooks', ['id'], [{ id, noticeDue: 0 }])
  }),
}

/**
 * Tells whether the account has all domains that the webhook is limited to.
 * @param former domains that it was limited to before, which may have been deleted meanwhile
 */
async function hasDomains(
  tx: Tx,
  webhook: Pick<WebhookRow, 'accountId' | 'domainIds'>,
  former: readonly Id[],
): Promise<boolean> {
  const known = new Set(former.map(idText))
  const unknown = (domainIdsOf(webhook) ?? []).filter(id => !known.has(idText(id)))
  const keys = unknown.map(id => ({ accountId: webhook.accountId, id }))
  const rows = await tx.rows.find('domains', keys, ['id'])
  return rows.every(row => row !== undefined)
}

async function changed(tx: Tx, id: Id): Promise<void> {
  await tx.subscribersChanged()
  tx.announce(WEBHOOK_CHANGED, id)
}

async function queued(tx: Tx, { dialect }: WebhookRow, row: WebhookDeliveryRow): Promise<ListedDelivery> {
  await tx.rows.insert('webhookDeliveries', [row])
  tx.announce(WEBHOOK_DUE, row.webhookId)
  return { ...row, dialect }
}

/** Finds one of the listed deliveries; older rows may still exist but are not listed. */
async function findListed(tx: Tx, webhookId: Id, id: Id): Promise<WebhookDeliveryRow | undefined> {
  const listed = await tx.db
    .selectFrom('webhookDeliveries')
    .selectAll()
    .where('webhookId', '=', webhookId)
    .orderBy('id', 'desc')
    .limit(DELIVERIES_LISTED_MAX)
    .execute()
  return listed.find(row => idKey(row.id) === idKey(id))
}
