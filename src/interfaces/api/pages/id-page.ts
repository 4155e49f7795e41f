/**
 * Pages through short lists in memory, with the cursors of the SDKs (`after` and `before` name the id of a
 * row).
 */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, sameId } from '../../../lib/ids.ts'
import type { FoundPage } from '../../../store/reading/list-page.ts'
import { invalidField, notFound } from '../api-error.ts'
import { readNumber, readParameter } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

/** Kind of list. */
export interface Listed {
  prefixes: readonly IdPrefix[]
  /** Singular name for error messages, capitalized. */
  name: string
  /** The name with its article. */
  what: string
  /** Default page size. */
  fallback: number
}

interface IdPage {
  limit: number
  after: Id | undefined
  before: Id | undefined
}

const ROWS_MAX = 100

/** Query parameters that `readIdPage` reads. */
export function idPageQuery({ prefixes: [prefix], fallback }: Listed) {
  return {
    limit: z.int().min(1).max(ROWS_MAX).default(fallback),
    after: idSchema(prefix!).optional(),
    before: idSchema(prefix!).optional(),
  }
}

/** @throws ApiError 422 */
export function readIdPage(query: URLSearchParams, { prefixes, what, fallback }: Listed): IdPage {
  const edge = (parameter: string) =>
    readParameter(query, parameter, text => parseIdOf(prefixes, text), `the id of ${what}`)
  const after = edge('after')
  const before = edge('before')
  if (after && before) throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  return { limit: readNumber(query, 'limit', { fallback, min: 1, max: ROWS_MAX }), after, before }
}

/** Reads an id that has one of the prefixes, or none. */
export function parseIdOf(prefixes: readonly IdPrefix[], text: string): Id | undefined {
  return prefixes.map(prefix => parseWireId(prefix, text)).find(id => id !== undefined)
}

/** @throws ApiError 404 if the cursor names no row of the list */
export function cutIdPage<T extends { id: string }>(
  all: readonly T[],
  { limit, after, before }: IdPage,
  { prefixes, name }: Listed,
): FoundPage<T> {
  const total = all.length
  const edge = after ?? before
  const edgeAt = edge ? all.findIndex(({ id }) => sameId(parseIdOf(prefixes, id)!, edge)) : -1
  if (edge && edgeAt < 0) throw notFound(name)
  if (before) return { total, rows: all.slice(Math.max(0, edgeAt - limit), edgeAt), hasMore: edgeAt > limit }
  const from = edgeAt + 1
  return { total, rows: all.slice(from, from + limit), hasMore: total > from + limit }
}
