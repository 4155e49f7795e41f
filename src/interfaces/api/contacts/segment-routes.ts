/**
 * Serves the audiences that contain the address of a contact. Newer SDKs call them the segments of the
 * contact.
 */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { accountContactCommands } from '../../../resources/contacts/account-contact-commands.ts'
import { audiencesWith, findAudience } from '../../../resources/contacts/read.ts'
import type { Run } from '../../../store/model/command.ts'
import { orNotFound } from '../api-error.ts'
import { accountSegmentSchema, accountSegmentView } from '../audiences/schema.ts'
import { cutIdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'
import { type ApiRequest, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { warningsSchema, withWarnings } from '../route/warnings.ts'
import { idSchema, listSchema } from '../schema/reply-schemas.ts'
import { accountContactOf } from './alias-routes.ts'
import { contactIn, type contactRoutes } from './routes.ts'
import { refusedContact } from './schema.ts'

type Options = Parameters<typeof contactRoutes>[0] & { store: { run: Run<typeof accountContactCommands> } }

const SEGMENTS: Listed = { prefixes: ['aud'], name: 'Segment', what: 'a segment', fallback: 20 }
const PATH = '/contacts/:contact_id/segments'

const STAYS_IN_LAST = {
  path: 'segment_id',
  message: 'The contact stays in the segment, because it is in no other. Delete the contact to remove it.',
}

const addedSchema = z.object({
  object: z.literal('segment'),
  id: idSchema('aud'),
  contact_id: idSchema('con').meta({
    description: 'Id of the contact in this audience; ids differ between audiences.',
  }),
})

export function contactSegmentRoutes(options: Options): Route[] {
  return [listRoute(options), addRoute(options), removeRoute(options)]
}

function listRoute({ store }: Options): Route {
  return {
    method: 'GET',
    path: PATH,
    access: 'session',
    summary: 'List the audiences that contain the address of a contact, newest first (newer SDKs)',
    query: idPageQuery(SEGMENTS),
    replies: { 200: listSchema(accountSegmentSchema) },
    async handle(request) {
      const page = readIdPage(request.query, SEGMENTS)
      const { accountId, email } = await accountContactOf(store, request)
      const all = (await audiencesWith(store.db, accountId, email)).reverse().map(accountSegmentView)
      return pageReply(cutIdPage(all, page, SEGMENTS))
    },
  }
}

function addRoute({ store, clock, newId }: Options): Route {
  return {
    method: 'POST',
    path: `${PATH}/:segment_id`,
    access: 'session',
    summary: 'Copy a contact into another audience (newer SDKs: add to segment)',
    replies: { 200: addedSchema },
    async handle(request) {
      const place = await placeOf(store, request)
      const { audienceId, id } = await accountContactOf(store, request)
      const at = clock.now()
      const input = { ...place, from: { audienceId, id }, id: newId(at), at }
      const contact = contactIn(await store.run('copyContact', input))
      return ok({ object: 'segment', id: contact.audience_id, contact_id: contact.id })
    },
  }
}

/** `audienceId` is the spelling of an SDK. */
const removedSchema = z.object({
  object: z.literal('segment'),
  id: idSchema('aud'),
  audienceId: idSchema('aud').meta({ description: 'Alias of `id`.' }),
  deleted: z
    .boolean()
    .meta({ description: 'False if the contact stays, because it is in no other segment.' }),
  warnings: warningsSchema,
})

function removeRoute({ store, clock, newId }: Options): Route {
  return {
    method: 'DELETE',
    path: `${PATH}/:segment_id`,
    access: 'session',
    summary:
      'Remove a contact from one of its audiences; it is kept in "Contacts" if it is in no other (newer SDKs: remove from segment)',
    replies: { 200: removedSchema },
    async handle(request) {
      const place = await placeOf(store, request)
      const { email } = await accountContactOf(store, request)
      const at = clock.now()
      const answer = await store.run('removeFromAudience', { ...place, email, newAudienceId: newId(at), at })
      if (typeof answer === 'object') throw refusedContact(answer.refused)
      const id = wireId('aud', place.audienceId)
      const reply = { object: 'segment', id, audienceId: id, deleted: answer === 'removed' }
      return ok(withWarnings(reply, answer === 'stays' ? [STAYS_IN_LAST] : []))
    },
  }
}

/** @throws ApiError 404 */
async function placeOf({ db }: Pick<Options['store'], 'db'>, request: ApiRequest) {
  const { accountId } = request.credential
  const audienceId = pathId(request, 'aud', 'segment_id', 'Segment')
  orNotFound(await findAudience(db, accountId, audienceId), 'Segment')
  return { accountId, audienceId }
}
