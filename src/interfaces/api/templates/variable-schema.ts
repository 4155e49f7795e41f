/** Reads and shows the variables that a template declares. */
import * as z from 'zod'
import type { Variable } from '../../../resources/templates/compile.ts'
import {
  type DeclaredVariable,
  isOfType,
  TYPE_NAMES,
  VARIABLE_TYPES,
  type VariableType,
} from '../../../resources/templates/declared.ts'
import { DECLARED_BYTES_MAX, VARIABLES_MAX } from '../../../resources/templates/limits.ts'
import { isVariableName } from '../../../resources/templates/parse.ts'
import { invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { presentPicker } from '../schema/read.ts'
import { timeSchema } from '../schema/reply-schemas.ts'

const fallbackMeta = {
  type: ['string', 'number', 'boolean', 'object', 'array', 'null'],
  items: {},
  description: 'Value for emails that have none, of the type of the variable; null if a value is required.',
} as const

/** Description of an entry of `variables` in the OpenAPI document. */
export const variablesMeta = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      key: { type: 'string', description: 'Name of the variable, as in a placeholder.' },
      type: { type: 'string', enum: [...VARIABLE_TYPES] },
      fallback_value: fallbackMeta,
    },
    required: ['key', 'type'],
  },
} as const

export const variableSchema = z.object({
  key: z.string(),
  type: z.enum(VARIABLE_TYPES),
  fallback_value: z.unknown().meta(fallbackMeta),
  created_at: timeSchema,
  updated_at: timeSchema,
})

const presentOfVariable = presentPicker(['key', 'type', 'fallback_value'])

/** @throws ApiError */
export function readVariables(variables: unknown): DeclaredVariable[] {
  if (!Array.isArray(variables))
    throw invalidField('variables', `\`variables\` must be an array; got ${shownValue(variables)}.`)
  if (variables.length > VARIABLES_MAX)
    throw invalidField(
      'variables',
      `\`variables\` must contain at most ${VARIABLES_MAX} entries; got ${variables.length}.`,
    )
  const declared = variables.map((variable, i) => readVariable(variable, `variables[${i}]`))
  const keys = new Set<string>()
  for (const [i, { key }] of declared.entries()) {
    if (keys.has(key))
      throw invalidField(`variables[${i}].key`, `\`variables[${i}].key\` repeats the variable \`${key}\`.`)
    keys.add(key)
  }
  if (Buffer.byteLength(JSON.stringify(declared)) > DECLARED_BYTES_MAX)
    throw invalidField('variables', `\`variables\` must contain at most ${DECLARED_BYTES_MAX} bytes of JSON.`)
  return declared
}

function readVariable(variable: unknown, path: string): DeclaredVariable {
  if (typeof variable !== 'object' || variable === null || Array.isArray(variable))
    throw invalidField(path, `\`${path}\` must be an object; got ${shownValue(variable)}.`)
  const { key, type, fallback_value: present } = presentOfVariable(variable as Record<string, unknown>)
  for (const [name, value] of Object.entries({ key, type }))
    if (value === undefined)
      throw invalidField(`${path}.${name}`, `Missing \`${path}.${name}\` field.`, 'missing_required_field')
  if (typeof key !== 'string' || !isVariableName(key))
    throw invalidField(
      `${path}.key`,
      `\`${path}.key\` must be the name of a variable (letters, digits, \`_\`, \`-\`, inner blanks and dots, ` +
        `at most 100 characters); got ${shownValue(key)}.`,
    )
  const known = VARIABLE_TYPES.find(one => typeof type === 'string' && one === type.toLowerCase())
  if (!known)
    throw invalidField(
      `${path}.type`,
      `\`${path}.type\` must be one of ${VARIABLE_TYPES.join(', ')}; got ${shownValue(type)}.`,
    )
  const fallback = present ?? emptyList(variable, known)
  if (
    fallback !== null &&
    (!isOfType(known, fallback) || (known === 'string' && typeof fallback !== 'string'))
  )
    throw invalidField(
      `${path}.fallback_value`,
      `\`${path}.fallback_value\` must be ${TYPE_NAMES[known]}; got ${shownValue(fallback)}.`,
    )
  return { key, type: known, fallback }
}

/** An empty array is a fallback only of a list. Elsewhere it means absent. */
function emptyList(variable: object, type: VariableType): [] | null {
  const fields = variable as { fallback_value?: unknown; fallbackValue?: unknown }
  return type === 'list' && Array.isArray(fields.fallback_value ?? fields.fallbackValue) ? [] : null
}

/**
 * Lists the declared variables, then the others that the texts contain. A variable of the texts without a
 * fallback is required.
 */
export function shownVariables(
  declared: readonly DeclaredVariable[],
  inTexts: readonly Variable[],
): Pick<z.output<typeof variableSchema>, 'key' | 'type' | 'fallback_value'>[] {
  const keys = new Set(declared.map(({ key }) => key))
  const isDeclared = ({ path }: Variable) => path.some((_, i) => keys.has(path.slice(0, i + 1).join('.')))
  return [
    ...declared.map(({ key, type, fallback }) => ({ key, type, fallback_value: fallback })),
    ...inTexts
      .filter(variable => !isDeclared(variable))
      .map(({ name, fallback }) => ({ key: name, type: 'string' as const, fallback_value: fallback })),
  ]
}
