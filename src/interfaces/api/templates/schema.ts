/** Schemas of templates and their versions. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { TemplateFields } from '../../../resources/templates/commands.ts'
import { compileTemplate } from '../../../resources/templates/compile.ts'
import { TEMPLATE_NAME_LENGTH_MAX, tagFault, templateFault } from '../../../resources/templates/limits.ts'
import type {
  StoredTemplate,
  StoredVersion,
  TemplateFacts,
  VersionFacts,
} from '../../../resources/templates/template-rows.ts'
import { invalidField } from '../api-error.ts'
import { readSubject } from '../emails/send-schema.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const templateBodySchema = z.object({
  name: z
    .string()
    .max(TEMPLATE_NAME_LENGTH_MAX)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  subject: z.string().optional(),
  html: z.string().optional(),
  text: z.string().optional(),
})

const readBody = bodyReader(templateBodySchema, { emptyMeansAbsent: ['name', 'subject'] })

export const templateRowSchema = z.object({
  object: z.literal('template'),
  id: idSchema('tpl'),
  name: z.string(),
  subject: z.string().nullable(),
  alias: z.null(),
  status: z.literal('published'),
  published_at: timeSchema,
  created_at: timeSchema,
  updated_at: timeSchema,
})
const variableSchema = z.object({
  key: z.string(),
  type: z.literal('string'),
  fallback_value: z.string().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
export const templateSchema = templateRowSchema
  .extend({
    html: z.string().nullable(),
    text: z.string().nullable(),
    from: z.null(),
    reply_to: z.null(),
    variables: z.array(variableSchema),
  })
  .meta({ id: 'Template' })
export const versionRowSchema = z.object({
  version: z.int().min(1),
  name: z.string(),
  subject: z.string().nullable(),
  created_at: timeSchema,
})
export const versionSchema = versionRowSchema.extend({
  html: z.string().nullable(),
  text: z.string().nullable(),
})

/**
 * Reads all four fields. An absent field is null.
 * @throws ApiError
 */
export function readTemplateBody(body: unknown): TemplateFields {
  const { name, subject, html = null, text = null } = readBody(body)
  const fields = {
    name: name.toWellFormed(),
    subject: readSubject(subject?.toWellFormed()),
    html,
    text,
  }
  const fault = templateFault(fields) ?? tagFault(fields)
  if (fault) throw invalidField(fault.part, `\`${fault.part}\` ${fault.fault}.`)
  return fields
}

export function templateView(template: StoredTemplate): z.output<typeof templateSchema> {
  const { html, text } = template
  return {
    ...templateRow(template),
    html,
    text,
    from: null,
    reply_to: null,
    variables: variablesOf(template),
  }
}

/**
 * Converts a template for lists. `status` and `alias` exist for the SDKs: there are no drafts and no aliases
 * here.
 */
export function templateRow(template: TemplateFacts): z.output<typeof templateRowSchema> {
  const { id, name, subject, createdAt, updatedAt } = template
  return {
    object: 'template',
    id: wireId('tpl', id),
    name,
    subject,
    alias: null,
    status: 'published',
    published_at: timestamp(updatedAt),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  }
}

/** A variable without a fallback is required. */
function variablesOf(template: StoredTemplate): z.output<typeof variableSchema>[] {
  const [created_at, updated_at] = [timestamp(template.createdAt), timestamp(template.updatedAt)]
  return compileTemplate(template).variables.map(({ name, fallback }) => ({
    key: name,
    type: 'string',
    fallback_value: fallback,
    created_at,
    updated_at,
  }))
}

export function versionView(version: StoredVersion): z.output<typeof versionSchema> {
  return { ...versionRow(version), html: version.html, text: version.text }
}

export function versionRow(facts: VersionFacts): z.output<typeof versionRowSchema> {
  const { version, name, subject, createdAt } = facts
  return { version, name, subject, created_at: timestamp(createdAt) }
}
