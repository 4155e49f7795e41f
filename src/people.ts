/** Those whom broadcasts go to: what the HTTP door offers of audiences, their contacts and segments, and topics. Part of the composition root. */
import { createImporter } from './contacts/import/importer.ts'
import type { Route } from './http/route.ts'
import { audienceAliasRoutes } from './http/routes/audience-aliases.ts'
import { audienceRoutes } from './http/routes/audiences.ts'
import { contactAliasRoutes } from './http/routes/contact-aliases.ts'
import { contactFileRoutes } from './http/routes/contact-files.ts'
import { contactPropertyRoutes } from './http/routes/contact-properties.ts'
import { contactSegmentRoutes } from './http/routes/contact-segments.ts'
import { contactRoutes } from './http/routes/contacts.ts'
import { placedContactRoutes } from './http/routes/placed-contacts.ts'
import { segmentRoutes } from './http/routes/segments.ts'
import { topicRoutes } from './http/routes/topics.ts'
import type { IdSource } from './lib/ids.ts'
import type { Parts } from './parts.ts'

export function peopleRoutes({ clock, store, reading }: Parts, newId: IdSource): Route[] {
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
