/** Serves imports and exports of contacts as CSV. Files are streamed in both directions. */

import { parseWireId } from '../../../lib/ids.ts'
import { contactsHeader, type ExportBatch, type ExportQuery } from '../../../resources/contacts/export.ts'
import { lookAtFile } from '../../../resources/contacts/import/look.ts'
import { surveyImport } from '../../../resources/contacts/import/survey.ts'
import { listPropertyKeys } from '../../../resources/contacts/property-keys.ts'
import { findImport, findSegment, listImports } from '../../../resources/contacts/read.ts'
import { ReplayedStream } from '../../../store/blobs/replayed-stream.ts'
import { invalidField, notFound, orNotFound } from '../api-error.ts'
import { audienceOf } from '../audiences/routes.ts'
import { csvFile, exportReply } from '../route/export.ts'
import { ok, pageReply, pathId, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { idSchema, listSchema } from '../schema/reply-schemas.ts'
import { asRefused, IMPORT_BYTES_MAX, type ImportFormsOptions, importForms } from './import-routes.ts'
import {
  CSV,
  importQuery,
  importSchema,
  importView,
  lookSchema,
  lookView,
  readColumnMeanings,
  readColumnUses,
  readFileName,
  readOnExisting,
  requireCsv,
} from './import-schema.ts'

/** The beginning of a file is enough. */
const LOOK_BYTES_MAX = 1024 * 1024

interface ContactFileRoutesOptions extends ImportFormsOptions {
  reader: { exportContacts(query: ExportQuery): Promise<ExportBatch> }
}

export function contactFileRoutes(options: ContactFileRoutesOptions): Route[] {
  return [...uploadRoutes(options), ...importRoutes(options), ...importForms(options), exportRoute(options)]
}

function uploadRoutes({ store, importContacts }: ContactFileRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/audiences/:id/contacts/import',
      access: 'session',
      summary: 'Import contacts from CSV; the reply follows when all rows are processed',
      bodyType: CSV,
      bodyLimitBytes: IMPORT_BYTES_MAX,
      query: importQuery,
      replies: { 200: importSchema },
      async handle(request) {
        const { accountId, id: audienceId } = await audienceOf(store.db, request)
        const reading = { onExisting: readOnExisting(request.query), fileName: readFileName(request.query) }
        const terms = { accountId, audienceId, ...reading }
        const charset = requireCsv(request)
        const meanings = readColumnMeanings(request.query.get('column_meanings'))
        const uses = readColumnUses(request.query.get('column_uses'))
        const upload = new ReplayedStream(store.blobs.drafts, request.stream())
        const report = await surveyImport({ charset, meanings, uses, bytes: upload.first() })
          .then(plan => importContacts({ ...terms, charset, plan, bytes: upload.again() }))
          .catch(asRefused)
          .finally(() => upload.discard())
        return ok(importView(orNotFound(report, 'Audience')))
      },
    },
    {
      method: 'POST',
      path: '/audiences/:id/contacts/import/preview',
      access: 'session',
      whileReadOnly: true,
      scopes: ['contacts:read'],
      summary: 'Show the columns and first rows of a contact file, or of its beginning, without importing it',
      bodyType: CSV,
      bodyLimitBytes: LOOK_BYTES_MAX,
      replies: { 200: lookSchema },
      async handle(request) {
        await audienceOf(store.db, request)
        return ok(lookView(await lookAtFile(request.stream(), requireCsv(request)).catch(asRefused)))
      },
    },
  ]
}

function importRoutes({ store }: ContactFileRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/imports',
      access: 'session',
      summary: 'List imports of contacts, including those in progress',
      query: pageQuery(),
      replies: { 200: listSchema(importSchema) },
      async handle(request) {
        const page = readPage(request.query)
        const { id } = await audienceOf(store.db, request)
        return pageReply(await listImports(store.db, id, page), importView)
      },
    },
    {
      method: 'GET',
      path: '/audiences/:id/imports/:import_id',
      access: 'session',
      summary: 'Retrieve an import of contacts: progress or result',
      replies: { 200: importSchema },
      async handle(request) {
        const { id: audienceId } = await audienceOf(store.db, request)
        const id = pathId(request, 'imp', 'import_id')
        return ok(importView(orNotFound(await findImport(store.db, audienceId, id), 'Import')))
      },
    },
  ]
}

function exportRoute({ store, reader }: ContactFileRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/audiences/:id/contacts/export',
    access: 'session',
    summary: 'Export the contacts of an audience or of one of its segments as CSV',
    query: { segment_id: idSchema('seg').optional() },
    replies: { 200: CSV },
    async handle(request) {
      const { id: audienceId } = await audienceOf(store.db, request)
      const named = request.query.get('segment_id')
      const segmentId = named === null ? undefined : parseWireId('seg', named)
      if (named !== null && !segmentId)
        throw invalidField('segment_id', 'The `segment_id` parameter must be the id of a segment.')
      const segment = segmentId && (await findSegment(store.db, audienceId, segmentId))
      if (segmentId && !segment) throw notFound('Segment')
      const keys = (await listPropertyKeys(store.db, audienceId)).map(({ key }) => key)
      const filters = segment?.filters ?? null
      const batchAfter = (after: ExportQuery['after']) =>
        reader.exportContacts({ audienceId, filters, keys, after })
      return exportReply('contacts', 'csv', csvFile(contactsHeader(keys), await batchAfter(null), batchAfter))
    },
  }
}
