/**
 * Serves contacts without an audience in the path, as newer SDKs name them: the contact of the oldest
 * audience that has it. Subscriptions change in all audiences with the same address unless the body names
 * one. Deleting a contact that does not exist succeeds, as these SDKs expect.
 */

import { type Id, wireId } from '../../../lib/ids.ts'
import { findPlacedContact } from '../../../resources/contacts/read.ts'
import type { ContactRow } from '../../../store/model/schema.ts'
import { orNotFound, unlessMissing } from '../api-error.ts'
import { type ApiRequest, ok, type Route } from '../route/route.ts'
import { contactRoutes } from './routes.ts'
import {
  contactRefOf,
  deletedContactSchema,
  placedContactChangesSchema,
  readNamedAudience,
} from './schema.ts'
import { TYPED_PROPERTIES } from './typed-properties.ts'

type Options = Parameters<typeof contactRoutes>[0]

const BELOW_AUDIENCE = '/audiences/:id/contacts/:contact_id'

const deletedOrMissingSchema = deletedContactSchema.extend({
  id: deletedContactSchema.shape.id
    .exactOptional()
    .meta({ description: 'Absent if the path has an address that no contact has.' }),
})

export function contactAliasRoutes(options: Options): Route[] {
  const inOneAudience = contactRoutes(options, TYPED_PROPERTIES)
  return contactRoutes({ ...options, reach: 'account' }, TYPED_PROPERTIES).flatMap((route, i) => {
    if (!route.path.startsWith(BELOW_AUDIENCE)) return []
    const mayName = route.method === 'PATCH' && route.path === BELOW_AUDIENCE
    const handle = async (request: ApiRequest) => {
      const { audienceId } = await placedContactOf(options.store, request)
      if (!mayName)
        return route.handle(below(audienceId, request, async () => inObject(await request.body())))
      const body = await request.body()
      const named = readNamedAudience(body)
      const { handle } = named ? inOneAudience[i]! : route
      return handle(below(named?.id ?? audienceId, request, async () => body))
    }
    const isDelete = route.method === 'DELETE'
    return {
      ...route,
      ...(mayName && { body: placedContactChangesSchema }),
      ...(isDelete && { replies: { 200: deletedOrMissingSchema } }),
      path: route.path.replace('/audiences/:id', ''),
      summary: `${route.summary} (alias of newer SDKs)`,
      handle: isDelete ? deleteOrPass(handle) : handle,
    } as Route
  })
}

function deleteOrPass(remove: Route['handle']) {
  return (request: ApiRequest) => {
    const contact = request.params.contact_id!
    const ref = contactRefOf(contact)
    const id = 'id' in ref && { id: wireId('con', ref.id) }
    return unlessMissing(remove(request), ok({ object: 'contact', ...id, contact, deleted: true }))
  }
}

function below(audienceId: Id, request: ApiRequest, body: ApiRequest['body']): ApiRequest {
  return { ...request, params: { ...request.params, id: wireId('aud', audienceId) }, body }
}

/**
 * Finds the contact that the path names, in the oldest audience that has it.
 * @throws ApiError 404
 */
export async function placedContactOf(
  { db }: Pick<Options['store'], 'db'>,
  { params, credential: { accountId } }: ApiRequest,
): Promise<ContactRow> {
  const ref = contactRefOf(params.contact_id!)
  return orNotFound(await findPlacedContact(db, accountId, ref), 'Contact')
}

/** Newer SDKs send topic subscriptions as a bare array. */
function inObject(body: unknown): unknown {
  return Array.isArray(body) ? { topics: body } : body
}
