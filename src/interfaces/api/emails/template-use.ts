/** The template that an email is to be made from, in either of its two spellings. */

import { parseWireId } from '../../../lib/ids.ts'
import type { TemplateUse } from '../../../pipeline/accept/submission.ts'
import { ApiError, invalidField } from '../api-error.ts'
import { presentPicker } from '../schema/read.ts'

interface TemplateFields {
  template?: unknown
  templateId?: unknown
  templateData?: unknown
}

/** How the API's description shows the `template` field. */
export const templateMeta = {
  type: 'object',
  properties: { id: { type: 'string' }, variables: { type: 'object' } },
  required: ['id'],
} as const

const presentOfTemplate = presentPicker(['id', 'variables'])

/** Null when the email is to be made without one. @throws ApiError */
export function readTemplateUse({ template, templateId, templateData }: TemplateFields): TemplateUse | null {
  if (template !== undefined) {
    if (templateId !== undefined || templateData !== undefined)
      throw invalidField(
        'template',
        'Give either `template` or `template_id` with `template_data`, not both.',
      )
    return readNested(template)
  }
  if (templateId !== undefined)
    return templateUse(templateId, templateData, { id: 'template_id', values: 'template_data' })
  if (templateData !== undefined)
    throw invalidField('template_data', 'The `template_data` field needs a `template_id`.')
  return null
}

/** Reads the `template` field, `{id, variables}`. */
function readNested(template: unknown): TemplateUse {
  if (!isObject(template)) throw invalidField('template', 'The `template` field must be an object.')
  const { id, variables } = presentOfTemplate(template)
  if (id === undefined)
    throw invalidField('template.id', 'Missing `template.id` field.', 'missing_required_field')
  return templateUse(id, variables, { id: 'template.id', values: 'template.variables' })
}

function templateUse(id: unknown, values: unknown, fields: TemplateUse['fields']): TemplateUse {
  if (typeof id !== 'string') throw invalidField(fields.id, `The \`${fields.id}\` field must be a string.`)
  if (values !== undefined && !isObject(values))
    throw invalidField(fields.values, `The \`${fields.values}\` field must be an object.`)
  const parsed = parseWireId('tpl', id)
  if (!parsed) throw unknownTemplate(fields.id)
  return { id: parsed, values: values ?? {}, fields }
}

function unknownTemplate(path: string): ApiError {
  const message = `Template not found (\`${path}\`).`
  return new ApiError(404, 'not_found', message, { errors: [{ path, message }] })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
