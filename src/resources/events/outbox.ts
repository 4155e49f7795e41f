/**
 * Queues webhook deliveries in the transaction that records their event, with the final body
 * ([why](../../docs/decisions/0053-webhook-outbox-in-the-transaction-of-the-event.md)).
 */
import { type Id, idKey, idText } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import { WEBHOOK_DELIVERY_STATE, type WebhookDeliveryRow } from '../../store/model/schema.ts'
import type { Subscriber } from '../../store/model/subscribers.ts'
import type { EmailOrigin } from './metrics.ts'
import { isOfSentEmail, PAYLOAD_COLUMNS, type PayloadEmail, type PayloadEvent, payloadOf } from './payload.ts'

/** Announced with the id of a webhook that has a due delivery. */
export const WEBHOOK_DUE = 'webhook_due'

/** An event and the webhooks that subscribe to it. */
export interface Outgoing {
  accountId: Id
  event: PayloadEvent & { origin: Pick<EmailOrigin, 'domainId'> | null }
  subscribers: readonly Subscriber[]
}

/** Is called in the transaction that records the events. */
export async function queueForWebhooks(tx: Tx, outgoing: readonly Outgoing[]): Promise<void> {
  if (outgoing.length === 0) return
  const emails = await emailsOf(tx, outgoing)
  const rows = outgoing.flatMap(({ accountId, event, subscribers }) => {
    const email = emails.get(idKey(event.subjectId))
    const wanted = subscribers.filter(({ domains }) => domains === null || isAmong(domains, event, email))
    const body = wanted.length > 0 ? payloadOf(event, email) : ''
    return wanted.map(({ webhookId }) =>
      deliveryRow({ webhookId, accountId, body, id: tx.newId(event.at), at: event.at }, event),
    )
  })
  await tx.rows.insert('webhookDeliveries', rows)
  const due = new Map(rows.map(({ webhookId }) => [idKey(webhookId), webhookId]))
  for (const webhookId of due.values()) tx.announce(WEBHOOK_DUE, webhookId)
}

/** An email to the simulator may have no domain, and is then of none of them. */
function isAmong(
  domains: ReadonlySet<string>,
  { type, subjectId, origin }: Outgoing['event'],
  email: PayloadEmail | undefined,
): boolean {
  const domainId = type.startsWith('domain.') ? subjectId : email ? email.domainId : origin?.domainId
  return domainId ? domains.has(idText(domainId)) : false
}

interface NewDelivery {
  webhookId: Id
  id: Id
  accountId: Id
  body: string
  at: number
}

/** Makes the row of a delivery that is due at once. */
export function deliveryRow(
  { webhookId, id, accountId, body, at }: NewDelivery,
  event: Pick<PayloadEvent, 'id' | 'type'>,
): WebhookDeliveryRow {
  return {
    webhookId,
    id,
    accountId,
    body,
    eventId: event.id,
    eventType: event.type,
    isTest: 0,
    state: WEBHOOK_DELIVERY_STATE.waiting,
    success: 0,
    attempts: 0,
    nextAt: at,
    createdAt: at,
    leaseUntil: null,
    lastAttemptAt: null,
    durationMs: null,
    url: null,
    responseStatus: null,
    responseBody: null,
    error: null,
    attemptLog: null,
  }
}

async function emailsOf(tx: Tx, outgoing: readonly Outgoing[]): Promise<Map<string, PayloadEmail>> {
  const keys = new Map(
    outgoing
      .filter(({ event }) => isOfSentEmail(event.type))
      .map(({ accountId, event }) => [idKey(event.subjectId), { accountId, id: event.subjectId }]),
  )
  if (keys.size === 0) return new Map()
  const found = await tx.rows.find('emails', [...keys.values()], PAYLOAD_COLUMNS)
  return new Map([...keys.keys()].flatMap((key, i) => (found[i] ? [[key, found[i]]] : [])))
}
