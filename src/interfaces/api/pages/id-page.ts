/**
 * Lists short enough to be read whole, a page at a time, as the SDKs turn pages: from the row of an id on.
 */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, sameId } from '../../../lib/ids.ts'
import { invalidField, notFound } from '../api-error.ts'
import { readNumber } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

/** What stands in a list, by the prefix of its ids. */
export interface Listed {
  prefix: IdPrefix
  /** As errors call one, capitalized. */
  name: string
  /** Rows of a page where none are asked for. */
  fallback: number
}

export interface IdPage {
  limit: number
  after: Id | undefined
  before: Id | undefined
}

const ROWS_MAX = 100

/** What `readIdPage` reads. */
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

/** @throws ApiError 404 when the page is to begin where nothing is */
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
