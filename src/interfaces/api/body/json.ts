/** Parses request bodies as JSON. */
import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { ApiError, invalidField } from '../api-error.ts'
import { type ByteList, surveyJson, VALUES_MAX } from './json-prescan.ts'

const NESTING_MAX = 64

/** @throws ApiError 400 */
export function parseJson(bytes: Buffer): object {
  const text = textOf(bytes)
  const body = parse(text)
  if (isDeeperThan(body, NESTING_MAX)) throw tooDeep()
  return wellFormed(body, text)
}

/**
 * Parses a large body at bounded cost. A body with very many values is refused, and a long byte array as the
 * content of an attachment becomes a Uint8Array.
 *
 * @throws ApiError 400, or 413 for too many values
 */
export function parseLargeJson(bytes: Buffer): object {
  const lists = surveyJson(bytes, NESTING_MAX)
  if ('tooMuch' in lists) throw lists.tooMuch === 'depth' ? tooDeep() : tooManyValues()
  const mark = `${randomUUID()} `
  const text = textOf(lists.length === 0 ? bytes : withMarks(bytes, lists, mark))
  const body = wellFormed(parse(text), text)
  return lists.length === 0 ? body : putBack(body, lists, mark)
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('it is not valid UTF-8')
  return bytes.toString('utf8').replace(/^\ufeff/, '')
}

function parse(text: string): object {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw malformed((error as SyntaxError).message)
  }
  if (typeof body !== 'object' || body === null) throw malformed('it must be an object or an array')
  return body
}

function malformed(why: string): ApiError {
  return new ApiError(400, 'validation_error', `The request body is not valid JSON: ${why}.`)
}

function tooDeep(): ApiError {
  return new ApiError(
    400,
    'validation_error',
    `The request body must have at most ${NESTING_MAX} levels of nesting.`,
  )
}

function tooManyValues(): ApiError {
  return new ApiError(
    413,
    'validation_error',
    `The request body must contain at most ${VALUES_MAX} JSON values (an array of bytes as the content of an attachment counts as one).`,
  )
}

/** Replaces each byte array by an array with one random string, which the body cannot contain. */
function withMarks(text: Buffer, lists: readonly ByteList[], mark: string): Buffer {
  const pieces: Uint8Array[] = []
  let from = 0
  for (const [index, { start, end }] of lists.entries()) {
    pieces.push(text.subarray(from, start), Buffer.from(`["${mark}${index}"]`))
    from = end
  }
  return Buffer.concat([...pieces, text.subarray(from)])
}

/** Position of a value on the path from the body to the content of an attachment. */
type Place = 'top' | 'emails' | 'email' | 'attachments' | 'attachment' | 'content' | 'data' | 'elsewhere'

interface Visit {
  node: Record<string, unknown>
  place: Place
}

/** Puts the byte arrays back. Those that are not the content of an attachment become plain arrays. */
function putBack(parsed: object, lists: readonly ByteList[], mark: string): object {
  const top = { body: parsed }
  let valueCount = 0
  const visits: Visit[] = [{ node: top, place: 'top' }]
  for (let visit = visits.pop(); visit; visit = visits.pop())
    for (const [key, value] of Object.entries(visit.node)) {
      if (typeof value !== 'object' || value === null) continue
      const place = placeOf(key, value, visit)
      const index = markedIndex(value, mark)
      if (index === undefined) visits.push({ node: value as Visit['node'], place })
      else if (place === 'content' || place === 'data') visit.node[key] = lists[index]!.bytes
      else {
        valueCount += lists[index]!.bytes.length
        if (valueCount > VALUES_MAX) throw tooManyValues()
        visit.node[key] = Array.from(lists[index]!.bytes)
      }
    }
  return top.body
}

function placeOf(key: string, value: object, { place }: Visit): Place {
  if (place === 'top') return Array.isArray(value) ? 'emails' : 'email'
  if (place === 'emails') return 'email'
  if (place === 'email' && key === 'attachments') return 'attachments'
  if (place === 'attachments') return 'attachment'
  if (place === 'attachment' && key === 'content') return 'content'
  return place === 'content' && key === 'data' ? 'data' : 'elsewhere'
}

function markedIndex(value: object, mark: string): number | undefined {
  const [only] = Array.isArray(value) ? (value as unknown[]) : []
  return typeof only === 'string' && only.startsWith(mark) ? Number(only.slice(mark.length)) : undefined
}

/** Measures the nesting without recursion, because a hostile body could overflow the stack. */
function isDeeperThan(body: object, levels: number): boolean {
  let level: object[] = [body]
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true
    const next: object[] = []
    for (const node of level)
      for (const child of Array.isArray(node) ? node : Object.values(node))
        if (typeof child === 'object' && child !== null) next.push(child)
    level = next
  }
  return false
}

/** Matches an escape of a surrogate. Without one, no string of a UTF-8 text has an unpaired surrogate. */
const SURROGATE = /\\u[dD][89a-fA-F]/

/**
 * Refuses unpaired surrogates. JSON can contain them as escapes, such as `"\ud800"`, but no UTF-8 text can,
 * so they would silently be stored and sent as U+FFFD.
 *
 * @param text text that the value was parsed from
 * @throws ApiError 422 naming a string that is not well-formed
 */
function wellFormed<T extends object>(value: T, text: string): T {
  if (!SURROGATE.test(text)) return value
  const places: [node: object, path: string][] = [[value, '']]
  for (let place = places.pop(); place; place = places.pop()) {
    const [node, path] = place
    for (const [key, child] of Object.entries(node)) {
      const childPath = Array.isArray(node) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
      if (!key.isWellFormed() || (typeof child === 'string' && !child.isWellFormed()))
        throw illFormed(childPath.toWellFormed())
      if (typeof child === 'object' && child !== null) places.push([child, childPath])
    }
  }
  return value
}

function illFormed(path: string) {
  return invalidField(path, `\`${path}\` must be well-formed Unicode, without unpaired surrogates.`)
}
