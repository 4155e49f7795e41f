/**
 * Serves audiences under `/segments` as well. Newer SDKs have no audiences; their segments are our audiences.
 */

import { contactRoutes } from '../contacts/routes.ts'
import type { Route } from '../route.ts'
import { audienceRoutes } from './routes.ts'

/** Routes of audiences that have an alias. Paths below `/audiences/:id/` have different names in the SDKs. */
const SHARED = new Set(['/audiences', '/audiences/:id'])
const LIST = 'GET /audiences/:id/contacts'

export function audienceAliasRoutes(
  options: Parameters<typeof audienceRoutes>[0] & Parameters<typeof contactRoutes>[0],
): Route[] {
  return [...audienceRoutes(options), ...contactRoutes(options)]
    .filter(({ method, path }) => SHARED.has(path) || `${method} ${path}` === LIST)
    .map(route => ({
      ...route,
      path: route.path.replace('/audiences', '/segments'),
      summary: `${route.summary} (alias of newer SDKs)`,
    }))
}
