/**
 * Those whom broadcasts go to: what the HTTP door offers of audiences, their contacts and segments, and
 * topics. Part of the composition root.
 */

import { audienceAliasRoutes } from '../interfaces/api/audiences/alias-routes.ts'
import { audienceRoutes } from '../interfaces/api/audiences/routes.ts'
import { contactAliasRoutes } from '../interfaces/api/contacts/alias-routes.ts'
import { contactFileRoutes } from '../interfaces/api/contacts/file-routes.ts'
import { placedContactRoutes } from '../interfaces/api/contacts/placed-contact-routes.ts'
import { contactPropertyRoutes } from '../interfaces/api/contacts/property-routes.ts'
import { contactRoutes } from '../interfaces/api/contacts/routes.ts'
import { contactSegmentRoutes } from '../interfaces/api/contacts/segment-routes.ts'
import type { Route } from '../interfaces/api/route.ts'
import { segmentRoutes } from '../interfaces/api/segments/routes.ts'
import { topicRoutes } from '../interfaces/api/topics/routes.ts'
import type { IdSource } from '../lib/ids.ts'
import { createImporter } from '../resources/contacts/import/importer.ts'
import type { AppContext } from './context.ts'

export function audienceRoutesOf({ clock, store, reading }: AppContext, newId: IdSource): Route[] {
  const options = { store, reader: reading.reader, clock, newId }
  return [
    ...audienceRoutes(options),
    ...audienceAliasRoutes(options),
    ...contactFileRoutes({ ...options, importContacts: createImporter({ run: store.run, clock, newId }) }),
    ...contactRoutes(options),
    ...contactAliasRoutes(options),
    ...placedContactRoutes(options),
    ...contactSegmentRoutes(options),
    ...segmentRoutes(options),
    ...topicRoutes(options),
    ...contactPropertyRoutes(options),
  ]
}
