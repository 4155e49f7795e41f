/**
 * What routes decide about a received message, and how that is recorded. `routing.ts` makes the decisions;
 * `list-commands.ts` records them in the transaction that lists or drops the message.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { RouteLogEntry } from '../../resources/emails/inbound-route-log.ts'
import type { EventTargets } from '../../resources/events/record.ts'
import type { Tx } from '../../store/model/command.ts'
import type { InboundRouteRow } from '../../store/model/schema/inbound.ts'

/** The first route that matches a recipient. */
export interface MatchedRoute {
  recipient: string
  route: InboundRouteRow
}

/** The email by which a message was forwarded, or why it was not. */
export type Forwarded = { emailId: Id } | { fault: string }

export interface RouteDecision extends MatchedRoute {
  /** Null for other actions than `forward`. */
  forwarded: Forwarded | null
}

export interface Routed {
  decisions: readonly RouteDecision[]
  /** Whether webhooks that subscribe to `email.received` get the event: no route decides for a recipient. */
  isForSubscribers: boolean
}

interface RecordedRoutes {
  entries: RouteLogEntry[]
  /** Webhooks that get the event. */
  targets: EventTargets
}

/**
 * Is called in a transaction. A webhook that is disabled or deleted gets nothing.
 * @returns the entries of the log, and the webhooks that get the event
 */
export async function recordedRoutes(
  tx: Tx,
  accountId: Id,
  { decisions, isForSubscribers }: Routed,
): Promise<RecordedRoutes> {
  const wanted = new Map(
    decisions.flatMap(({ route: { webhookId } }) => (webhookId ? [[idKey(webhookId), webhookId]] : [])),
  )
  const ids = [...wanted.values()]
  const rows = await tx.rows.find(
    'webhooks',
    ids.map(id => ({ accountId, id })),
    ['enabled'],
  )
  const states = new Map(ids.map((id, i) => [idKey(id), rows[i]?.enabled]))
  return {
    entries: decisions.map(decision => entryOf(decision, states)),
    targets: { webhookIds: ids.filter(id => states.get(idKey(id)) === 1), isForSubscribers },
  }
}

/** Entry of the log for a recipient whose mail is dropped. */
export function droppedEntry({ recipient, route }: MatchedRoute): RouteLogEntry {
  return { routeId: route.id, recipient, outcome: 'dropped', reason: null, emailId: null }
}

function entryOf(
  { recipient, route, forwarded }: RouteDecision,
  states: ReadonlyMap<string, number | undefined>,
): RouteLogEntry {
  const entry = { routeId: route.id, recipient, reason: null, emailId: null }
  if (route.action === 'drop') return droppedEntry({ recipient, route })
  if (forwarded)
    return 'fault' in forwarded
      ? { ...entry, outcome: 'failed', reason: forwarded.fault }
      : { ...entry, outcome: 'forwarded', emailId: forwarded.emailId }
  const state = route.webhookId ? states.get(idKey(route.webhookId)) : undefined
  if (state === 1) return { ...entry, outcome: 'stored' }
  const reason = state === 0 ? 'The webhook is disabled.' : 'The webhook has been deleted.'
  return { ...entry, outcome: 'failed', reason }
}
