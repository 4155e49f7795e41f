/**
 * Which route answers a request: those are tried whose paths begin as its own does, not all that there are.
 */
import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { Route } from '../route.ts'

export interface Routing {
  /** Has the route answer that the path and the method name, or the next middleware where there is none. */
  dispatch: Middleware
  /** What a path takes; none where nothing is to be found. */
  methodsOf(path: string): string[]
}

/** @param handlerOf what a route does with a request, whose `params` are those of its path */
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

/** The first part of a path, which no route leaves open. */
function beginningOf(path: string): string {
  const end = path.indexOf('/', 1)
  return path.slice(1, end < 0 ? undefined : end)
}
