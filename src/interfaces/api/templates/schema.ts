/** Schemas of templates and their versions. */
import * as z from 'zod'
import { type Id, wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { type Mailbox, mailboxText } from '../../../protocols/smtp/address.ts'
import { parseStoredMailboxes, storedMailboxes } from '../../../resources/emails/email-rows.ts'
import { aliasFault } from '../../../resources/templates/alias.ts'
import type { TemplateChange, TemplateFields } from '../../../resources/templates/commands.ts'
import { compileTemplate, type EmailText } from '../../../resources/templates/compile.ts'
import { type DeclaredVariable, parseDeclared } from '../../../resources/templates/declared.ts'
import { TEMPLATE_NAME_LENGTH_MAX, tagFault, templateFault } from '../../../resources/templates/limits.ts'
import { parseText } from '../../../resources/templates/parse.ts'
import type {
  StoredTemplate,
  StoredVersion,
  TemplateFacts,
  VersionFacts,
} from '../../../resources/templates/template-rows.ts'
import { invalidField } from '../api-error.ts'
import { readFrom, readMailboxes, readSubject } from '../emails/send-schema.ts'
import { bodyReader, camelCase, oneOrMany } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { readVariables, shownVariables, variableSchema, variablesMeta } from './variable-schema.ts'

const name = lineText(TEMPLATE_NAME_LENGTH_MAX)
const fields = {
  alias: z.string().optional().meta({ description: 'Name that can be used in place of the id; unique.' }),
  from: z.string().optional().meta({ description: 'Sender of emails that have none.' }),
  reply_to: oneOrMany().optional().meta({ description: 'Reply addresses of emails that have none.' }),
  subject: z.string().optional(),
  html: z.string().optional(),
  text: z.string().optional(),
  variables: z.unknown().optional().meta(variablesMeta),
}
export const templateBodySchema = z.object({ name, ...fields })
export const templateReplacementSchema = templateBodySchema.extend({
  publish: z.boolean().optional().meta({
    description: 'False keeps the published content in use and makes a draft. The default is true.',
  }),
})
export const templateChangeSchema = z.object({ name: name.min(1).optional(), ...fields })

const READING = { emptyMeansAbsent: ['name', 'subject'] }
const readBody = bodyReader(templateBodySchema, READING)
const readWhole = bodyReader(templateReplacementSchema, READING)
const readChange = bodyReader(templateChangeSchema)

const REPLY_TO_MAX = 50

export const templateRowSchema = z.object({
  object: z.literal('template'),
  id: idSchema('tpl'),
  name: z.string(),
  subject: z.string().nullable(),
  alias: z.string().nullable(),
  status: z.enum(['draft', 'published']),
  published_at: timeSchema.nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
})
const contentSchema = {
  html: z.string().nullable(),
  text: z.string().nullable(),
  from: z.string().nullable(),
  reply_to: z.array(z.string()).nullable(),
  variables: z.array(variableSchema),
}
export const templateSchema = templateRowSchema
  .extend({
    ...contentSchema,
    has_unpublished_versions: z.boolean().meta({ description: 'Whether `publish` would change it.' }),
    current_version_id: idSchema('ver').meta({ description: 'Changes with the content.' }),
    published_version: z.int().min(1).nullable().meta({
      description: 'Version that emails are made of; null if they are made of the content shown.',
    }),
  })
  .meta({ id: 'Template' })
export const versionRowSchema = z.object({
  version: z.int().min(1),
  name: z.string(),
  subject: z.string().nullable(),
  created_at: timeSchema,
})
export const versionSchema = versionRowSchema.extend(contentSchema)

type TemplateBody = ReturnType<typeof readBody>

interface NewTemplate {
  fields: TemplateFields
  alias: string | null
}

/**
 * Reads a new template. An absent field is null.
 * @throws ApiError
 */
export function readNewTemplate(body: unknown): NewTemplate {
  const request = readBody(body)
  const { alias = null, ...added } = addedTo(request, body)
  return {
    fields: { sender: null, replyToList: null, variables: null, ...contentOf(request), ...added },
    alias,
  }
}

/**
 * Reads the body of PUT: name, subject, html and text are replaced, and null where absent; the other fields
 * are changed as by PATCH.
 * @throws ApiError
 */
export function readReplacement(body: unknown): TemplateChange {
  const request = readWhole(body)
  const { alias, ...added } = addedTo(request, body)
  return {
    fields: { ...contentOf(request), ...added },
    ...(alias !== undefined && { alias }),
    isLive: request.publish !== false,
  }
}

/**
 * Reads the body of PATCH: absent fields are kept.
 * @throws ApiError
 */
export function readTemplateChange(body: unknown): TemplateChange {
  const request = readChange(body)
  const { name, subject, html, text } = request
  const { alias, ...added } = addedTo(request, body)
  const fields = {
    ...(name !== undefined && { name: name.toWellFormed() }),
    ...(subject !== undefined && { subject: readSubject(subject.toWellFormed()) }),
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
    ...added,
  }
  requireNoTags({ subject: null, html: null, text: null, ...fields })
  return { fields, ...(alias !== undefined && { alias }), isLive: false }
}

/** Reads the four fields that PUT replaces. */
function contentOf(request: TemplateBody) {
  const { subject, html = null, text = null } = request
  const content = {
    name: request.name.toWellFormed(),
    subject: readSubject(subject?.toWellFormed()),
    html,
    text,
  }
  requireLimits(content)
  requireNoTags(content)
  return content
}

type Added = Pick<TemplateFields, 'sender' | 'replyToList' | 'variables'> & { alias: string | null }

/**
 * Reads the other fields. Only those that the request contains are returned. An empty string removes an
 * alias, a sender or reply addresses; an empty list removes reply addresses or variables.
 * @throws ApiError
 */
function addedTo(
  { alias, from, replyTo, variables }: Omit<TemplateBody, 'name'>,
  body: unknown,
): Partial<Added> {
  const addresses = isEmptyList(body, 'reply_to') || replyTo?.join() === '' ? [] : replyTo
  const declared = isEmptyList(body, 'variables') ? [] : variables
  return {
    ...(alias !== undefined && { alias: alias === '' ? null : readAlias(alias) }),
    ...(from !== undefined && { sender: from === '' ? null : storedMailboxes([readSender(from)]) }),
    ...(addresses && { replyToList: storedMailboxes(readReplyTo(addresses)) }),
    ...(declared !== undefined && { variables: storedVariables(readVariables(declared)) }),
  }
}

function isEmptyList(body: unknown, key: string): boolean {
  const fields = body as Readonly<Record<string, unknown>>
  const value = fields[key] ?? fields[camelCase(key)]
  return Array.isArray(value) && value.length === 0
}

function readSender(from: string): Mailbox {
  requireNoVariables('from', from)
  return readFrom(from)
}

/** Addresses are not rendered, so a variable in a name would be sent as it is. */
function requireNoVariables(field: string, address: string): void {
  if (parseText(address).placeholders.length > 0)
    throw invalidField(field, `\`${field}\` must not contain variables.`)
}

function readReplyTo(addresses: readonly string[]): Mailbox[] {
  for (const address of addresses) requireNoVariables('reply_to', address)
  if (addresses.length > REPLY_TO_MAX)
    throw invalidField(
      'reply_to',
      `\`reply_to\` must contain at most ${REPLY_TO_MAX} addresses; got ${addresses.length}.`,
    )
  return readMailboxes('reply_to', addresses)
}

function storedVariables(declared: readonly DeclaredVariable[]): string | null {
  return declared.length === 0 ? null : JSON.stringify(declared)
}

function readAlias(alias: string): string {
  const fault = aliasFault(alias)
  if (fault) throw invalidField('alias', `\`alias\` ${fault}.`)
  return alias
}

/**
 * Checks the limits of the texts that a change results in.
 * @throws ApiError
 */
export function requireLimits(texts: EmailText): void {
  const fault = templateFault(texts)
  if (fault) throw invalidField(fault.part, `\`${fault.part}\` ${fault.fault}.`)
}

/** @throws ApiError */
function requireNoTags(texts: EmailText): void {
  const fault = tagFault(texts)
  if (fault) throw invalidField(fault.part, `\`${fault.part}\` ${fault.fault}.`)
}

export function templateView(template: StoredTemplate): z.output<typeof templateSchema> {
  const { id, createdAt, updatedAt, publishedAt, publishedVersion, versionCount } = template
  return {
    ...templateRow(template),
    ...contentView(template, createdAt, updatedAt),
    has_unpublished_versions: publishedAt === null || publishedVersion !== null,
    current_version_id: wireId('ver', stateId(id, versionCount + 1)),
    published_version: publishedVersion,
  }
}

/** Converts a template for lists. */
export function templateRow(template: TemplateFacts): z.output<typeof templateRowSchema> {
  const { id, name, subject, alias, publishedAt, createdAt, updatedAt } = template
  return {
    object: 'template',
    id: wireId('tpl', id),
    name,
    subject,
    alias,
    status: publishedAt === null ? 'draft' : 'published',
    published_at: timestamp(publishedAt),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  }
}

type ContentFields = Pick<
  StoredTemplate,
  'subject' | 'html' | 'text' | 'sender' | 'replyToList' | 'variables'
>

function contentView(content: ContentFields, createdAt: number, updatedAt: number) {
  const { html, text, sender, replyToList } = content
  const [from] = parseStoredMailboxes(sender)
  const replyTo = parseStoredMailboxes(replyToList)
  const variables = shownVariables(parseDeclared(content.variables), compileTemplate(content).variables)
  const times = { created_at: timestamp(createdAt), updated_at: timestamp(updatedAt) }
  return {
    html,
    text,
    from: from ? mailboxText(from) : null,
    reply_to: replyTo.length > 0 ? replyTo.map(mailboxText) : null,
    variables: variables.map(variable => ({ ...variable, ...times })),
  }
}

/** Derives the id of a state of a template, which the SDKs call a version, from its number. */
function stateId(id: Id, state: number): Id {
  const bytes = new Uint8Array(id)
  const view = new DataView(bytes.buffer)
  view.setUint32(12, (view.getUint32(12) ^ state) >>> 0)
  return bytes
}

export function versionView(version: StoredVersion): z.output<typeof versionSchema> {
  return { ...versionRow(version), ...contentView(version, version.createdAt, version.createdAt) }
}

export function versionRow(facts: VersionFacts): z.output<typeof versionRowSchema> {
  const { version, name, subject, createdAt } = facts
  return { version, name, subject, created_at: timestamp(createdAt) }
}
