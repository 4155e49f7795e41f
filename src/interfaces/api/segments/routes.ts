/** Serves the segments of an audience (saved filters) and the contacts that match them. */

import type { Clock } from '../../../lib/clock.ts'
import { type Id, type IdSource, parseWireId, wireId } from '../../../lib/ids.ts'
import type { SegmentFilter } from '../../../resources/contacts/filters.ts'
import type { CountedAudience } from '../../../resources/contacts/known-counts.ts'
import { SEGMENTS_MAX } from '../../../resources/contacts/limits.ts'
import type { ContactQuery, ContactsFound } from '../../../resources/contacts/list.ts'
import { segmentsOf } from '../../../resources/contacts/members.ts'
import { findContact, findSegment, listSegments } from '../../../resources/contacts/read.ts'
import type { segmentCommands } from '../../../resources/contacts/segment-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db, SegmentRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { ApiError, notFound, orNotFound } from '../api-error.ts'
import { audienceOf } from '../audiences/routes.ts'
import { contactList } from '../contacts/routes.ts'
import { contactRefOf, contactSchema, memberQuery, readMemberQuery } from '../contacts/schema.ts'
import { PLAIN_PROPERTIES } from '../contacts/typed-properties.ts'
import { type ApiRequest, created, listReply, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  contactSegmentSchema,
  contactSegmentView,
  filterQuestionSchema,
  newSegmentSchema,
  readFilterQuestion,
  readSegment,
  readSegmentChanges,
  segmentChangesSchema,
  segmentCountSchema,
  segmentSchema,
  segmentView,
} from './schema.ts'

interface SegmentRoutesOptions {
  store: { db: Db; find: Find; run: Run<typeof segmentCommands> }
  reader: {
    listContacts(query: ContactQuery): Promise<ContactsFound>
    countMembers(question: { audience: CountedAudience; filters: readonly SegmentFilter[] }): Promise<number>
  }
  clock: Clock
  newId: IdSource
}

export function segmentRoutes(options: SegmentRoutesOptions): Route[] {
  const { store, reader } = options
  const view = async (audience: CountedAudience, segment: SegmentRow) => {
    const filters = JSON.parse(segment.filters) as SegmentFilter[]
    return segmentView(segment, await reader.countMembers({ audience, filters }))
  }
  return [
    ...segmentListRoutes(options, view),
    ...segmentObjectRoutes(options, view),
    countRoute(options),
    contactSegmentsRoute(options),
    {
      method: 'GET',
      path: '/audiences/:id/segments/:segment_id/contacts',
      access: 'session',
      summary: 'List and search the contacts of a segment',
      query: memberQuery,
      replies: { 200: listSchema(contactSchema) },
      async handle(request) {
        const question = readMemberQuery(request.query)
        const audience = await audienceOf(store.db, request)
        const filters = JSON.parse(
          (await segmentOf(store.db, audience.id, request)).filters,
        ) as SegmentFilter[]
        const all = [...filters, ...question.filters]
        const found = await reader.listContacts({ audience, ...question, filters: all })
        return contactList(store.db, audience.accountId, found, PLAIN_PROPERTIES)
      },
    },
  ]
}

function contactSegmentsRoute({ store, clock }: SegmentRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/audiences/:id/contacts/:contact_id/segments',
    access: 'session',
    summary: 'List the segments of an audience that a contact matches now, newest first',
    replies: { 200: listSchema(contactSegmentSchema) },
    async handle(request) {
      const { id: audienceId, accountId } = await audienceOf(store.db, request)
      const ref = contactRefOf(request.params.contact_id!)
      const contact = orNotFound(await findContact(store, { accountId, audienceId }, ref), 'Contact')
      const segments = await segmentsOf(store.db, clock.now(), {
        audienceId,
        id: parseWireId('con', contact.id)!,
      })
      return listReply({ total: segments.length, offset: 0 }, segments.map(contactSegmentView))
    },
  }
}

