/** Schemas of contacts. */
import * as z from 'zod'
import { type Id, parseWireId } from '../../../lib/ids.ts'
import { foldAddress, parseAddress, searchedAddress } from '../../../protocols/smtp/address.ts'
import type { ContactChanges, ContactFields, ContactRef } from '../../../resources/contacts/contact.ts'
import type { ContactRefusal } from '../../../resources/contacts/contact-commands.ts'
import { KEYS_MAX, PROPERTIES_MAX, TOPICS_MAX } from '../../../resources/contacts/limits.ts'
import type { ContactQuery } from '../../../resources/contacts/list.ts'
import {
  keyFault,
  nameFault,
  type PropertyValue,
  valueFault,
} from '../../../resources/contacts/properties.ts'
import type { TopicSubscription } from '../../../resources/contacts/topic-commands.ts'
import { ApiError, invalidField, notFound } from '../api-error.ts'
import { invalidParameter } from '../schema/broken-rule.ts'
import { readCursor } from '../schema/cursor.ts'
import { bodyReader, pageQuery, readChoice, readPage, readTimeParameter } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { readFilters } from './filter-schema.ts'

const SEARCH_LENGTH_MAX = 254
/** Number of audiences in which one request may place a contact. */
const PLACES_MAX = 100

const propertySchema = z.union([z.string(), z.number(), z.boolean()])
/** A zod record would silently drop a key `__proto__`, so the object is checked by hand. */
const propertiesSchema = z
  .unknown()
  .meta({
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    description: 'Merged into the existing properties; null removes a key.',
  })
  .transform((input, context) => {
    const isObject = typeof input === 'object' && input !== null && !Array.isArray(input)
    if (!isObject) context.addIssue({ code: 'custom', message: 'must be an object' })
    const entries = isObject ? Object.entries(input) : []
    for (const [key, value] of entries)
      if (!isPropertyValue(value))
        context.addIssue({ code: 'custom', path: [key], message: 'must be a string, a number or a boolean' })
    return new Map(entries as [string, PropertyValue | null][])
  })
const fields = {
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  unsubscribed: z.boolean().optional(),
  properties: propertiesSchema.optional(),
}
export const newContactSchema = z.object({ email: z.string(), ...fields })
export const contactChangesSchema = newContactSchema.partial()
const readNew = bodyReader(newContactSchema, { emptyMeansAbsent: ['email'] })
const readChanges = bodyReader(contactChangesSchema, { emptyMeansAbsent: ['email'] })

export const subscriptionSchema = z.object({ id: z.string(), subscription: z.enum(['opt_in', 'opt_out']) })
export const subscriptionsSchema = z.object({ topics: z.array(subscriptionSchema).max(TOPICS_MAX) })
const readTopics = bodyReader(subscriptionsSchema)

/** Fields that name an audience, for paths without one. Newer SDKs call audiences segments. */
const oneAudience = {
  audience_id: z.string().optional().meta({ description: 'Id of the audience.' }),
  segment_id: z.string().optional().meta({ description: 'Alias of `audience_id`.' }),
}
const places = {
  ...oneAudience,
  segments: z
    .array(z.union([z.object({ id: z.string() }), z.string()]))
    .max(PLACES_MAX)
    .optional()
    .meta({
      description: 'Audiences to which the contact is added; by default the oldest of the account.',
    }),
}
export const newAccountContactSchema = newContactSchema.extend({
  ...places,
  topics: subscriptionsSchema.shape.topics.optional(),
})
const readAudiences = bodyReader(z.object({ ...places, topics: newAccountContactSchema.shape.topics }))
export const accountContactChangesSchema = contactChangesSchema.extend(oneAudience)
const readOneAudience = bodyReader(z.object(oneAudience))

