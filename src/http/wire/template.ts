/** Templates on the wire: the body that writes one, and how one and its versions are shown. */
import { z } from 'zod'
import { wireId } from '../../lib/ids.ts'
import type { StoredTemplate, StoredVersion, TemplateFacts, VersionFacts } from '../../store/templates.ts'
import type { TemplateFields } from '../../templates/commands.ts'
import { compileTemplate } from '../../templates/compile.ts'
import { LONGEST_TEMPLATE_NAME, templateFault } from '../../templates/limits.ts'
import { invalidField } from '../refused.ts'
import { bodyReader } from './read.ts'
import { readSubject } from './send-email.ts'
import { timestamp } from './timestamp.ts'

const templateSchema = z.object({
  name: z
    .string()
    .max(LONGEST_TEMPLATE_NAME)
    .regex(/^\P{Cc}*$/u, 'it contains control characters'),
  subject: z.string().optional(),
  html: z.string().optional(),
  text: z.string().optional(),
})

const readBody = bodyReader(templateSchema, { emptyMeansAbsent: ['name', 'subject'] })

/** All four fields; what is absent is null. @throws Refused */
export function readTemplate(body: unknown): TemplateFields {
  const { name, subject, html = null, text = null } = readBody(body)
  const fields = {
    name: name.toWellFormed(),
    subject: subject === undefined ? null : readSubject(subject.toWellFormed()),
    html,
    text,
  }
  const fault = templateFault(fields)
  if (fault) throw invalidField(fault.part, `The \`${fault.part}\` field ${fault.fault}.`)
  return fields
}

export function templateView(template: StoredTemplate) {
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

/** As lists show it. There are no drafts here, and no other names. */
export function templateRow({ id, name, subject, createdAt, updatedAt }: TemplateFacts) {
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

/** A variable without a fallback must be given a value. */
function variablesOf(template: StoredTemplate) {
  const [created_at, updated_at] = [timestamp(template.createdAt), timestamp(template.updatedAt)]
  return compileTemplate(template).variables.map(({ name, fallback }) => ({
    key: name,
    type: 'string',
    fallback_value: fallback,
    created_at,
    updated_at,
  }))
}

export function versionView(version: StoredVersion) {
  return { ...versionRow(version), html: version.html, text: version.text }
}

export function versionRow({ version, name, subject, createdAt }: VersionFacts) {
  return { version, name, subject, created_at: timestamp(createdAt) }
}
