/** Serves the contacts of an audience and their topic subscriptions. */

import type { Clock } from '../../../lib/clock.ts'
import type { Id, IdSource } from '../../../lib/ids.ts'
import type { ContactPlace, Reach } from '../../../resources/contacts/contact.ts'
import type { ContactAnswer, contactCommands } from '../../../resources/contacts/contact-commands.ts'
import { TOPICS_MAX } from '../../../resources/contacts/limits.ts'
import type { ContactQuery, ContactsFound } from '../../../resources/contacts/list.ts'
import { contactsByAddress, findContact, listTopics, viewsOf } from '../../../resources/contacts/read.ts'
import type { topicCommands } from '../../../resources/contacts/topic-commands.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { invalidField, orNotFound } from '../api-error.ts'
import { audienceOf } from '../audiences/routes.ts'
import { cutIdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'
import { type ApiRequest, created, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { type Warning, withWarnings } from '../route/warnings.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { contactTopicSchema, contactTopicView } from '../topics/schema.ts'
import {
  contactChangesSchema,
  contactRefOf,
  deletedContactSchema,
  memberQuery,
  newContactSchema,
  readContact,
  readContactChanges,
  readMemberQuery,
  readSubscriptions,
  refusedContact,
  subscriptionsSchema,
} from './schema.ts'
import { type ContactForm, PLAIN_PROPERTIES } from './typed-properties.ts'

const BY_ACCOUNT = 'is not applied here, because the path names an audience. Use `POST /contacts` instead.'
/** Fields that some SDKs send also when they add a contact to an audience. */
const NOT_ADDED = { segments: `\`segments\` ${BY_ACCOUNT}`, topics: `\`topics\` ${BY_ACCOUNT}` }
/** Fields with which SDKs add a contact, and which are changed at paths of their own. */
const NOT_CHANGED = {
  segments: '`segments` is not applied here. Use `/contacts/:id/segments/:segment_id` instead.',
  topics: '`topics` is not applied here. Use `PATCH /contacts/:id/topics` instead.',
}
const ALL_TOPICS = { limit: TOPICS_MAX, offset: 0, cursor: null }
const TOPICS: Listed = { prefixes: ['top'], name: 'Topic', what: 'a topic', fallback: 20 }

interface ContactRoutesOptions {
  store: { db: Db; find: Find; run: Run<typeof contactCommands & typeof topicCommands> }
  reader: { listContacts(query: ContactQuery): Promise<ContactsFound> }
  clock: Clock
  newId: IdSource
  /** Whether subscriptions change in one audience or in the whole account. */
  reach?: Reach
}

/** @param form form of contacts in the replies */
export function contactRoutes(options: ContactRoutesOptions, form: ContactForm = PLAIN_PROPERTIES): Route[] {
  return [
    ...contactListRoutes(options, form),
    ...contactFieldRoutes(options, form),
    ...contactTopicRoutes(options, form),
  ]
}

function contactListRoutes(
  { store, reader, clock, newId }: ContactRoutesOptions,
  form: ContactForm,
): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/contacts',
      access: 'session',
      summary: 'List and search the contacts of an audience',
      query: memberQuery,
      replies: { 200: listSchema(form.schema) },
      async handle(request) {
        const question = readMemberQuery(request.query)
        const audience = await audienceOf(store.db, request)
        const found = await reader.listContacts({ audience, ...question })
        return contactList(store.db, audience.accountId, found, form)
      },
    },
    {
      method: 'POST',
      path: '/audiences/:id/contacts',
      access: 'session',
      summary: 'Add a contact to an audience',
      body: newContactSchema,
      notApplied: NOT_ADDED,
      replies: { 201: form.schema },
      async handle(request) {
        const { accountId, id: audienceId } = await audienceOf(store.db, request)
        const fields = readContact(await request.body())
        const at = clock.now()
        const answer = await store.run('addContact', { accountId, audienceId, id: newId(at), fields, at })
        return created(form.of(contactIn(answer)))
      },
    },
  ]
}

