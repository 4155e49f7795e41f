/**
 * Variables that a template declares: their types, and the fallbacks for values that a request leaves out.
 * Templates also use variables that they do not declare; these are texts without a fallback of their own.
 *
 * This file is part of the dashboard, too.
 */
import type { EmailText, Variable } from './compile.ts'
import { escapeHtml } from './escape-html.ts'
import { parseText, writeText } from './parse.ts'
import { textOf, type Values, valueAt } from './values.ts'

export const VARIABLE_TYPES = ['string', 'number', 'boolean', 'object', 'list'] as const
export type VariableType = (typeof VARIABLE_TYPES)[number]

/** Names of the types with their articles, for messages. */
export const TYPE_NAMES: Readonly<Record<VariableType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  list: 'an array',
}

export interface DeclaredVariable {
  /** Name as in a placeholder. A dotted name declares a member of an object: `user.name`. */
  key: string
  type: VariableType
  /** Value for emails that have none; null for a variable that requires one. */
  fallback: unknown
}

/** A value that does not have the declared type. */
export interface TypeProblem {
  name: string
  problem: 'wrong-type'
  type: VariableType
}

/** Parses the stored form, which `JSON.stringify` of the list makes. */
export function parseDeclared(json: string | null): DeclaredVariable[] {
  return json === null ? [] : (JSON.parse(json) as DeclaredVariable[])
}

/** Strings may be given as numbers and booleans, since these become text anyway. */
export function isOfType(type: VariableType, value: unknown): boolean {
  switch (type) {
    case 'string':
      return textOf(value) !== undefined
    case 'list':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'number':
      return typeof value === 'number'
    case 'boolean':
      return typeof value === 'boolean'
  }
}

/** Finds the given values that do not have their declared types. */
export function typeProblems(declared: readonly DeclaredVariable[], values: Values): TypeProblem[] {
  return declared.flatMap(({ key, type }) => {
    const value = valueAt(values, key.split('.'))
    const isAbsent = value === undefined || value === null
    return isAbsent || isOfType(type, value) ? [] : [{ name: key, problem: 'wrong-type', type }]
  })
}

/**
 * Returns the texts that stand in for absent values, by variable. The fallback of an object counts for its
 * members only if the whole object is absent.
 */
export function declaredFallbacks(
  declared: readonly DeclaredVariable[],
  variables: readonly Pick<Variable, 'name' | 'path'>[],
  values: Values,
): (string | undefined)[] {
  if (declared.length === 0) return []
  const byKey = new Map(declared.map(variable => [variable.key, variable]))
  return variables.map(({ path }) => {
    for (let length = path.length; length > 0; length--) {
      const known = byKey.get(path.slice(0, length).join('.'))
      if (!known) continue
      const value = valueAt(values, path.slice(0, length))
      if (value !== undefined && value !== null) return undefined
      const text = textOf(valueAt({ fallback: known.fallback }, ['fallback', ...path.slice(length)]))
      if (text !== undefined) return text
    }
    return undefined
  })
}

/** A fallback that cannot be written into a placeholder, because it has braces. */
interface UnwritableFallback {
  unwritable: string
}

/**
 * Writes the declared fallbacks into the placeholders that have none, for broadcasts, whose contents declare
 * no variables.
 */
export function withWrittenFallbacks(
  texts: EmailText,
  declared: readonly DeclaredVariable[],
): EmailText | UnwritableFallback {
  const written: EmailText = { subject: null, html: null, text: null }
  for (const part of ['subject', 'html', 'text'] as const) {
    const text = texts[part]
    if (text === null) continue
    const parsed = parseText(text)
    const fallbacks = declaredFallbacks(declared, parsed.placeholders, {})
    const placeholders = parsed.placeholders.map((placeholder, i) => {
      const declaredText = fallbacks[i]
      if (placeholder.fallback !== null || declaredText === undefined) return placeholder
      return {
        ...placeholder,
        fallback: part === 'html' && !placeholder.raw ? inHtml(declaredText) : declaredText,
      }
    })
    const unwritable = placeholders.find(({ fallback }) => /[{}]/.test(fallback ?? ''))
    if (unwritable) return { unwritable: unwritable.name }
    written[part] = fallbacks.some(known => known !== undefined)
      ? writeText({ ...parsed, placeholders })
      : text
  }
  return written
}

function inHtml(text: string): string {
  return escapeHtml(text).replaceAll('{', '&#123;').replaceAll('}', '&#125;')
}
