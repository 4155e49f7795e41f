/**
 * From a JSON body to a typed request: what counts as absent is taken away, old spellings are translated, the
 * schema checks the rest, and keys become camelCase. The one place where wire names meet code names.
 */
import { z } from 'zod'
import type { FieldProblem } from '../../accept/refusal.ts'
import { invalidField, Refused } from '../refused.ts'

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** A request as code sees it; only the schema's own keys are renamed, never those of user data. */
export type Camel<T> = { [K in keyof T as K extends string ? CamelCase<K> : never]: T[K] }

interface ReadOptions {
  /** Keys for which an empty text means absent. */
  emptyMeansAbsent?: readonly string[]
}

/** @throws Refused 400 for an array where an object belongs, 422 naming every field at fault */
export function readBody<S extends z.ZodObject>(
  schema: S,
  body: unknown,
  options: ReadOptions = {},
): Camel<z.output<S>> {
  if (Array.isArray(body))
    throw new Refused(400, 'validation_error', 'The request body must be a JSON object.')
  const present = withoutAbsent(body as Record<string, unknown>, Object.keys(schema.shape), options)
  const result = schema.safeParse(present)
  if (!result.success) throw refusedFields(result.error, present)
  return camelKeys(result.data) as Camel<z.output<S>>
}

/** `null` and empty lists are absent; a snake_case key may come in camelCase when it is absent itself. */
export function withoutAbsent(
  body: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  { emptyMeansAbsent = [] }: ReadOptions = {},
): Record<string, unknown> {
  const present: Record<string, unknown> = Object.create(null)
  const isPresent = (key: string) => {
    const value = Object.hasOwn(body, key) ? body[key] : undefined
    if (value === undefined || value === null) return false
    if (Array.isArray(value)) return value.length > 0
    return value !== '' || !emptyMeansAbsent.includes(key)
  }
  for (const key of keys) {
    const spelling = isPresent(key) ? key : camelCase(key)
    if (isPresent(spelling)) present[key] = body[spelling]
  }
  return present
}

/** One text or many, always many in code. */
export function oneOrMany(): z.ZodType<string[]> {
  return z
    .union([z.string(), z.array(z.string())])
    .transform(value => [value].flat()) as unknown as z.ZodType<string[]>
}

/** A whole number in a query, within bounds that are refused, never clamped. @throws Refused 422 */
export function readNumber(
  query: URLSearchParams,
  name: string,
  { fallback, least, most }: { fallback: number; least: number; most: number },
): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw invalidField(name, `The \`${name}\` parameter must be a whole number from ${least} to ${most}.`)
}

export function readPage(query: URLSearchParams, fallback = 20): { limit: number; offset: number } {
  return {
    limit: readNumber(query, 'limit', { fallback, least: 1, most: 100 }),
    offset: readNumber(query, 'offset', { fallback: 0, least: 0, most: 1_000_000_000 }),
  }
}

function refusedFields(error: z.ZodError, body: Readonly<Record<string, unknown>>): Refused {
  const problems = error.issues.map(issue => problemOf(issue, body))
  const missing = problems.find(problem => problem.missing)
  const first = missing ?? problems[0]!
  return new Refused(422, missing ? 'missing_required_field' : 'validation_error', first.message, {
    errors: problems.map(({ path, message }) => ({ path, message })),
  })
}

function problemOf(
  issue: z.core.$ZodIssue,
  body: Readonly<Record<string, unknown>>,
): FieldProblem & { missing: boolean } {
  const path = pathText(issue.path)
  const missing = issue.path.length > 0 && valueAt(body, issue.path) === undefined
  const message = missing
    ? `Missing \`${path}\` field.`
    : `Invalid \`${path}\` field: ${lowerFirst(issue.message)}.`
  return { path, message, missing }
}

/** `attachments[0].filename` */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    '',
  )
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<PropertyKey, unknown>)[part]
  }
  return value
}

function camelKeys(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [camelCase(key), value]))
}

export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
