/**
 * Serves contacts of the whole account, as newer SDKs create and list them. A new contact goes to the oldest
 * audience unless the request names others.
 */

import { type Id, idKey } from '../../../lib/ids.ts'
import type { AccountContactsQuery } from '../../../resources/contacts/account-list.ts'
import type { ContactsFound } from '../../../resources/contacts/list.ts'
import type { placingCommands } from '../../../resources/contacts/placing-commands.ts'
import { findAudience } from '../../../resources/contacts/read.ts'
import type { Run } from '../../../store/command.ts'
import { notFound } from '../api-error.ts'
import { created, type Route } from '../route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { contactIn, contactList, type contactRoutes } from './routes.ts'
import {
  contactSchema,
  type NamedAudience,
  placedContactQuery,
  placedContactSchema,
  readAudienceQuery,
  readContact,
  readContactQuery,
  readPlacement,
  unknownSegment,
} from './schema.ts'

type Options = Parameters<typeof contactRoutes>[0] & {
  store: { run: Run<typeof placingCommands> }
  reader: { listAccountContacts(query: AccountContactsQuery): Promise<ContactsFound | undefined> }
}

export function placedContactRoutes({ store, reader, clock, newId }: Options): Route[] {
  return [
    {
      method: 'GET',
      path: '/contacts',
      access: 'session',
      summary: 'List and search the contacts of the account, each address once (newer SDKs)',
      query: placedContactQuery,
      replies: { 200: listSchema(contactSchema) },
      async handle({ query, credential: { accountId } }) {
        const asked = readContactQuery(query)
        const named = readAudienceQuery(query)
        const audience = named && (await audienceNamed(accountId, named))
        const found = audience
          ? await reader.listContacts({ audience, filters: [], ...asked })
          : await reader.listAccountContacts({ accountId, ...asked })
        if (!found) throw notFound('Contact')
        return contactList(store.db, accountId, found)
      },
    },
    {
      method: 'POST',
      path: '/contacts',
      access: 'session',
      summary: 'Add a contact to the given audiences, or to the oldest one (newer SDKs)',
      body: placedContactSchema,
      replies: { 201: contactSchema },
      async handle({ credential: { accountId }, ...request }) {
        const body = await request.body()
        const fields = readContact(body)
        const { audiences, subscriptions } = readPlacement(body)
        const audienceIds = [...new Map(audiences.map(({ id }) => [idKey(id), id])).values()]
        await Promise.all(audiences.map(named => audienceNamed(accountId, named)))
        const at = clock.now()
        const ids = [newId(at), ...audienceIds.slice(1).map(() => newId(at))]
        const input = { accountId, audienceIds, ids, newAudienceId: newId(at), fields, subscriptions, at }
        return created(contactIn(await store.run('placeContact', input)))
      },
    },
  ]

  /** @throws ApiError 422 */
  async function audienceNamed(accountId: Id, { id, path }: NamedAudience) {
    const audience = await findAudience(store.db, accountId, id)
    if (!audience) throw unknownSegment(path)
    return audience
  }
}
