/**
 * Serves audiences under `/segments` as well. Newer SDKs have no audiences; their segments are our audiences.
 * The replies say `segment`, and have the form of properties that these SDKs read.
 */

import { wireId } from '../../../lib/ids.ts'
import { unlessMissing } from '../api-error.ts'
import { audienceRoutes } from '../audiences/routes.ts'
import { AS_SEGMENT } from '../audiences/schema.ts'
import { type ApiRequest, ok, pathId, type Route } from '../route/route.ts'
import { contactRoutes } from './routes.ts'
import { TYPED_PROPERTIES } from './typed-properties.ts'

/** Routes of audiences that have an alias. Paths below `/audiences/:id/` have different names in the SDKs. */
const SHARED = new Set(['/audiences', '/audiences/:id'])
const LIST = 'GET /audiences/:id/contacts'

export function audienceAliasRoutes(
  options: Parameters<typeof audienceRoutes>[0] & Parameters<typeof contactRoutes>[0],
): Route[] {
  return [...audienceRoutes(options, AS_SEGMENT), ...contactRoutes(options, TYPED_PROPERTIES)]
    .filter(({ method, path }) => SHARED.has(path) || `${method} ${path}` === LIST)
    .map(route => ({
      ...route,
      ...(route.method === 'DELETE' && { handle: deleteOrPass(route) }),
      path: route.path.replace('/audiences', '/segments'),
      summary: `${route.summary} (alias of newer SDKs)`,
    }))
}

/** Answers the deletion of a segment that does not exist like any other, as these SDKs expect. */
function deleteOrPass(route: Route) {
  return (request: ApiRequest) => {
    const id = wireId('aud', pathId(request, 'aud'))
    return unlessMissing(route.handle(request), ok({ object: 'segment', id, deleted: true }))
  }
}
