/**
 * Manages the routes of received mail (create, list, update, move, delete), and serves their logs. These API
 * routes must precede those of received messages, whose paths would match theirs.
 */
import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, sameId, wireId } from '../../../lib/ids.ts'
import { routeOfAddress } from '../../../pipeline/inbound/route-pattern.ts'
import { listRouteLog } from '../../../resources/emails/inbound-route-log.ts'
import {
  type inboundRouteCommands,
  listInboundRoutes,
  ROUTES_MAX,
  type RouteRefusal,
} from '../../../resources/emails/inbound-routes.ts'
import type { Run } from '../../../store/model/command.ts'
import type { InboundRouteRow } from '../../../store/model/schema/inbound.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { ApiError, fieldNotFound, invalidField, orNotFound } from '../api-error.ts'
import { cutIdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'
import { type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  newRouteSchema,
  readNewRoute,
  readRouteChange,
  readTestedAddress,
  routeChangeSchema,
  routeLogSchema,
  routeLogView,
  routeSchema,
  routeTestReplySchema,
  routeTestSchema,
  routeView,
} from './mail-route-schema.ts'
import { type InboundSightParts, sightOf } from './own-inbound.ts'

const ROUTES: Listed = {
  prefixes: ['rte'],
  name: 'Inbound route',
  what: 'an inbound route',
  fallback: ROUTES_MAX,
}

interface MailRouteRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find; run: Run<typeof inboundRouteCommands> }
  clock: Clock
  newId: IdSource
}

export function mailRouteRoutes(options: MailRouteRoutesOptions): Route[] {
  return [...listRoutes(options), testRoute(options), ...objectRoutes(options), logRoute(options)]
}

function listRoutes({ store, clock, newId }: MailRouteRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/inbound/routes',
      access: 'session',
      scopes: ['inbound:write', 'emails:send'],
      summary: 'Create a route for received mail',
      body: newRouteSchema,
      replies: { 201: routeSchema },
      async handle({ credential: { accountId }, ...request }) {
        const wanted = readNewRoute(await request.body())
        const at = clock.now()
        const id = newId(at)
        const routes = accepted(await store.run('createInboundRoute', { accountId, id, ...wanted, at }))
        return created(routeView(routes.find(route => sameId(route.id, id))!))
      },
    },
    {
      method: 'GET',
      path: '/inbound/routes',
      access: 'session',
      summary: 'List the routes for received mail, in their order',
      query: idPageQuery(ROUTES),
      replies: { 200: listSchema(routeSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readIdPage(query, ROUTES)
        const all = await listInboundRoutes(store.db, accountId)
        return pageReply(cutIdPage(all.map(routeView), page, ROUTES))
      },
    },
  ]
}

function testRoute({ store }: MailRouteRoutesOptions): Route {
  return {
    method: 'POST',
    path: '/inbound/routes/test',
    access: 'session',
    scopes: ['inbound:read'],
    whileReadOnly: true,
    summary: 'Find the route that matches the address of a recipient',
    body: routeTestSchema,
    replies: { 200: routeTestReplySchema },
    async handle({ credential: { accountId }, ...request }) {
      const address = readTestedAddress(await request.body())
      const routes = await listInboundRoutes(store.db, accountId)
      const route = routeOfAddress(routes, address)
      return ok({ object: 'inbound_route_test', address, route: route ? routeView(route) : null })
    },
  }
}

function objectRoutes({ store }: MailRouteRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/inbound/routes/:id',
      access: 'session',
      summary: 'Retrieve a route for received mail',
      replies: { 200: routeSchema },
      async handle(request) {
        return ok(routeView(await routeOf(store.db, request)))
      },
    },
    {
      method: 'PATCH',
      path: '/inbound/routes/:id',
      access: 'session',
      scopes: ['inbound:write', 'emails:send'],
      summary: 'Update a route for received mail, or move it among the routes',
      body: routeChangeSchema,
      replies: { 200: routeSchema },
      async handle(request) {
        const former = await routeOf(store.db, request)
        const { accountId, id } = former
        const wanted = readRouteChange(await request.body(), former)
        const changed = await store.run('changeInboundRoute', { accountId, id, ...wanted })
        const routes = accepted(orNotFound(changed, 'Inbound route'))
        return ok(routeView(routes.find(route => sameId(route.id, id))!))
      },
    },
    {
      method: 'DELETE',
      path: '/inbound/routes/:id',
      access: 'session',
      summary: 'Delete a route for received mail',
      replies: { 200: deletedSchema('inbound_route', 'rte') },
      async handle(request) {
        const id = pathId(request, 'rte')
        const { accountId } = request.credential
        if (!(await store.run('deleteInboundRoute', { accountId, id })))
          orNotFound(undefined, 'Inbound route')
        return ok({ object: 'inbound_route', id: wireId('rte', id), deleted: true })
      },
    },
  ]
}

function logRoute({ store, horizonOf }: MailRouteRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/inbound/routes/:id/log',
    access: 'session',
    summary: 'List what a route has done with received mail, newest first',
    query: cursorPageQuery('rtl'),
    replies: { 200: listSchema(routeLogSchema) },
    async handle(request) {
      const page = readCursorPage(request.query, 'rtl', 'an entry of the log')
      const { accountId, id: routeId } = await routeOf(store.db, request)
      const { horizon } = await sightOf(request.credential, horizonOf)
      return pageReply(await listRouteLog(store, { accountId, routeId, horizon }, page), routeLogView)
    },
  }
}

/** @throws ApiError 404 */
async function routeOf(db: Db, request: ApiRequest): Promise<InboundRouteRow> {
  const id = pathId(request, 'rte')
  const routes = await listInboundRoutes(db, request.credential.accountId)
  return orNotFound(
    routes.find(route => sameId(route.id, id)),
    'Inbound route',
  )
}

/** @throws ApiError if the route was not stored */
function accepted(result: InboundRouteRow[] | RouteRefusal): InboundRouteRow[] {
  switch (result) {
    case 'too-many':
      throw new ApiError(422, 'validation_error', `An account may have at most ${ROUTES_MAX} inbound routes.`)
    case 'no-domain':
      throw invalidField('match', 'The domain of `match` is not a domain of this account.')
    case 'no-webhook':
      throw fieldNotFound('webhook_id', 'Webhook')
    case 'same-pattern':
      throw invalidField(
        'match',
        'Another route has the same `match`, so that one of them would never count.',
      )
    default:
      return result
  }
}
