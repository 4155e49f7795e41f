/**
 * Pages through short lists in memory, with the cursors of the SDKs (`after` and `before` name the id of a
 * row).
 */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, sameId } from '../../../lib/ids.ts'
import { invalidField, notFound } from '../api-error.ts'
import { readNumber } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

/** Kind of list. */
export interface Listed {
  prefix: IdPrefix
  /** Singular name for error messages, capitalized. */
  name: string
  /** Default page size. */
  fallback: number
}

export interface IdPage {
  limit: number
  after: Id | undefined
  before: Id | undefined
}

const ROWS_MAX = 100

/** Query parameters that `readIdPage` reads. */
export function idPageQuery({ prefix, fallback }: Listed) {
  return {
    limit: z.int().min(1).max(ROWS_MAX).default(fallback),
    after: idSchema(prefix).optional(),
    before: idSchema(prefix).optional(),
  }
}

/** @throws ApiError 422 */
export function readIdPage(query: URLSearchParams, { prefix, name, fallback }: Listed): IdPage {
  const edge = (parameter: string) => {
    const text = query.get(parameter) ?? ''
    const id = text === '' ? undefined : parseWireId(prefix, text)
    if (text !== '' && !id)
      throw invalidField(parameter, `The \`${parameter}\` parameter must be the id of ${withArticle(name)}.`)
    return id
  }
  const after = edge('after')
  const before = edge('before')
  if (after && before) throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  return { limit: readNumber(query, 'limit', { fallback, least: 1, most: ROWS_MAX }), after, before }
}

function withArticle(name: string): string {
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name.toLowerCase()}`
}

/** @throws ApiError 404 if the cursor names no row of the list */
export function cutIdPage<T extends { id: string }>(
  all: readonly T[],
  { limit, after, before }: IdPage,
  { prefix, name }: Listed,
): { rows: T[]; hasMore: boolean } {
  const edge = after ?? before
  const edgeAt = edge ? all.findIndex(({ id }) => sameId(parseWireId(prefix, id)!, edge)) : -1
  if (edge && edgeAt < 0) throw notFound(name)
  if (before) return { rows: all.slice(Math.max(0, edgeAt - limit), edgeAt), hasMore: edgeAt > limit }
  const from = edgeAt + 1
  return { rows: all.slice(from, from + limit), hasMore: all.length > from + limit }
}
