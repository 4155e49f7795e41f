/**
 * Reads request bodies and queries. In: parsed JSON. Out: a typed request with camelCase keys, or an
 * `ApiError` that names every invalid field. Absent values are removed, camelCase spellings of older SDKs are
 * accepted, and the zod schema of the resource validates the rest. Called by the `schema.ts` files.
 */
import * as z from 'zod'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import type { FieldProblem } from '../../../pipeline/accept/refusal.ts'
import { ApiError, invalidField } from '../api-error.ts'
import { brokenRule, invalidParameter, shownValue, valueAt } from './broken-rule.ts'

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S

/** Type of a request in code. Only keys of the schema are renamed, never those of user data. */
type Camel<T> = { [K in keyof T as K extends string ? CamelCase<K> : never]: T[K] }

/** Limit of the number of entries of a list in the body. */
interface ListLimit {
  key: string
  max: number
  /** Makes the error for a list that has `count` entries. The default is a `validation_error`. */
  refuse?: (count: number) => ApiError
}

interface ReadOptions {
  /**
   * Limits that are checked before any entry is validated, because an invalid entry costs a thousand times as
   * much as a valid one.
   */
  listLimits?: readonly ListLimit[]
  /** Keys for which an empty string means absent. */
  emptyMeansAbsent?: readonly string[]
  /** Keys of a PATCH for which an empty string removes the value. */
  emptyRemoves?: readonly string[]
}

interface PickOptions extends Pick<ReadOptions, 'emptyMeansAbsent'> {
  /** Keys for which an empty array means absent. */
  emptyLists?: readonly string[]
}

/** Maximum number of validation errors in a reply. */
const PROBLEMS_MAX = 100
/** Maximum page size. */
const ROWS_MAX = 100
const OFFSET_MAX = 1_000_000_000

/** Spellings of a key. */
type Spelling = readonly [wire: string, code: string]

/**
 * Creates the reader of one kind of body.
 * @returns a function that throws ApiError 400 for an array instead of an object, and 422 with every invalid
 * field
 */
export function bodyReader<S extends z.ZodObject>(
  schema: S,
  options: ReadOptions = {},
): (body: unknown) => Camel<z.output<S>> {
  const keys = Object.keys(schema.shape)
  let pick: ReturnType<typeof presentPicker> | undefined
  const limits = [...(options.listLimits ?? []), ...limitsIn(schema)]
  const spellings = spellingsOf(keys)
  return body => {
    if (Array.isArray(body))
      throw new ApiError(400, 'validation_error', 'The request body must be a JSON object.')
    pick ??= presentPicker(keys, { ...options, emptyLists: emptyListsOf(schema) })
    const present = pick(body as Record<string, unknown>)
    refuseEmptyReferences(present, options.emptyRemoves)
    for (const { key, max, refuse } of limits) {
      const count = Array.isArray(present[key]) ? present[key].length : 0
      if (count > max) throw refuse?.(count) ?? tooManyEntries(key, max, count)
    }
    const result = schema.safeParse(present)
    if (!result.success) throw refusedFields(result.error, present)
    return camelKeys(result.data, spellings) as Camel<z.output<S>>
  }
}

/** Lists the array limits of the schema. */
function limitsIn({ shape }: z.ZodObject): ListLimit[] {
  return Object.entries(shape).flatMap(([key, field]) => {
    const inner = field instanceof z.ZodOptional ? field.unwrap() : field
    const max = inner instanceof z.ZodArray ? maxEntries(inner) : undefined
    if (max === undefined) return []
    return [{ key, max }]
  })
}

function tooManyEntries(key: string, max: number, count: number): ApiError {
  return invalidField(key, `\`${key}\` must contain at most ${max} entries; got ${count}.`)
}

function maxEntries(list: z.ZodArray): number | undefined {
  return (list._zod.bag as { maximum?: number }).maximum
}

/**
 * Lists the keys for which an empty array means absent: lists, and objects with any keys, because PHP encodes
 * an empty map as `[]`. For any other key it would drop what the client asked for, such as the domain that
 * restricts a key. An optional list that must have entries narrows the request, too, so that an empty one is
 * refused. A required key that is absent is missing.
 */
