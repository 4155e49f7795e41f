/** Reads the cursors of the SDKs: `after` and `before` name the id of a row. */
import { type IdPrefix, parseWireId } from '../../../lib/ids.ts'
import type { ListPage } from '../../../store/reading/list-page.ts'
import { invalidField } from '../api-error.ts'
import { pageQuery, readPage } from './read.ts'
import { idSchema } from './reply-schemas.ts'

/** Query parameters that `readCursorPage` reads. */
export function cursorPageQuery(prefix: IdPrefix | readonly IdPrefix[], fallback?: number) {
  const id = idSchema(...[prefix].flat()).optional()
  return { ...pageQuery(fallback), after: id, before: id }
}

/**
 * @param what kind of row with its article, such as "a contact"
 * @throws ApiError 422
 */
export function readCursorPage(
  query: URLSearchParams,
  prefix: IdPrefix,
  what: string,
  fallback?: number,
): ListPage {
  return { ...readPage(query, fallback), cursor: readCursor(query, prefix, what) }
}

/** @throws ApiError 422 */
export function readCursor(query: URLSearchParams, prefix: IdPrefix, what: string): ListPage['cursor'] {
  const [name, ...others] = (['after', 'before'] as const).filter(name => query.has(name))
  if (name === undefined) return null
  if (others.length > 0 || query.has('offset'))
    throw invalidField(name, 'Only one of `after`, `before` and `offset` can be given.')
  const id = parseWireId(prefix, query.get(name)!)
  if (!id) throw invalidField(name, `The \`${name}\` parameter must be the id of ${what}.`)
  return { id, side: name === 'after' ? 'older' : 'newer' }
}
