/** Reads stored webhooks and their deliveries. */
import { sql } from 'kysely'
import { type Id, parseWireId } from '../../lib/ids.ts'
import { findOwn } from '../../store/model/own-row.ts'
import {
  type Db,
  WEBHOOK_DELIVERY_STATE,
  type WebhookDeliveryRow,
  type WebhookRow,
} from '../../store/model/schema.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/reading/list-page.ts'

/** Number of deliveries of a webhook that are listed, and kept after they have ended. */
export const DELIVERIES_LISTED_MAX = 50

/** Undefined when the account has no such webhook. */
export function findWebhook(db: Db, accountId: Id, id: Id): Promise<WebhookRow | undefined> {
  return findOwn(db, 'webhooks', { accountId, id })
}

/** Returns the domains to whose events the webhook is limited; null without a limit. */
export function domainIdsOf({ domainIds }: Pick<WebhookRow, 'domainIds'>): Id[] | null {
  return domainIds === null
    ? null
    : (JSON.parse(domainIds) as string[]).map(text => parseWireId('dom', text)!)
}

/** Webhooks of an account, the newest first. */
export async function listWebhooks(db: Db, accountId: Id, page: ListPage): Promise<FoundPage<WebhookRow>> {
  const own = db.selectFrom('webhooks').where('accountId', '=', accountId)
  return findPage(own, own.selectAll(), page)
}

/** A delivery with the dialect of its webhook, in which its payload is written. */
export type ListedDelivery = WebhookDeliveryRow & Pick<WebhookRow, 'dialect'>

/** Returns the latest deliveries, the newest first. */
export async function listWebhookDeliveries(
  db: Db,
  { accountId, id: webhookId, dialect }: WebhookRow,
): Promise<ListedDelivery[]> {
  const rows = await db
    .selectFrom('webhookDeliveries')
    .selectAll()
    .where('webhookId', '=', webhookId)
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .limit(DELIVERIES_LISTED_MAX)
    .execute()
  return rows.map(row => ({ ...row, dialect }))
}

/** A webhook, and the time at which its next delivery is due, in ms since the epoch. */
interface DueWebhook {
  webhookId: Id
  at: number
}

/** Yields webhooks with waiting deliveries. Each costs one index step, however many deliveries wait. */
export async function* stepDueWebhooks(db: Db): AsyncGenerator<DueWebhook> {
  for (let after = new Uint8Array(); ; ) {
    const { rows } = await sql<DueWebhook>`
      select webhook_id as "webhookId", next_at as at from webhook_deliveries
      where state = ${sql.lit(WEBHOOK_DELIVERY_STATE.waiting)} and webhook_id > ${after}
      order by webhook_id, next_at limit 1`.execute(db)
    const [next] = rows
    if (!next) return
    yield next
    after = next.webhookId as Uint8Array<ArrayBuffer>
  }
}

const WAITING_COUNTED_MAX = 100_000

/** Counts deliveries that wait or are in progress, up to a limit: a long backlog takes as long to count. */
export async function countWaitingDeliveries(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select 1 from webhook_deliveries where state = ${sql.lit(WEBHOOK_DELIVERY_STATE.waiting)}
      limit ${sql.lit(WAITING_COUNTED_MAX)}
    ) as waiting`.execute(db)
  return Number(rows[0]!.count)
}

export async function hasWebhooks(db: Db): Promise<boolean> {
  return (await db.selectFrom('webhooks').select('id').limit(1).executeTakeFirst()) !== undefined
}
