/**
 * Audiences under the name that newer SDKs call them by: their segments are our audiences, and they know no
 * audience.
 */

import { contactRoutes } from '../contacts/routes.ts'
import type { Route } from '../route.ts'
import { audienceRoutes } from './routes.ts'

/** Ours have further names below an audience. */
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
