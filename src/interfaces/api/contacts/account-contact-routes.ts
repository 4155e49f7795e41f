/**
 * Serves contacts of the whole account, as newer SDKs create and list them. A new contact goes to the oldest
 * audience unless the request names others. A contact that exists is returned unchanged, so that a program
 * can create the same contacts again; the reply warns about fields that would have changed it.
 */

import { type Id, idKey, wireId } from '../../../lib/ids.ts'
import type { accountContactCommands } from '../../../resources/contacts/account-contact-commands.ts'
import type { AccountContactsQuery } from '../../../resources/contacts/account-list.ts'
import type { ContactChanges, ContactView } from '../../../resources/contacts/contact.ts'
import type { ContactsFound } from '../../../resources/contacts/list.ts'
import { findAudience } from '../../../resources/contacts/read.ts'
import type { TopicSubscription } from '../../../resources/contacts/topic-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import { orNotFound } from '../api-error.ts'
import { created, type Route } from '../route/route.ts'
import { type Warning, warningsSchema, withWarnings } from '../route/warnings.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { contactIn, contactList, type contactRoutes } from './routes.ts'
import {
  accountContactQuery,
  type NamedAudience,
  newAccountContactSchema,
  readAudienceQuery,
  readContact,
  readContactChanges,
  readContactQuery,
  readMemberships,
  unknownSegment,
} from './schema.ts'
import { TYPED_PROPERTIES } from './typed-properties.ts'

type Options = Parameters<typeof contactRoutes>[0] & {
  store: { run: Run<typeof accountContactCommands> }
  reader: { listAccountContacts(query: AccountContactsQuery): Promise<ContactsFound | undefined> }
}

const addedContactSchema = TYPED_PROPERTIES.schema.extend({ warnings: warningsSchema })

const HAS_LEFT: Warning = {
  path: 'unsubscribed',
  message:
    'The address has unsubscribed in all audiences that have it, so the new contact is unsubscribed, too. ' +
    'Update the contact to subscribe it again.',
}

export function accountContactRoutes({ store, reader, clock, newId }: Options): Route[] {
  return [
    {
      method: 'GET',
      path: '/contacts',
      access: 'session',
      summary: 'List and search the contacts of the account, each address once (newer SDKs)',
      query: accountContactQuery,
      replies: { 200: listSchema(TYPED_PROPERTIES.schema) },
      async handle({ query, credential: { accountId } }) {
        const page = readContactQuery(query)
        const named = readAudienceQuery(query)
        const audience = named && (await audienceNamed(accountId, named))
        const found = audience
          ? await reader.listContacts({ audience, filters: [], ...page })
          : await reader.listAccountContacts({ accountId, ...page })
        return contactList(store.db, accountId, orNotFound(found, 'Contact'), TYPED_PROPERTIES)
      },
    },
    {
      method: 'POST',
      path: '/contacts',
      access: 'session',
      summary:
        'Add a contact to the given audiences, or to the oldest one; an existing contact is returned unchanged (newer SDKs)',
      body: newAccountContactSchema,
      replies: { 201: addedContactSchema },
      async handle({ credential: { accountId }, ...request }) {
        const body = await request.body()
        const fields = readContact(body)
        const { audiences, subscriptions } = readMemberships(body)
        const audienceIds = [...new Map(audiences.map(({ id }) => [idKey(id), id])).values()]
        await Promise.all(audiences.map(named => audienceNamed(accountId, named)))
        const at = clock.now()
        const ids = [newId(at), ...audienceIds.slice(1).map(() => newId(at))]
        const input = { accountId, audienceIds, ids, newAudienceId: newId(at), fields, subscriptions, at }
        const answer = await store.run('addAccountContact', input)
        const contact = contactIn(answer)
        const existing = answer !== 'no-topic' && 'existing' in answer ? answer.existing : []
        const warnings = existing.flatMap(contact =>
          unchangedFields(contact, readContactChanges(body), subscriptions),
        )
        if (contact.unsubscribed && !fields.unsubscribed && existing.length === 0) warnings.push(HAS_LEFT)
        return created(withWarnings(TYPED_PROPERTIES.of(contact), eachPathOnce(warnings)))
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

/** Names the given fields that differ from an existing contact. */
function unchangedFields(
  contact: ContactView,
  { firstName, lastName, unsubscribed, properties = new Map() }: ContactChanges,
  subscriptions: readonly TopicSubscription[],
): Warning[] {
  const isIn = ({ topicId }: TopicSubscription) =>
    !contact.unsubscribed_topics.includes(wireId('top', topicId))
  const differing = [
    ...(firstName !== undefined && firstName !== contact.first_name ? ['first_name'] : []),
    ...(lastName !== undefined && lastName !== contact.last_name ? ['last_name'] : []),
    ...(unsubscribed !== undefined && unsubscribed !== contact.unsubscribed ? ['unsubscribed'] : []),
    ...[...properties]
      .filter(([key, value]) => value !== (contact.properties[key] ?? null))
      .map(([key]) => `properties.${key}`),
    ...(subscriptions.some(one => one.subscribed !== isIn(one)) ? ['topics'] : []),
  ]
  return differing.map(path => ({
    path,
    message: `\`${path}\` was not changed, because the contact exists. Change it with \`PATCH\`.`,
  }))
}

function eachPathOnce(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map(warning => [warning.path, warning])).values()]
}
