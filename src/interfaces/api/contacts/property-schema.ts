/** Schemas of contact property definitions. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { keyFault, valueFault } from '../../../resources/contacts/properties.ts'
import type { DefinitionFields } from '../../../resources/contacts/property-definitions.ts'
import { PROPERTY_TYPES, type PropertyDefinitionRow } from '../../../store/model/schema.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader, presentSpelling } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

type PropertyType = PropertyDefinitionRow['type']

const fallbackSchema = z
  .union([z.string(), z.number()], { error: 'must be a string or a number' })
  .optional()
  .meta({ description: 'Value in broadcasts for contacts without the property.' })
export const newDefinitionSchema = z.object({
  key: z.string(),
  type: z.enum(PROPERTY_TYPES),
  fallback_value: fallbackSchema,
})
export const definitionChangesSchema = newDefinitionSchema.pick({ fallback_value: true })
const readNew = bodyReader(newDefinitionSchema, { emptyMeansAbsent: ['key', 'fallback_value'] })
const readChanges = bodyReader(definitionChangesSchema, { emptyMeansAbsent: ['fallback_value'] })

export const definitionSchema = z
  .object({
    object: z.literal('contact_property'),
    id: idSchema('prp'),
    key: z.string(),
    type: z.enum(PROPERTY_TYPES),
    fallback_value: z.union([z.string(), z.number()]).nullable(),
    created_at: timeSchema,
  })
  .meta({ id: 'ContactProperty' })

/** @throws ApiError 422 */
export function readDefinition(body: unknown): DefinitionFields {
  const { key, type, fallbackValue } = readNew(body)
  const fault = keyFault(key)
  if (fault !== undefined) throw invalidField('key', `\`key\` ${fault}.`)
  return { key, type, fallback: fallbackOf(type, fallbackValue) }
}

/**
 * Reads a change of the fallback value. Null removes the fallback; undefined means that the body has none.
 * @throws ApiError 422
 */
export function readFallback(body: unknown, type: PropertyType): string | null | undefined {
  const { fallbackValue } = readChanges(body)
  const isGiven = presentSpelling(body as Record<string, unknown>, 'fallback_value') !== undefined
  return isGiven ? fallbackOf(type, fallbackValue) : undefined
}

function fallbackOf(type: PropertyType, value: string | number | undefined): string | null {
  if (value === undefined) return null
  if (typeof value !== type)
    throw invalidField(
      'fallback_value',
      `\`fallback_value\` must be a ${type}, which is the type of the property.`,
    )
  const text = String(value)
  const fault = valueFault(text) ?? (/[{}]/.test(text) ? 'must not contain `{` or `}`' : undefined)
  if (fault !== undefined) throw invalidField('fallback_value', `\`fallback_value\` ${fault}.`)
  return text
}

export function definitionView(row: PropertyDefinitionRow): z.output<typeof definitionSchema> {
  const { id, key, type, fallback, createdAt } = row
  return {
    object: 'contact_property',
    id: wireId('prp', id),
    ...{ key, type },
    fallback_value: type === 'number' && fallback !== null ? Number(fallback) : fallback,
    created_at: timestamp(createdAt),
  }
}
