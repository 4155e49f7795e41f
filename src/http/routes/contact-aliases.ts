/** Contacts as newer SDKs name them, without their audience: that of several which is the oldest. */
import { findPlacedContact } from '../../contacts/read.ts'
import { wireId } from '../../lib/ids.ts'
import type { ContactRow } from '../../store/schema.ts'
import { notFound } from '../refused.ts'
import type { ApiRequest, Route } from '../route.ts'
import { contactRefOf } from '../wire/contact.ts'
import { contactRoutes } from './contacts.ts'

type Options = Parameters<typeof contactRoutes>[0]

const BELOW_AUDIENCE = '/audiences/:id/contacts/:contact_id'

export function contactAliasRoutes(options: Options): Route[] {
  return contactRoutes(options).flatMap(route => {
    if (!route.path.startsWith(BELOW_AUDIENCE)) return []
    return {
      ...route,
      path: route.path.replace('/audiences/:id', ''),
      summary: `${route.summary}, as newer SDKs name it`,
      handle: async (request: ApiRequest) => route.handle(await inItsAudience(options.store, request)),
    } as Route
  })
}

async function inItsAudience(store: Options['store'], request: ApiRequest): Promise<ApiRequest> {
  const { audienceId } = await placedContactOf(store, request)
  return {
    ...request,
    params: { ...request.params, id: wireId('aud', audienceId) },
    body: async () => inObject(await request.body()),
  }
}

/** The one that the path names, of the oldest audience that has it. @throws Refused 404 */
export async function placedContactOf(
  { db }: Pick<Options['store'], 'db'>,
  { params, credential: { accountId } }: ApiRequest,
): Promise<ContactRow> {
  const contact = await findPlacedContact(db, accountId, contactRefOf(params.contact_id!))
  if (!contact) throw notFound('Contact')
  return contact
}

/** They send what a contact says of topics as a bare list. */
function inObject(body: unknown): unknown {
  return Array.isArray(body) ? { topics: body } : body
}
