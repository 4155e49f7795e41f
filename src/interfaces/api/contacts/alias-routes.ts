/**
 * Serves paths of newer SDKs that have other routes behind them: audiences under `/segments`, and contacts
 * without an audience in the path. Replies have the form of properties that these SDKs read.
 */
import { type Id, wireId } from '../../../lib/ids.ts'
import { findAccountContact } from '../../../resources/contacts/read.ts'
import type { ContactRow } from '../../../store/model/schema.ts'
import { orNotFound, unlessMissing } from '../api-error.ts'
import { audienceRoutes } from '../audiences/routes.ts'
import { AS_SEGMENT } from '../audiences/schema.ts'
import { type ApiReply, type ApiRequest, ok, pathId, type Route } from '../route/route.ts'
import { contactRoutes } from './routes.ts'
import {
  accountContactChangesSchema,
  contactRefOf,
  deletedContactSchema,
  readNamedAudience,
} from './schema.ts'
import { TYPED_PROPERTIES } from './typed-properties.ts'

type ContactOptions = Parameters<typeof contactRoutes>[0]

const BELOW_AUDIENCE = '/audiences/:id/contacts/:contact_id'
/** Routes of audiences that have an alias. Paths below `/audiences/:id/` have different names in the SDKs. */
const OF_AUDIENCES = new Set(['/audiences', '/audiences/:id'])
const LIST = 'GET /audiences/:id/contacts'

const deletedOrMissingSchema = deletedContactSchema.extend({
  id: deletedContactSchema.shape.id
    .exactOptional()
    .meta({ description: 'Absent if the path has an address that no contact has.' }),
})

/** Serves audiences under `/segments`. The replies say `segment`. */
export function audienceAliasRoutes(options: Parameters<typeof audienceRoutes>[0] & ContactOptions): Route[] {
  return [...audienceRoutes(options, AS_SEGMENT), ...contactRoutes(options, TYPED_PROPERTIES)]
    .filter(({ method, path }) => OF_AUDIENCES.has(path) || `${method} ${path}` === LIST)
    .map(route => aliasOf(route, route.path.replace('/audiences', '/segments'), route.handle, deletedSegment))
}

/**
 * Serves a contact without an audience in the path: the contact of the oldest audience that has it.
 * Subscriptions change in all audiences with the same address unless the body names one.
 */
export function contactAliasRoutes(options: ContactOptions): Route[] {
  const inOneAudience = contactRoutes(options, TYPED_PROPERTIES)
  return contactRoutes({ ...options, reach: 'account' }, TYPED_PROPERTIES).flatMap((route, i) => {
    if (!route.path.startsWith(BELOW_AUDIENCE)) return []
    const mayName = route.method === 'PATCH' && route.path === BELOW_AUDIENCE
    const handle = async (request: ApiRequest) => {
      const { audienceId } = await accountContactOf(options.store, request)
      if (!mayName)
        return route.handle(below(audienceId, request, async () => inObject(await request.body())))
      const body = await request.body()
      const named = readNamedAudience(body)
      const { handle } = named ? inOneAudience[i]! : route
      return handle(below(named?.id ?? audienceId, request, async () => body))
    }
    return {
      ...aliasOf(route, route.path.replace('/audiences/:id', ''), handle, deletedContact),
      ...(mayName && { body: accountContactChangesSchema }),
      ...(route.method === 'DELETE' && { replies: { 200: deletedOrMissingSchema } }),
    } as Route
  })
}

/** @param deleted answers the deletion of what does not exist, which succeeds, as these SDKs expect */
function aliasOf(
  route: Route,
  path: string,
  handle: Route['handle'],
  deleted: (request: ApiRequest) => ApiReply,
): Route {
  return {
    ...route,
    path,
    summary: `${route.summary} (alias of newer SDKs)`,
    handle:
      route.method === 'DELETE'
        ? async (request: ApiRequest) => {
            const reply = deleted(request)
            return unlessMissing(handle(request), reply)
          }
        : handle,
  } as Route
}

function deletedSegment(request: ApiRequest): ApiReply {
  return ok({ object: 'segment', id: wireId('aud', pathId(request, 'aud')), deleted: true })
}

function deletedContact({ params }: ApiRequest): ApiReply {
  const contact = params.contact_id!
  const ref = contactRefOf(contact)
  return ok({ object: 'contact', ...('id' in ref && { id: wireId('con', ref.id) }), contact, deleted: true })
}

function below(audienceId: Id, request: ApiRequest, body: ApiRequest['body']): ApiRequest {
  return { ...request, params: { ...request.params, id: wireId('aud', audienceId) }, body }
}

/**
 * Finds the contact that the path names, in the oldest audience that has it.
 * @throws ApiError 404
 */
export async function accountContactOf(
  { db }: Pick<ContactOptions['store'], 'db'>,
  { params, credential: { accountId } }: ApiRequest,
): Promise<ContactRow> {
  const ref = contactRefOf(params.contact_id!)
  return orNotFound(await findAccountContact(db, accountId, ref), 'Contact')
}

/** Newer SDKs send topic subscriptions as a bare array. */
function inObject(body: unknown): unknown {
  return Array.isArray(body) ? { topics: body } : body
}
