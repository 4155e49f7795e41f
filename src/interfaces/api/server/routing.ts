/**
 * Finds the route of a request, and reads its query parameters. Only routes whose path begins with the same
 * segment are tried.
 */
import Router from '@koa/router'
import type { Middleware } from 'koa'
import { invalidField } from '../api-error.ts'
import type { Route } from '../route/route.ts'

export interface Routing {
  /** Calls the route for path and method, or the next middleware if there is none. */
  dispatch: Middleware
  /** Returns the methods of a path; empty for an unknown path. */
  methodsOf(path: string): string[]
}

/** @param handlerOf converts a route to a middleware, whose `params` are those of the path */
export function createRouting<R extends Pick<Route, 'method' | 'path'>>(
  routes: readonly R[],
  handlerOf: (route: R) => Middleware,
): Routing {
  const routers = new Map(
    Map.groupBy(routes, ({ path }) => beginningOf(path))
      .entries()
      .map(([beginning, those]) => [beginning, routerOf(those, handlerOf)]),
  )
  return {
    dispatch(ctx, next) {
      const router = routers.get(beginningOf(ctx.path))
      return router ? router.dispatch(ctx as never, next) : next()
    },
    methodsOf: path => routers.get(beginningOf(path))?.methodsOf(path) ?? [],
  }
}

function routerOf<R extends Pick<Route, 'method' | 'path'>>(
  routes: readonly R[],
  handlerOf: (route: R) => Middleware,
) {
  const router = new Router({ sensitive: true })
  for (const route of routes) router.register(route.path, [route.method], handlerOf(route))
  return {
    dispatch: router.routes(),
    methodsOf: (path: string) => [...new Set(router.match(path, '').path.flatMap(layer => layer.methods))],
  }
}

/** Returns the first segment of a path, which is never a parameter. */
function beginningOf(path: string): string {
  const end = path.indexOf('/', 1)
  return path.slice(1, end < 0 ? undefined : end)
}

/** Resources that the SDKs have methods for and Mailhorn does not have, by the first segment of the path. */
const NOT_OFFERED: ReadonlyMap<string, string> = new Map([
  [
    'events',
    'Mailhorn does not have custom events yet. The events of this account are at `/activity`, and live at `/activity/stream`.',
  ],
  ['automations', 'Mailhorn does not have automations yet.'],
  ['inboxes', 'Mailhorn does not have inboxes with threads and drafts. Received mail is at `/inbound`.'],
  ['oauth', 'Mailhorn does not have OAuth grants.'],
  ['oauth-grants', 'Mailhorn does not have OAuth grants.'],
])

/**
 * Says why a path is answered 404, for every method, in place of "Unknown path".
 * @returns undefined unless the path is of a resource that Mailhorn does not have
 */
export function notOfferedMessage(path: string): string | undefined {
  return NOT_OFFERED.get(path.split('/', 2)[1]!)
}

/**
 * Matches parameters that name a resource. An empty one is left to the route, since it could widen a result.
 */
const REFERENCE = /_id$/

/**
 * Removes empty parameters, which count as absent.
 * @throws ApiError 422 for a parameter of the route that occurs more than once
 */
export function readParameters(text: string, { query = {} }: Pick<Route, 'query'>): URLSearchParams {
  const params = new URLSearchParams(text)
  if (params.size === 0) return params
  const repeated = Object.keys(query).find(name => params.getAll(name).length > 1)
  if (repeated !== undefined)
    throw invalidField(repeated, `The \`${repeated}\` parameter must not be given more than once.`)
  return new URLSearchParams([...params].filter(([name, value]) => value !== '' || REFERENCE.test(name)))
}