function contactFieldRoutes(
  { store, clock, reach = 'contact' }: ContactRoutesOptions,
  form: ContactForm,
): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/contacts/:contact_id',
      access: 'session',
      summary: 'Retrieve a contact by id or address',
      replies: { 200: form.schema },
      async handle(request) {
        const { id: audienceId, accountId } = await audienceOf(store.db, request)
        const contact = await findContact(store, { accountId, audienceId }, refOf(request))
        return ok(form.of(orNotFound(contact, 'Contact')))
      },
    },
    {
      method: 'PATCH',
      path: '/audiences/:id/contacts/:contact_id',
      access: 'session',
      summary: 'Update a contact; properties are merged, and null removes a property',
      body: contactChangesSchema,
      notApplied: NOT_CHANGED,
      emptyRemoves: ['first_name', 'last_name'],
      replies: { 200: form.schema },
      async handle(request) {
        const place = await placeOf(store, request)
        const changes = readContactChanges(await request.body())
        const input = { ...place, ref: refOf(request), changes, reach, at: clock.now() }
        const contact = contactIn(await store.run('changeContact', input))
        const leaves = changes.unsubscribed === true && reach !== 'account'
        return ok(
          withWarnings(form.of(contact), leaves ? await subscribedElsewhere(store.db, place, contact) : []),
        )
      },
    },
    {
      method: 'DELETE',
      path: '/audiences/:id/contacts/:contact_id',
      access: 'session',
      summary: 'Delete a contact from its audience',
      replies: { 200: deletedContactSchema },
      async handle(request) {
        const place = placeNamedBy(request)
        const answer = await store.run('removeContact', { ...place, ref: refOf(request), at: clock.now() })
        const contact = request.params.contact_id!
        return ok({ object: 'contact', id: contactIn(answer).id, contact, deleted: true })
      },
    },
  ]
}

function contactTopicRoutes(
  { store, clock, reach = 'contact' }: ContactRoutesOptions,
  form: ContactForm,
): Route[] {
  return [
    {
      method: 'GET',
      path: '/audiences/:id/contacts/:contact_id/topics',
      access: 'session',
      summary: 'List the topics of the account with the subscriptions of a contact, newest first',
      query: idPageQuery(TOPICS),
      replies: { 200: listSchema(contactTopicSchema) },
      async handle(request) {
        const page = readIdPage(request.query, TOPICS)
        const { id: audienceId, accountId } = await audienceOf(store.db, request)
        const contact = await findContact(store, { accountId, audienceId }, refOf(request))
        const { rows: topics } = await listTopics(store.db, accountId, ALL_TOPICS)
        const out = new Set(orNotFound(contact, 'Contact').unsubscribed_topics)
        const all = topics.map(topic => contactTopicView(topic, out))
        return pageReply(cutIdPage(all, page, TOPICS))
      },
    },
    {
      method: 'PATCH',
      path: '/audiences/:id/contacts/:contact_id/topics',
      access: 'session',
      summary: 'Update the topic subscriptions of a contact',
      body: subscriptionsSchema,
      replies: { 200: form.schema },
      async handle(request) {
        const place = await placeOf(store, request)
        const subscriptions = readSubscriptions(await request.body())
        const input = { ...place, ref: refOf(request), subscriptions, reach, at: clock.now() }
        return ok(form.of(contactIn(await store.run('subscribe', input))))
      },
    },
  ]
}

function placeNamedBy(request: ApiRequest): ContactPlace {
  return { accountId: request.credential.accountId, audienceId: pathId(request, 'aud') }
}

function refOf({ params }: ApiRequest) {
  return contactRefOf(params.contact_id!)
}

/**
 * Finds the audience before the body is read.
 * @throws ApiError 404
 */
async function placeOf(
  { db, find }: Pick<ContactRoutesOptions['store'], 'db' | 'find'>,
  request: ApiRequest,
): Promise<ContactPlace> {
  const { accountId, id: audienceId } = await audienceOf(db, request)
  const place = { accountId, audienceId }
  orNotFound(await findContact({ db, find }, place, refOf(request)), 'Contact')
  return place
}

/** Tells that the address of somebody who has left an audience still gets the mail of others. */
async function subscribedElsewhere(
  db: Db,
  { accountId }: ContactPlace,
  { email }: { email: string },
): Promise<Warning[]> {
  const others = (await contactsByAddress(db, accountId, email)).filter(
    ({ unsubscribed }) => unsubscribed === 0,
  )
  if (others.length === 0) return []
  const where = others.length === 1 ? 'another audience' : `${others.length} other audiences`
  const message =
    `\`unsubscribed\` was changed in this audience alone. The address is still subscribed in ${where}: ` +
    '`PATCH /contacts/:id` changes it in all.'
  return [{ path: 'unsubscribed', message }]
}

/** @throws ApiError */
export function contactIn(answer: ContactAnswer | 'no-topic') {
  if (answer === 'no-topic') throw invalidField('topics', 'Topic not found (`topics`).')
  if ('refused' in answer) throw refusedContact(answer.refused)
  return answer.contact
}

/** Answers with a page of contacts of one account. */
export async function contactList(db: Db, accountId: Id, found: ContactsFound, form: ContactForm) {
  return pageReply({ ...found, rows: await viewsOf(db, accountId, found.rows) }, form.of)
}
