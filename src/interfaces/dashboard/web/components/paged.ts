/**
 * Pages through a list of the API. The page number is part of the URL, so that a link leads to the same page.
 */

import { withQuery } from '../api/client.ts'
import { type Loaded, type LoadOptions, useLoad } from '../api/load.ts'
import type { Query } from '../api/query.ts'
import type { List } from '../api/types.ts'

const ROWS_PER_PAGE = 25

interface Paged<T, L extends List<T> = List<T>> extends Loaded<L> {
  query: Query
  /** Page number, from 1. */
  page: number
  pageSize: number
  isFiltered: boolean
}

interface PagedOptions extends LoadOptions {
  /** Query parameters of the API that leave rows out. Empty ones are omitted. */
  filters?: Readonly<Record<string, string>>
  /** Other query parameters of the API. */
  view?: Readonly<Record<string, string>>
  pageSize?: number
}

export function usePaged<T, L extends List<T> = List<T>>(
  path: string,
  query: Query,
  { filters = {}, view, pageSize = ROWS_PER_PAGE, ...options }: PagedOptions = {},
): Paged<T, L> {
  const page = pageOf(query)
  const asked = withQuery(path, { ...filters, ...view, limit: pageSize, offset: (page - 1) * pageSize })
  const isFiltered = Object.values(filters).some(value => value !== '')
  return { ...useLoad<L>(asked, options), query, page, pageSize, isFiltered }
}

export function pageOf(query: Query): number {
  const page = Number(query.get('page'))
  return Number.isInteger(page) && page > 1 ? page : 1
}
