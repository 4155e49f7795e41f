/** Types and fallbacks of a template's variables. */
import { compileTemplate, type EmailText, type Variable } from '../../../../resources/templates/compile.ts'
import {
  type DeclaredVariable,
  VARIABLE_TYPES,
  type VariableType,
} from '../../../../resources/templates/declared.ts'
import type { Template } from '../api/types.ts'
import { Choose, TextField } from '../components/controls.tsx'
import { Card } from '../components/show.tsx'

/** A declared variable in the form. */
export interface VariableText {
  key: string
  type: VariableType
  /** Null if a value is required. Anything but a string is written as JSON. */
  fallback: string | null
}

const TYPE_OPTIONS = VARIABLE_TYPES.map(type => [type, type[0]!.toUpperCase() + type.slice(1)] as const)

/** Returns the variables that differ from what the texts say of them: a string with the inline fallback. */
export function variableTextsOf(template: Template): VariableText[] {
  const inTexts = new Map(compileTemplate(template).variables.map(({ name, fallback }) => [name, fallback]))
  return template.variables
    .filter(({ key, type, fallback_value }) => type !== 'string' || fallback_value !== inTexts.get(key))
    .map(({ key, type, fallback_value: fallback }) => ({ key, type, fallback: fallbackText(type, fallback) }))
}

function fallbackText(type: VariableType, fallback: unknown): string | null {
  if (fallback === null) return null
  return type === 'string' ? String(fallback) : JSON.stringify(fallback)
}

/** Converts the form to the fields of a request. The API refuses a fallback that is not of the type. */
export function requestVariables(variables: readonly VariableText[]) {
  return variables.map(({ key, type, fallback }) => ({
    key,
    type,
    fallback_value: valueOfType(type, fallback),
  }))
}

export function declaredOf(variables: readonly VariableText[]): DeclaredVariable[] {
  return variables.map(({ key, type, fallback }) => ({ key, type, fallback: valueOfType(type, fallback) }))
}

/** Reads what was typed for a variable: text, or JSON of another type. */
export function valueOfType(type: VariableType, typed: string | null): unknown {
  if (typed === null || type === 'string') return typed
  try {
    return JSON.parse(typed)
  } catch {
    return typed
  }
}

interface VariablesProps {
  texts: EmailText
  variables: readonly VariableText[]
  onVariables: (variables: VariableText[]) => void
  faultOf: (path: string) => string | undefined
}

/** Lists the variables of the texts, and those that are declared only. */
export function VariablesCard({ texts, variables, onVariables, faultOf }: VariablesProps) {
  const inTexts = compileTemplate(texts).variables
  const declared = new Map(variables.map(variable => [variable.key, variable]))
  const keys = [...new Set([...variables.map(({ key }) => key), ...inTexts.map(({ name }) => name)])]
  if (keys.length === 0) return null
  const inline = new Map(inTexts.map(({ name, fallback }) => [name, fallback]))
  const set = (variable: VariableText) => {
    const isDefault = variable.type === 'string' && variable.fallback === null
    const others = variables.filter(({ key }) => key !== variable.key)
    const at = variables.findIndex(({ key }) => key === variable.key)
    if (isDefault && inline.has(variable.key)) onVariables(others)
    else onVariables(at < 0 ? [...variables, variable] : variables.toSpliced(at, 1, variable))
  }
  return (
    <Card title="Variables" lead="A variable without a fallback needs a value in each email.">
      <div class="stack">
        {keys.map(key => (
          <VariableFields
            key={key}
            variable={declared.get(key) ?? { key, type: 'string', fallback: null }}
            inline={inline.get(key) ?? null}
            onVariable={set}
            fault={faultOf(`variables[${variables.findIndex(one => one.key === key)}].fallback_value`)}
          />
        ))}
      </div>
    </Card>
  )
}

interface VariableProps {
  variable: VariableText
  /** Fallback in the placeholder, which takes precedence. */
  inline: string | null
  onVariable: (variable: VariableText) => void
  fault: string | undefined
}

function VariableFields({ variable, inline, onVariable, fault }: VariableProps) {
  const { key, type, fallback } = variable
  return (
    <fieldset>
      <legend class="mono">{key}</legend>
      <div class="thirds">
        <Choose
          label="Type"
          value={type}
          options={TYPE_OPTIONS}
          onValue={value => onVariable({ ...variable, type: value as VariableType })}
        />
        <Choose
          label="If missing"
          value={fallback === null ? 'refuse' : 'fallback'}
          options={[
            ['refuse', inline === null ? 'Refuse the email' : `Use “${inline}” of the text`],
            ['fallback', 'Use a fallback'],
          ]}
          onValue={value => onVariable({ ...variable, fallback: value === 'refuse' ? null : '' })}
        />
        {fallback !== null && (
          <TextField
            label="Fallback"
            value={fallback}
            onValue={value => onVariable({ ...variable, fallback: value })}
            fault={fault}
            {...((type === 'object' || type === 'list') && { hint: 'JSON' })}
          />
        )}
      </div>
    </fieldset>
  )
}

interface ValueFieldsProps {
  /** Variables of the texts. */
  variables: readonly Pick<Variable, 'name' | 'fallback'>[]
  /** Declared fallbacks, by variable. */
  spare: readonly (string | undefined)[]
  /** What is typed, by name. */
  values: Readonly<Record<string, string>>
  onValues: (values: Record<string, string>) => void
  faults?: Readonly<Record<string, string | undefined>>
}

/** Fields for the values of a template's variables. An empty field stands for the fallback. */
export function ValueFields({ variables, spare, values, onValues, faults = {} }: ValueFieldsProps) {
  return (
    <div class="stack">
      {variables.map(({ name, fallback }, i) => (
        <TextField
          key={name}
          label={name}
          placeholder={fallback ?? spare[i] ?? 'required when sending'}
          value={values[name] ?? ''}
          onValue={value => onValues({ ...values, [name]: value })}
          fault={faults[name]}
        />
      ))}
    </div>
  )
}

/** Converts dotted names such as `user.name` to nested objects. */
export function nested(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null)
  for (const [name, value] of entries) {
    const path = name.split('.')
    let place = root
    for (const key of path.slice(0, -1)) {
      const next = Object.hasOwn(place, key) ? place[key] : undefined
      place = place[key] =
        typeof next === 'object' && next !== null ? (next as Record<string, unknown>) : Object.create(null)
    }
    place[path.at(-1)!] = value
  }
  return root
}
