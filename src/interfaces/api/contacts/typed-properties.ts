/**
 * The two forms in which replies show the properties of contacts: as values under `/audiences`, and as
 * `{value, type}` at the paths of newer SDKs.
 */
import * as z from 'zod'
import type { ContactView } from '../../../resources/contacts/contact.ts'
import { contactSchema } from './schema.ts'

const typedPropertySchema = z.union([
  z.object({ value: z.string(), type: z.literal('string') }),
  z.object({ value: z.number(), type: z.literal('number') }),
  z.object({ value: z.boolean(), type: z.literal('boolean') }),
])

const typedContactSchema = contactSchema
  .extend({ properties: z.record(z.string(), typedPropertySchema) })
  .meta({ id: 'AccountContact' })

/** Form of a contact in replies. */
export interface ContactForm {
  schema: z.ZodObject
  of(contact: ContactView): object
}

export const PLAIN_PROPERTIES: ContactForm = { schema: contactSchema, of: contact => contact }

export const TYPED_PROPERTIES: ContactForm = {
  schema: typedContactSchema,
  of: ({ properties, ...contact }) => ({
    ...contact,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, { value, type: typeof value }]),
    ),
  }),
}
