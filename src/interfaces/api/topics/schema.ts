/** Schemas of topics. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { DESCRIPTION_CHARACTERS_MAX } from '../../../resources/contacts/limits.ts'
import type { TopicFields } from '../../../resources/contacts/topic-commands.ts'
import { TOPIC_VISIBILITIES, type TopicRow } from '../../../store/model/schema.ts'
import { nameSchema } from '../audiences/schema.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const defaultSchema = z.enum(['opt_in', 'opt_out']).meta({
  description:
    '`opt_in`: contacts are subscribed unless they opt out; `opt_out`: contacts are not subscribed unless they opt in.',
})
const visibilitySchema = z.enum(TOPIC_VISIBILITIES).meta({
  description:
    '`public`: the preferences page shows the topic to everybody; `private`: only to subscribers of the topic.',
})
const descriptionSchema = z
  .string()
  .max(DESCRIPTION_CHARACTERS_MAX)
  .regex(/^[^\0]*$/, 'must not contain NUL')

export const newTopicSchema = z.object({
  name: nameSchema,
  description: descriptionSchema.optional(),
  default_subscription: defaultSchema.optional(),
  visibility: visibilitySchema.optional(),
})
export const topicChangesSchema = newTopicSchema.partial()
const readNew = bodyReader(newTopicSchema, { emptyMeansAbsent: ['name', 'description'] })
const readChanges = bodyReader(topicChangesSchema)

export const topicSchema = z
  .object({
    object: z.literal('topic'),
    id: idSchema('top'),
    name: z.string(),
    description: z
      .string()
      .meta({ description: 'Empty if the topic has none, since SDKs require a string.' }),
    default_subscription: defaultSchema,
    visibility: visibilitySchema,
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .meta({ id: 'Topic' })

/** Subscription of one contact to a topic: its explicit choice, or the default of the topic. */
export const contactTopicSchema = topicSchema
  .pick({ id: true, name: true, created_at: true })
  .extend({ description: z.string().nullable(), subscription: z.enum(['opt_in', 'opt_out']) })

/** @param unsubscribed ids of the topics that the contact is not subscribed to, as the API shows them */
export function contactTopicView(
  { id, name, description, createdAt }: TopicRow,
  unsubscribed: ReadonlySet<string>,
): z.output<typeof contactTopicSchema> {
  return {
    ...{ id: wireId('top', id), name, description, created_at: timestamp(createdAt) },
    subscription: unsubscribed.has(wireId('top', id)) ? 'opt_out' : 'opt_in',
  }
}

/** @throws ApiError 422 */
export function readTopic(body: unknown): TopicFields {
  const { name, description, defaultSubscription = 'opt_in', visibility = 'private' } = readNew(body)
  return {
    name: name.toWellFormed(),
    description: description?.toWellFormed() ?? null,
    defaultSubscription,
    visibility,
  }
}

/**
 * Absent fields are not changed; an empty description removes the description.
 * @throws ApiError 422
 */
export function readTopicChanges(body: unknown): Partial<TopicFields> {
  const { name, description, defaultSubscription, visibility } = readChanges(body)
  return {
    ...(name !== undefined && { name: name.toWellFormed() }),
    ...(description !== undefined && { description: description.toWellFormed() || null }),
    ...(defaultSubscription && { defaultSubscription }),
    ...(visibility && { visibility }),
  }
}

export function topicView(row: TopicRow): z.output<typeof topicSchema> {
  return {
    object: 'topic',
    id: wireId('top', row.id),
    name: row.name,
    description: row.description ?? '',
    default_subscription: row.defaultSubscription,
    visibility: row.visibility,
    created_at: timestamp(row.createdAt),
    updated_at: timestamp(row.updatedAt),
  }
}