/** Counts the matches of filters that are not saved, for the segment editor. */
function countRoute({ store, reader }: SegmentRoutesOptions): Route {
  return {
    method: 'POST',
    path: '/audiences/:id/segments/count',
    access: 'session',
    whileReadOnly: true,
    scopes: ['contacts:read'],
    summary: 'Count the contacts that match filters, without saving a segment',
    body: filterQuestionSchema,
    replies: { 200: segmentCountSchema },
    async handle(request) {
      const audience = await audienceOf(store.db, request)
      const filters = readFilterQuestion(await request.body())
      return ok({ object: 'segment_count', contact_count: await reader.countMembers({ audience, filters }) })
    },
  }
}

type ViewOf = (audience: CountedAudience, segment: SegmentRow) => Promise<ReturnType<typeof segmentView>>

function segmentListRoutes({ store, clock, newId }: SegmentRoutesOptions, view: ViewOf): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/segments',
      access: 'session',
      summary: 'List the segments of an audience',
      query: pageQuery(),
      replies: { 200: listSchema(segmentSchema) },
      async handle(request) {
        const page = readPage(request.query)
        const audience = await audienceOf(store.db, request)
        const found = await listSegments(store.db, audience.id, page)
        const data = []
        for (const row of found.rows) data.push(await view(audience, row))
        return pageReply({ ...found, rows: data })
      },
    },
    {
      method: 'POST',
      path: '/audiences/:id/segments',
      access: 'session',
      summary: 'Create a segment of an audience',
      body: newSegmentSchema,
      replies: { 201: segmentSchema },
      async handle(request) {
        const audience = await audienceOf(store.db, request)
        const fields = readSegment(await request.body())
        const at = clock.now()
        const { accountId, id: audienceId } = audience
        const segment = await store.run('createSegment', {
          ...{ accountId, audienceId, id: newId(at), at },
          ...fields,
        })
        if (segment === 'no-audience') throw notFound('Audience')
        if (segment === 'too-many')
          throw new ApiError(
            422,
            'validation_error',
            `An audience may have at most ${SEGMENTS_MAX} segments.`,
          )
        return created(await view(audience, segment))
      },
    },
  ]
}

function segmentObjectRoutes({ store, clock }: SegmentRoutesOptions, view: ViewOf): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/segments/:segment_id',
      access: 'session',
      summary: 'Retrieve a segment',
      replies: { 200: segmentSchema },
      async handle(request) {
        const audience = await audienceOf(store.db, request)
        return ok(await view(audience, await segmentOf(store.db, audience.id, request)))
      },
    },
    {
      method: 'PUT',
      path: '/audiences/:id/segments/:segment_id',
      access: 'session',
      summary: 'Update the name or the filters of a segment',
      body: segmentChangesSchema,
      replies: { 200: segmentSchema },
      async handle(request) {
        const audience = await audienceOf(store.db, request)
        const { id } = await segmentOf(store.db, audience.id, request)
        const changes = readSegmentChanges(await request.body())
        const { accountId, id: audienceId } = audience
        const input = { accountId, audienceId, id, ...changes, at: clock.now() }
        const segment = orNotFound(await store.run('changeSegment', input), 'Segment')
        return ok(await view(audience, segment))
      },
    },
    {
      method: 'DELETE',
      path: '/audiences/:id/segments/:segment_id',
      access: 'session',
      summary: 'Delete a segment; its contacts are kept',
      replies: { 200: deletedSchema('segment', 'seg') },
      async handle(request) {
        const { accountId, id: audienceId } = await audienceOf(store.db, request)
        const id = pathId(request, 'seg', 'segment_id')
        const key = { accountId, audienceId, id }
        orNotFound(await store.run('deleteSegment', key), 'Segment')
        return ok({ object: 'segment', id: wireId('seg', id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 */
async function segmentOf(db: Db, audienceId: Id, request: ApiRequest): Promise<SegmentRow> {
  const id = pathId(request, 'seg', 'segment_id')
  return orNotFound(await findSegment(db, audienceId, id), 'Segment')
}