export const contactSchema = z
  .object({
    object: z.literal('contact'),
    id: idSchema('con'),
    audience_id: idSchema('aud'),
    email: z.string(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    unsubscribed: z.boolean(),
    properties: z.record(z.string(), propertySchema),
    unsubscribed_topics: z
      .array(idSchema('top'))
      .meta({ description: 'Topics the contact is not subscribed to, explicitly or by their defaults.' }),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: 'Contact' })

export const deletedContactSchema = z.object({
  object: z.literal('contact'),
  id: idSchema('con'),
  contact: z.string().meta({ description: 'Id or address, as in the path.' }),
  deleted: z.literal(true),
})

export const contactQuery = {
  q: z
    .string()
    .max(SEARCH_LENGTH_MAX)
    .optional()
    .meta({ description: 'Substring of the address or a name.' }),
  ...pageQuery(),
  after: idSchema('con').optional(),
  before: idSchema('con').optional(),
}
/** Query of the contacts of an audience or a segment. */
export const memberQuery = {
  ...contactQuery,
  unsubscribed: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only contacts who have unsubscribed, or only the others.' }),
  filters: z.string().optional().meta({
    description: 'JSON list of conditions like the filters of a segment; a contact must match all.',
  }),
  created_after: z.string().optional().meta({ description: 'ISO 8601 time or date.' }),
  created_before: z.string().optional().meta({ description: 'ISO 8601 time or date.' }),
}
export const accountContactQuery = {
  ...contactQuery,
  audience_id: idSchema('aud').optional().meta({ description: 'Only contacts of this audience.' }),
  segment_id: idSchema('aud').optional().meta({ description: 'Alias of `audience_id`.' }),
}

/** @throws ApiError 422 naming every field at fault */
export function readContact(body: unknown): ContactFields {
  const { email, ...rest } = readNew(body)
  const {
    firstName = null,
    lastName = null,
    unsubscribed = false,
    properties,
  } = changesOf({ ...rest, email })
  const entries = [...(properties ?? [])].filter(
    (entry): entry is [string, PropertyValue] => entry[1] !== null,
  )
  return { email: addressOf(email), firstName, lastName, unsubscribed, properties: new Map(entries) }
}

/** @throws ApiError 422 naming every field at fault */
export function readContactChanges(body: unknown): ContactChanges {
  return changesOf(readChanges(body))
}

/** Audience that a request names. */
export interface NamedAudience {
  id: Id
  /** Path of the field in the request, for error messages. */
  path: string
}

/** @throws ApiError 422 for an invalid id of an audience or a topic */
export function readMemberships(body: unknown): {
  audiences: NamedAudience[]
  subscriptions: TopicSubscription[]
} {
  const { audienceId, segmentId, segments = [], topics = [] } = readAudiences(body)
  const texts: [path: string, text: string | undefined][] = [
    ['audience_id', audienceId],
    ['segment_id', segmentId],
    ...segments.map((segment, i): [string, string] =>
      typeof segment === 'string' ? [`segments[${i}]`, segment] : [`segments[${i}].id`, segment.id],
    ),
  ]
  const audiences = texts.flatMap(([path, text]) => (text === undefined ? [] : namedAudience(path, text)))
  return { audiences, subscriptions: subscriptionsOf(topics) }
}

/** @throws ApiError 422 */
export function readNamedAudience(body: unknown): NamedAudience | undefined {
  const { audienceId, segmentId } = readOneAudience(body)
  return firstNamed(audienceId, segmentId)
}

/**
 * Reads the audience that a list of contacts is restricted to.
 * @throws ApiError 422
 */
export function readAudienceQuery(query: URLSearchParams): NamedAudience | undefined {
  return firstNamed(query.get('audience_id'), query.get('segment_id'))
}

function firstNamed(audienceId: string | null | undefined, segmentId: string | null | undefined) {
  if (audienceId) return namedAudience('audience_id', audienceId)
  return segmentId ? namedAudience('segment_id', segmentId) : undefined
}

/** @throws ApiError 422 */
export function namedAudience(path: string, text: string): NamedAudience {
  const id = parseWireId('aud', text)
  if (!id) throw unknownSegment(path)
  return { id, path }
}

export function unknownSegment(path: string): ApiError {
  return invalidField(path, `Segment not found (\`${path}\`).`)
}

/** @throws ApiError */
export function readSubscriptions(body: unknown): TopicSubscription[] {
  return subscriptionsOf(readTopics(body).topics)
}

/** @throws ApiError 422 for an invalid id */
export function subscriptionsOf(topics: readonly z.output<typeof subscriptionSchema>[]): TopicSubscription[] {
  return topics.map(({ id: text, subscription }, i) => {
    const topicId = parseWireId('top', text)
    if (!topicId) throw unknownTopic(`topics[${i}].id`)
    return { topicId, subscribed: subscription === 'opt_in' }
  })
}

export function unknownTopic(path: string): ApiError {
  return invalidField(path, `Topic not found (\`${path}\`).`)
}

/**
 * Reads the id or the address of a contact.
 *
 * @throws ApiError 404 for anything else
 */
export function contactRefOf(text: string): ContactRef {
  const id = parseWireId('con', text)
  if (id) return { id }
  const parsed = parseAddress(text)
  if ('fault' in parsed) throw notFound('Contact')
  return { email: foldAddress(parsed.address) }
}

/** @throws ApiError 422 */
export function readContactQuery(
  query: URLSearchParams,
): Pick<ContactQuery, 'search' | 'limit' | 'offset' | 'cursor'> {
  return { search: readSearch(query), ...readPage(query), cursor: readCursor(query, 'con', 'a contact') }
}

/**
 * Reads `memberQuery`.
 * @throws ApiError 422
 */
export function readMemberQuery(query: URLSearchParams): Omit<ContactQuery, 'audience'> {
  const value = readChoice(query, 'unsubscribed', ['true', 'false'])
  return {
    ...readContactQuery(query),
    filters: [
      ...(value === undefined ? [] : [{ field: 'unsubscribed', op: 'eq', value } as const]),
      ...readFilters(query),
    ],
    createdFrom: readTimeParameter(query, 'created_after'),
    createdBefore: readTimeParameter(query, 'created_before'),
  }
}

function readSearch(query: URLSearchParams): string {
  const text = query.get('q') ?? ''
  const wanted = text.trim().toWellFormed()
  if (text.length <= SEARCH_LENGTH_MAX && !text.includes('\0'))
    return wanted.includes('@') ? searchedAddress(wanted) : wanted
  throw invalidParameter('q', `at most ${SEARCH_LENGTH_MAX} characters long, without NUL`, text)
}

export function refusedContact(refusal: ContactRefusal): ApiError {
  switch (refusal) {
    case 'no-audience':
      return notFound('Audience')
    case 'no-contact':
      return notFound('Contact')
    case 'taken': {
      const message = 'A contact with the address in `email` already exists in the audience.'
      return new ApiError(400, 'validation_error', message, { errors: [{ path: 'email', message }] })
    }
    case 'too-many-properties':
      return invalidField('properties', `A contact may have at most ${PROPERTIES_MAX} properties.`)
    case 'too-many-keys':
      return invalidField(
        'properties',
        `The contacts of an audience may have at most ${KEYS_MAX} different properties.`,
      )
  }
}

interface GivenFields {
  email?: string | undefined
  firstName?: string | undefined
  lastName?: string | undefined
  unsubscribed?: boolean | undefined
  properties?: ReadonlyMap<string, PropertyValue | null> | undefined
}

/** An empty name removes the name. */
function changesOf({ email, firstName, lastName, unsubscribed, properties }: GivenFields): ContactChanges {
  const faults = [
    ...faultsOfNames({ first_name: firstName, last_name: lastName }),
    ...faultsOfProperties(properties ?? new Map()),
  ]
  if (faults.length > 0)
    throw new ApiError(422, 'validation_error', faults[0]!.message, { errors: faults.slice(0, 100) })
  return {
    ...(email !== undefined && { email: addressOf(email) }),
    ...(firstName !== undefined && { firstName: firstName.trim() || null }),
    ...(lastName !== undefined && { lastName: lastName.trim() || null }),
    ...(unsubscribed !== undefined && { unsubscribed }),
    ...(properties && { properties }),
  }
}

function faultsOfNames(names: Readonly<Record<string, string | undefined>>) {
  return Object.entries(names).flatMap(([path, name]) => {
    const fault = name === undefined ? undefined : nameFault(name.trim())
    return fault === undefined ? [] : [{ path, message: `\`${path}\` ${fault}.` }]
  })
}

function isPropertyValue(value: unknown): boolean {
  return (
    value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  )
}

/** A null value removes a key, so its key is not validated. */
function faultsOfProperties(properties: ReadonlyMap<string, PropertyValue | null>) {
  return [...properties].flatMap(([key, value]) => {
    if (value === null) return []
    const path = `properties.${key}`
    const [ofKey, ofValue] = [keyFault(key), valueFault(value)]
    if (ofKey !== undefined) return [{ path, message: `The key of \`${path}\` ${ofKey}.` }]
    return ofValue === undefined ? [] : [{ path, message: `\`${path}\` ${ofValue}.` }]
  })
}

function addressOf(text: string): string {
  const parsed = parseAddress(text)
  if ('fault' in parsed) throw invalidField('email', `The address in \`email\` ${parsed.fault}.`)
  return foldAddress(parsed.address)
}
