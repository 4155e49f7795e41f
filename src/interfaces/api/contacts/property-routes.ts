/** Serves definitions of contact properties (type and fallback value), in the format of newer SDKs. */

import type { Clock } from '../../../lib/clock.ts'
import { type IdSource, wireId } from '../../../lib/ids.ts'
import { KEYS_MAX } from '../../../resources/contacts/limits.ts'
import { type definitionCommands, listDefinitions } from '../../../resources/contacts/property-definitions.ts'
import type { Run } from '../../../store/model/command.ts'
import { findOwn } from '../../../store/model/own-row.ts'
import type { Db } from '../../../store/model/schema.ts'
import { ApiError, invalidField, orNotFound } from '../api-error.ts'
import { cutIdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'
import { type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  definitionChangesSchema,
  definitionSchema,
  definitionView,
  newDefinitionSchema,
  readDefinition,
  readFallback,
} from './property-schema.ts'

const PROPERTIES: Listed = { prefixes: ['prp'], name: 'Property', what: 'a property', fallback: 20 }

interface ContactPropertyRoutesOptions {
  store: { db: Db; run: Run<typeof definitionCommands> }
  clock: Clock
  newId: IdSource
}

export function contactPropertyRoutes(options: ContactPropertyRoutesOptions): Route[] {
  return [...listRoutes(options), ...objectRoutes(options)]
}

function listRoutes({ store, clock, newId }: ContactPropertyRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/contact-properties',
      access: 'session',
      summary: 'List the defined contact properties, newest first',
      query: idPageQuery(PROPERTIES),
      replies: { 200: listSchema(definitionSchema) },
      async handle({ query, credential: { accountId } }) {
        const page = readIdPage(query, PROPERTIES)
        const all = (await listDefinitions(store.db, accountId)).map(definitionView)
        return pageReply(cutIdPage(all, page, PROPERTIES))
      },
    },
    {
      method: 'POST',
      path: '/contact-properties',
      access: 'session',
      summary: 'Define a contact property: its type and its fallback value in broadcasts',
      body: newDefinitionSchema,
      replies: { 201: definitionSchema },
      async handle({ credential: { accountId }, ...request }) {
        const fields = readDefinition(await request.body())
        const at = clock.now()
        const made = await store.run('createPropertyDefinition', { accountId, id: newId(at), fields, at })
        if (made === 'taken') throw invalidField('key', 'A property with this `key` already exists.')
        if (made === 'too-many')
          throw new ApiError(422, 'validation_error', `An account may have at most ${KEYS_MAX} properties.`)
        return created(definitionView(made))
      },
    },
  ]
}

function objectRoutes({ store }: ContactPropertyRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/contact-properties/:id',
      access: 'session',
      summary: 'Retrieve a contact property',
      replies: { 200: definitionSchema },
      async handle(request) {
        return ok(definitionView(await definitionOf(store.db, request)))
      },
    },
    {
      method: 'PATCH',
      path: '/contact-properties/:id',
      access: 'session',
      summary: 'Change or remove the fallback value of a contact property',
      body: definitionChangesSchema,
      replies: { 200: definitionSchema },
      async handle(request) {
        const definition = await definitionOf(store.db, request)
        const { accountId, id } = definition
        const fallback = readFallback(await request.body(), definition.type)
        if (fallback === undefined) return ok(definitionView(definition))
        const changed = await store.run('changePropertyDefinition', { accountId, id, fallback })
        return ok(definitionView(orNotFound(changed, 'Property')))
      },
    },
    {
      method: 'DELETE',
      path: '/contact-properties/:id',
      access: 'session',
      summary: 'Delete the definition of a contact property; values of contacts are kept',
      replies: { 200: deletedSchema('contact_property', 'prp') },
      async handle(request) {
        const key = keyOf(request)
        orNotFound(await store.run('deletePropertyDefinition', key), 'Property')
        return ok({ object: 'contact_property', id: wireId('prp', key.id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 */
function keyOf(request: ApiRequest) {
  return { accountId: request.credential.accountId, id: pathId(request, 'prp') }
}

/** @throws ApiError 404 */
async function definitionOf(db: Db, request: ApiRequest) {
  return orNotFound(await findOwn(db, 'propertyDefinitions', keyOf(request)), 'Property')
}
