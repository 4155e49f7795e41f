/** Serves the audiences of the account. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, wireId } from '../../../lib/ids.ts'
import type { audienceCommands } from '../../../resources/contacts/audience-commands.ts'
import { AUDIENCES_MAX } from '../../../resources/contacts/limits.ts'
import { listPropertyKeys } from '../../../resources/contacts/property-keys.ts'
import { findAudience, listAudiences } from '../../../resources/contacts/read.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError, orNotFound } from '../api-error.ts'
import { type ApiRequest, created, listReply, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { AS_AUDIENCE, type AudienceName, audienceBodySchema } from './schema.ts'

interface AudienceRoutesOptions {
  store: { db: Db; run: Run<typeof audienceCommands> }
  clock: Clock
  newId: IdSource
}

const propertyKeySchema = z.object({ key: z.string(), contact_count: z.int().min(1) })

/** @param as what replies call an audience */
export function audienceRoutes(options: AudienceRoutesOptions, as: AudienceName = AS_AUDIENCE): Route[] {
  return [...audienceListRoutes(options, as), ...audienceObjectRoutes(options, as)]
}

function audienceListRoutes({ store, clock, newId }: AudienceRoutesOptions, as: AudienceName): Route[] {
  return [
    {
      method: 'POST',
      path: '/audiences',
      access: 'session',
      summary: 'Create an audience',
      body: audienceBodySchema,
      replies: { 201: as.schema },
      async handle({ credential: { accountId }, ...request }) {
        const { name } = as.read(await request.body())
        const at = clock.now()
        const audience = await store.run('createAudience', { accountId, id: newId(at), name, at })
        if (!audience)
          throw new ApiError(
            422,
            'validation_error',
            `An account may have at most ${AUDIENCES_MAX} audiences.`,
          )
        return created(as.view(audience))
      },
    },
    {
      method: 'GET',
      path: '/audiences',
      access: 'session',
      summary: 'List audiences',
      query: cursorPageQuery('aud'),
      replies: { 200: listSchema(as.schema) },
      async handle({ query, credential: { accountId } }) {
        const page = readCursorPage(query, 'aud', 'an audience')
        return pageReply(await listAudiences(store.db, accountId, page), as.view)
      },
    },
  ]
}

function audienceObjectRoutes({ store, clock }: AudienceRoutesOptions, as: AudienceName): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id',
      access: 'session',
      summary: 'Retrieve an audience',
      replies: { 200: as.schema },
      async handle(request) {
        return ok(as.view(await audienceOf(store.db, request)))
      },
    },
    {
      method: 'PATCH',
      path: '/audiences/:id',
      access: 'session',
      summary: 'Rename an audience',
      body: audienceBodySchema,
      replies: { 200: as.schema },
      async handle(request) {
        const { accountId, id } = await audienceOf(store.db, request)
        const { name } = as.read(await request.body())
        const audience = await store.run('renameAudience', { accountId, id, name })
        return ok(as.view(orNotFound(audience, 'Audience')))
      },
    },
    {
      method: 'DELETE',
      path: '/audiences/:id',
      access: 'session',
      summary: 'Delete an audience, its contacts and its segments',
      replies: { 200: as.deleted },
      async handle(request) {
        const id = pathId(request, 'aud')
        const { accountId } = request.credential
        orNotFound(await store.run('deleteAudience', { accountId, id, at: clock.now() }), 'Audience')
        return ok({ object: as.object, id: wireId('aud', id), deleted: true })
      },
    },
    {
      method: 'GET',
      path: '/audiences/:id/properties',
      access: 'session',
      summary:
        'List the properties of the contacts of an audience, with the number of contacts that have each',
      replies: { 200: listSchema(propertyKeySchema) },
      async handle(request) {
        const { id } = await audienceOf(store.db, request)
        const keys = await listPropertyKeys(store.db, id)
        const data = keys.map(({ key, contactCount }) => ({ key, contact_count: contactCount }))
        return listReply({ total: data.length, offset: 0 }, data)
      },
    },
  ]
}

/**
 * Finds the audience that `:id` names.
 * @throws ApiError 404
 */
export async function audienceOf(db: Db, request: ApiRequest) {
  const id = pathId(request, 'aud')
  return orNotFound(await findAudience(db, request.credential.accountId, id), 'Audience')
}