export function emptyListsOf(schema: z.ZodObject): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' })
  const isList = (field: z.core.JSONSchema._JSONSchema): boolean => {
    if (typeof field === 'boolean') return false
    if (field.anyOf) return field.anyOf.some(isList)
    if (field.type === 'array') return !field.minItems
    return field.type === 'object' && field.properties === undefined
  }
  const isEmptyList = ([key, field]: [string, z.core.JSONSchema._JSONSchema]) =>
    required.includes(key) || isList(field)
  return Object.entries(properties)
    .filter(isEmptyList)
    .map(([key]) => key)
}

/** Matches keys of references and times, which restrict a request. */
const RESTRICTING_KEY = /_(?:id|at|in)$/

/**
 * Refuses an empty string in place of an id or a time. If it counted as absent, a program whose variable is
 * not set would mail a whole audience instead of a segment.
 * @throws ApiError 422
 */
function refuseEmptyReferences(
  present: Readonly<Record<string, unknown>>,
  emptyRemoves: readonly string[] = [],
): void {
  const path = Object.keys(present).find(
    key => present[key] === '' && RESTRICTING_KEY.test(key) && !emptyRemoves.includes(key),
  )
  if (path === undefined) return
  const what = path.endsWith('_id') ? 'an id' : path.endsWith('_at') ? 'an ISO 8601 time' : 'a duration'
  throw invalidField(path, `\`${path}\` must be ${what}, not an empty string. Omit it or set it to null.`)
}

/**
 * Removes `null`, and empty arrays and strings where they mean absent. The camelCase spelling of a key counts
 * if the snake_case spelling is absent.
 */
export function presentPicker(
  keys: readonly string[],
  { emptyMeansAbsent = [], emptyLists = [] }: PickOptions = {},
): (body: Readonly<Record<string, unknown>>) => Record<string, unknown> {
  const spellings = spellingsOf(keys)
  const isPresent = (value: unknown, key: string) => {
    if (value === undefined || value === null) return false
    if (Array.isArray(value)) return value.length > 0 || !emptyLists.includes(key)
    return value !== '' || !emptyMeansAbsent.includes(key)
  }
  return body => {
    const present: Record<string, unknown> = Object.create(null)
    for (const [key, camel] of spellings) {
      const value = Object.hasOwn(body, key) ? body[key] : undefined
      if (isPresent(value, key)) present[key] = value
      else if (camel !== key && Object.hasOwn(body, camel) && isPresent(body[camel], key))
        present[key] = body[camel]
    }
    return present
  }
}

/**
 * Returns the value of a key in the spelling that has one; null if it is null wherever it is given, undefined
 * if it is absent.
 */
export function presentSpelling(body: Readonly<Record<string, unknown>>, key: string): unknown {
  const spellings = [key, camelCase(key)]
    .filter(spelling => Object.hasOwn(body, spelling))
    .map(spelling => body[spelling])
  return spellings.find(value => value !== null && value !== undefined) ?? spellings[0]
}

/** Accepts a string or an array of strings and returns an array. */
export function oneOrMany(): z.ZodType<string[]> {
  return z
    .union([z.string(), z.array(z.string())])
    .transform(value => [value].flat()) as unknown as z.ZodType<string[]>
}

/**
 * Reads an integer from the query. Values outside the bounds are refused, never clamped.
 * @throws ApiError 422
 */
export function readNumber(
  query: URLSearchParams,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = query.get(name)
  if (text === null) return fallback
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw invalidParameter(name, `an integer from ${min} to ${max}`, text)
}

/**
 * Reads a query parameter; undefined if it is absent or empty.
 *
 * @param parse returns undefined for a text that is not valid
 * @param rule completes "must be" in the error
 * @throws ApiError 422
 */
export function readParameter<T>(
  query: URLSearchParams,
  name: string,
  parse: (text: string) => T | undefined,
  rule: string,
): T | undefined {
  const text = query.get(name) ?? ''
  const value = text === '' ? undefined : parse(text)
  if (text !== '' && value === undefined) throw invalidParameter(name, rule)
  return value
}

