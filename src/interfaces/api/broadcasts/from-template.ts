/**
 * Copies a template into a broadcast. Later changes of the template do not affect the broadcast. Declared
 * fallbacks are written into the placeholders, whose values come from the contacts.
 */
import type { Id } from '../../../lib/ids.ts'
import type { BroadcastFields } from '../../../pipeline/broadcasts/draft.ts'
import { nameOfSubject } from '../../../pipeline/broadcasts/names.ts'
import type { EmailText } from '../../../resources/templates/compile.ts'
import { parseDeclared, withWrittenFallbacks } from '../../../resources/templates/declared.ts'
import type { LiveTemplate, TemplateRef } from '../../../resources/templates/template-rows.ts'
import { fieldNotFound, invalidField } from '../api-error.ts'
import type { NewBroadcast } from './schema.ts'

/** Finds the content of a template that emails are made of. */
export type FindTemplate = (accountId: Id, ref: TemplateRef) => Promise<LiveTemplate | undefined>

/** @throws ApiError if neither the request nor the template has a sender, or a subject */
export async function withTemplate(
  findTemplate: FindTemplate,
  accountId: Id,
  { fields, template: ref, ...rest }: NewBroadcast,
): Promise<Omit<NewBroadcast, 'fields' | 'template'> & { fields: BroadcastFields }> {
  const template = ref ? await templateOf(findTemplate, accountId, ref) : undefined
  const sender = fields.sender ?? template?.sender
  if (!sender) throw missing('from')
  const subject = fields.subject ?? template?.subject
  if (!subject) throw missing('subject')
  const copied = {
    html: fields.html ?? template?.html ?? null,
    text: fields.text ?? template?.text ?? null,
    replyToList: fields.replyToList ?? template?.replyToList ?? null,
    templateId: template?.id ?? null,
  }
  const name = fields.name === '' ? nameOfSubject(subject) : fields.name
  return { fields: { ...fields, name, sender, subject, ...copied }, ...rest }
}

/** @throws ApiError 404 for an unknown template, 422 for a fallback that no placeholder can contain */
export async function templateOf(
  findTemplate: FindTemplate,
  accountId: Id,
  ref: TemplateRef,
): Promise<Omit<LiveTemplate, keyof EmailText> & EmailText> {
  const template = await findTemplate(accountId, ref)
  if (!template) throw fieldNotFound('template_id', 'Template')
  const { subject, html, text } = template
  const written = withWrittenFallbacks({ subject, html, text }, parseDeclared(template.variables))
  if ('unwritable' in written)
    throw invalidField(
      'template_id',
      'The template in `template_id` cannot be used for a broadcast: ' +
        `the fallback of its variable \`${written.unwritable}\` has braces.`,
    )
  return { ...template, ...written }
}

function missing(field: string) {
  return invalidField(
    field,
    `Missing \`${field}\` field: neither the request nor the template has one.`,
    'missing_required_field',
  )
}
