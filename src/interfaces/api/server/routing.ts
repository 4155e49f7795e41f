/** Finds the route of a request. Only routes whose path begins with the same segment are tried. */
import Router from '@koa/router'
import type { Middleware } from 'koa'
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