/**
 * Reads a query parameter with few values; undefined if it is absent or empty.
 * @throws ApiError 422
 */
export function readChoice<T extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = query.get(name) ?? ''
  const choice = choices.find(known => known === text)
  if (text !== '' && !choice) throw invalidParameter(name, `one of ${choices.join(', ')}`, text)
  return choice
}

/** Query parameters that `readPage` reads. */
export function pageQuery(fallback = 20) {
  return {
    limit: z.int().min(1).max(ROWS_MAX).default(fallback),
    offset: z.int().min(0).max(OFFSET_MAX).default(0),
  }
}

export function readPage(query: URLSearchParams, fallback = 20): { limit: number; offset: number } {
  return {
    limit: readNumber(query, 'limit', { fallback, min: 1, max: ROWS_MAX }),
    offset: readNumber(query, 'offset', { fallback: 0, min: 0, max: OFFSET_MAX }),
  }
}

/**
 * Reads a query parameter with a time. A date stands for its start in UTC.
 * @returns ms since the epoch; undefined if the parameter is absent or empty
 * @throws ApiError 422
 */
export function readTimeParameter(query: URLSearchParams, name: string): number | undefined {
  return readParameter(query, name, dateOrTime, DATE_OR_TIME)
}

/** Completes "must be" in errors about values that `dateOrTime` reads. */
export const DATE_OR_TIME = 'an ISO 8601 date, or a time with an offset or `Z`'

/** Returns a time in ms since the epoch, for a date that of its start in UTC; undefined for other texts. */
export function dateOrTime(text: string): number | undefined {
  return parseIsoTime(withOffset(text)) ?? parseIsoTime(`${text}T00:00Z`)
}

/** Restores the `+` of an offset, which a client that does not escape it turns into a blank. */
export function withOffset(text: string): string {
  return text.replace(/ (?=\d\d:?\d\d$)/, '+')
}

/**
 * Reads a time and returns it in ms since the epoch.
 *
 * @throws ApiError 422
 */
export function readTime(path: string, value: unknown): number {
  const at = typeof value === 'string' ? parseIsoTime(value) : undefined
  if (at !== undefined) return at
  throw invalidField(
    path,
    `\`${path}\` must be an ISO 8601 time with an offset or \`Z\`, such as \`2026-08-05T11:52:01.000Z\`; ` +
      `got ${shownValue(value)}.`,
  )
}

function refusedFields(error: z.ZodError, body: Readonly<Record<string, unknown>>): ApiError {
  const problems = error.issues.map(issue => problemOf(innermost(issue), body))
  const missing = problems.find(problem => problem.missing)
  const first = missing ?? problems[0]!
  return new ApiError(422, missing ? 'missing_required_field' : 'validation_error', first.message, {
    errors: problems.slice(0, PROBLEMS_MAX).map(({ path, message }) => ({ path, message })),
  })
}

/** Returns the issue of the entry at fault, if it is inside of a value that may have several types. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  const inner =
    issue.code === 'invalid_union' ? issue.errors.flat().find(({ path }) => path.length > 0) : undefined
  return inner ? innermost({ ...inner, path: [...issue.path, ...inner.path] }) : issue
}

function problemOf(
  issue: z.core.$ZodIssue,
  body: Readonly<Record<string, unknown>>,
): FieldProblem & { missing: boolean } {
  const path = pathText(issue.path)
  const missing = issue.path.length > 0 && valueAt(body, issue.path) === undefined
  const message = missing
    ? `Missing \`${path}\` field.`
    : `${path === '' ? 'The request body' : `\`${path}\``} ${brokenRule(issue, valueAt(body, issue.path))}.`
  return { path, message, missing }
}

/** Formats a path such as `attachments[0].filename`. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    '',
  )
}

function camelKeys(
  object: Readonly<Record<string, unknown>>,
  spellings: readonly Spelling[],
): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [key, camel] of spellings) if (object[key] !== undefined) renamed[camel] = object[key]
  return renamed
}

function spellingsOf(keys: readonly string[]): Spelling[] {
  return keys.map(key => [key, camelCase(key)])
}

export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
