/** Reads the template of an email in either of its two spellings. */
import type { TemplateUse } from '../../../pipeline/accept/submission.ts'
import { parseTemplateRef } from '../../../resources/templates/alias.ts'
import type { TemplateRef } from '../../../resources/templates/template-rows.ts'
import { fieldNotFound, invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { presentPicker } from '../schema/read.ts'

interface TemplateFields {
  template?: unknown
  templateId?: unknown
  templateData?: unknown
}

/** Description of the `template` field in the OpenAPI document. */
export const templateMeta = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'Id or alias of the template.' },
    variables: { type: 'object', additionalProperties: {} },
  },
  required: ['id'],
} as const

const presentOfTemplate = presentPicker(['id', 'variables'], { emptyLists: ['variables'] })

/**
 * Returns null for an email without a template.
 * @throws ApiError
 */
export function readTemplateUse({ template, templateId, templateData }: TemplateFields): TemplateUse | null {
  if (template !== undefined) {
    if (templateId !== undefined || templateData !== undefined)
      throw invalidField('template', 'Set either `template` or `template_id` with `template_data`, not both.')
    return readNested(template)
  }
  if (templateId !== undefined)
    return templateUse(templateId, templateData, { id: 'template_id', values: 'template_data' })
  if (templateData !== undefined)
    throw invalidField('template_data', '`template_data` requires `template_id`.')
  return null
}

/** Reads the `template` field, `{id, variables}`. */
function readNested(template: unknown): TemplateUse {
  if (!isObject(template))
    throw invalidField('template', `\`template\` must be an object; got ${shownValue(template)}.`)
  const { id, variables } = presentOfTemplate(template)
  if (id === undefined)
    throw invalidField('template.id', 'Missing `template.id` field.', 'missing_required_field')
  return templateUse(id, variables, { id: 'template.id', values: 'template.variables' })
}

function templateUse(id: unknown, values: unknown, fields: TemplateUse['fields']): TemplateUse {
  if (typeof id !== 'string')
    throw invalidField(fields.id, `\`${fields.id}\` must be a string; got ${shownValue(id)}.`)
  if (values !== undefined && !isObject(values))
    throw invalidField(fields.values, `\`${fields.values}\` must be an object; got ${shownValue(values)}.`)
  return { ref: readTemplateRef(fields.id, id), values: values ?? {}, fields }
}

/**
 * Reads the id or alias of a template.
 * @throws ApiError 404
 */
export function readTemplateRef(path: string, text: string): TemplateRef {
  const ref = parseTemplateRef(text)
  if (!ref) throw fieldNotFound(path, 'Template')
  return ref
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
