/**
 * Serves contacts without an audience in the path, as newer SDKs name them: the contact of the oldest
 * audience that has it. Subscriptions change in all audiences with the same address unless the body names
 * one.
 */

import { type Id, wireId } from '../../../lib/ids.ts'
import { findPlacedContact } from '../../../resources/contacts/read.ts'
import type { ContactRow } from '../../../store/schema.ts'
import { notFound } from '../api-error.ts'
import type { ApiRequest, Route } from '../route.ts'
import { contactRoutes } from './routes.ts'
import { contactRefOf, placedContactChangesSchema, readNamedAudience } from './schema.ts'

type Options = Parameters<typeof contactRoutes>[0]

const BELOW_AUDIENCE = '/audiences/:id/contacts/:contact_id'

export function contactAliasRoutes(options: Options): Route[] {
  const inOneAudience = contactRoutes(options)
  return contactRoutes({ ...options, reach: 'account' }).flatMap((route, i) => {
    if (!route.path.startsWith(BELOW_AUDIENCE)) return []
    const mayName = route.method === 'PATCH' && route.path === BELOW_AUDIENCE
    return {
      ...route,
      ...(mayName && { body: placedContactChangesSchema }),
      path: route.path.replace('/audiences/:id', ''),
      summary: `${route.summary} (alias of newer SDKs)`,
      async handle(request: ApiRequest) {
        const { audienceId } = await placedContactOf(options.store, request)
        if (!mayName)
          return route.handle(below(audienceId, request, async () => inObject(await request.body())))
        const body = await request.body()
        const named = readNamedAudience(body)
        const { handle } = named ? inOneAudience[i]! : route
        return handle(below(named?.id ?? audienceId, request, async () => body))
      },
    } as Route
  })
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
  const contact = await findPlacedContact(db, accountId, contactRefOf(params.contact_id!))
  if (!contact) throw notFound('Contact')
  return contact
}

/** Newer SDKs send topic subscriptions as a bare array. */
function inObject(body: unknown): unknown {
  return Array.isArray(body) ? { topics: body } : body
}
