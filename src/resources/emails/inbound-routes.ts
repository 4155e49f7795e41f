/**
 * Routes of received mail as stored: ordered rules of an account, each with a pattern of recipient addresses
 * and an action. The HTTP API manages them, and `pipeline/inbound/routing.ts` applies them.
 */
import { type Id, sameId } from '../../lib/ids.ts'
import { domainOf } from '../../protocols/smtp/address.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { OwnKey } from '../../store/model/own-row.ts'
import type { InboundRouteRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'

/** Topic of announcements with the ids of accounts whose routes have changed. */
export const INBOUND_ROUTES_CHANGED = 'inbound_routes_changed'

/** Number of routes of an account. */
export const ROUTES_MAX = 100

/** The part of a route that its owner decides. */
export type RouteTerms = Pick<InboundRouteRow, 'pattern' | 'action' | 'webhookId' | 'forwardTo'>

/** Why a route is not stored. */
export type RouteRefusal = 'too-many' | 'no-domain' | 'no-webhook' | 'same-pattern'

interface ChangedRoute extends OwnKey {
  terms: RouteTerms
  /** New place, from 1; null leaves the route where it is, and adds a new one at the end. */
  position: number | null
}

/** Lists the routes of an account in their order. */
export function listInboundRoutes(db: Db, accountId: Id): Promise<InboundRouteRow[]> {
  return db
    .selectFrom('inboundRoutes')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('position')
    .execute()
}

export const inboundRouteCommands = {
  /** @returns all routes of the account, or why the new one is not stored */
  createInboundRoute: command<ChangedRoute & { at: number }, InboundRouteRow[] | RouteRefusal>(
    async (tx, { accountId, id, terms, position, at }) => {
      const others = await listInboundRoutes(tx.db, accountId)
      if (others.length >= ROUTES_MAX) return 'too-many'
      const refusal = await refuse(tx, accountId, terms, others)
      if (refusal) return refusal
      const row = { accountId, id, createdAt: at, position: others.length + 1, ...terms }
      await tx.rows.insert('inboundRoutes', [row])
      return arrange(tx, row, others, position)
    },
  ),

  /** @returns all routes of the account, or why the route is not changed; undefined if there is no such */
  changeInboundRoute: command<ChangedRoute, InboundRouteRow[] | RouteRefusal | undefined>(
    async (tx, { accountId, id, terms, position }) => {
      const routes = await listInboundRoutes(tx.db, accountId)
      const former = routes.find(route => sameId(route.id, id))
      if (!former) return undefined
      const others = routes.filter(route => route !== former)
      const refusal = await refuse(tx, accountId, terms, others)
      if (refusal) return refusal
      await tx.rows.update('inboundRoutes', ['accountId', 'id'], [{ accountId, id, ...terms }])
      return arrange(tx, { ...former, ...terms }, others, position ?? former.position)
    },
  ),

  /** The log of the route stays until its retention has passed. False if the account has no such route. */
  deleteInboundRoute: command<OwnKey, boolean>(async (tx, { accountId, id }) => {
    const routes = await listInboundRoutes(tx.db, accountId)
    const others = routes.filter(route => !sameId(route.id, id))
    if (others.length === routes.length) return false
    await tx.db.deleteFrom('inboundRoutes').where('accountId', '=', accountId).where('id', '=', id).execute()
    await renumber(tx, accountId, others)
    return true
  }),
}

async function refuse(
  tx: Tx,
  accountId: Id,
  { pattern, webhookId }: RouteTerms,
  others: readonly InboundRouteRow[],
): Promise<RouteRefusal | undefined> {
  if (others.some(other => other.pattern === pattern)) return 'same-pattern'
  const [domain] = await tx.rows.find('domains', [{ accountId, name: domainOf(pattern) }], ['id'])
  if (!domain) return 'no-domain'
  if (webhookId === null) return undefined
  const [webhook] = await tx.rows.find('webhooks', [{ accountId, id: webhookId }], ['id'])
  return webhook ? undefined : 'no-webhook'
}

/** Puts a route at a place among the others. */
async function arrange(
  tx: Tx,
  route: InboundRouteRow,
  others: readonly InboundRouteRow[],
  position: number | null,
): Promise<InboundRouteRow[]> {
  return renumber(tx, route.accountId, others.toSpliced((position ?? ROUTES_MAX) - 1, 0, route))
}

/** Stores the order of all routes of an account. */
async function renumber(
  tx: Tx,
  accountId: Id,
  routes: readonly InboundRouteRow[],
): Promise<InboundRouteRow[]> {
  const arranged = routes.map((route, i) => ({ ...route, position: i + 1 }))
  const moved = arranged.filter(({ position }, i) => position !== routes[i]!.position)
  await tx.rows.update(
    'inboundRoutes',
    ['accountId', 'id'],
    moved.map(({ id, position }) => ({ accountId, id, position })),
  )
  tx.announce(INBOUND_ROUTES_CHANGED, accountId)
  return arranged
}
