/** Attachments of one message, a page at a time, in the order in which they came. */
import { z } from 'zod'
import { type Id, parseWireId, sameId } from '../lib/ids.ts'
import { invalidField, notFound } from './refused.ts'
import { readNumber } from './wire/read.ts'
import { idSchema } from './wire/reply-schemas.ts'

/** `att_<uuid>` */
interface Attached {
  id: string
}

interface Page {
  limit: number
  after: Id | undefined
  before: Id | undefined
}

/** An email may have as many. */
const MOST_ROWS = 100

export const attachmentPageQuery = {
  limit: z.int().min(1).max(MOST_ROWS).default(MOST_ROWS),
  after: idSchema('att').optional(),
  before: idSchema('att').optional(),
}

/** @throws Refused 422 */
export function readAttachmentPage(query: URLSearchParams): Page {
  const edge = (name: string) => {
    const text = query.get(name) ?? ''
    const id = text === '' ? undefined : parseWireId('att', text)
    if (text !== '' && !id) throw invalidField(name, `The \`${name}\` parameter must be an attachment's id.`)
    return id
  }
  const after = edge('after')
  const before = edge('before')
  if (after && before) throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  return {
    limit: readNumber(query, 'limit', { fallback: MOST_ROWS, least: 1, most: MOST_ROWS }),
    after,
    before,
  }
}

/** @throws Refused 404 when the page is to begin where nothing is */
export function cutPage<A extends Attached>(
  all: readonly A[],
  { limit, after, before }: Page,
): { rows: A[]; hasMore: boolean } {
  const edge = after ?? before
  const edgeAt = edge ? all.findIndex(one => isOfId(one, edge)) : -1
  if (edge && edgeAt < 0) throw notFound('Attachment')
  if (before) return { rows: all.slice(Math.max(0, edgeAt - limit), edgeAt), hasMore: edgeAt > limit }
  const from = edgeAt + 1
  return { rows: all.slice(from, from + limit), hasMore: all.length > from + limit }
}

export function findAttachment<A extends Attached>(attachments: readonly A[], wanted: Id): A | undefined {
  return attachments.find(one => isOfId(one, wanted))
}

function isOfId({ id }: Attached, wanted: Id): boolean {
  return sameId(parseWireId('att', id)!, wanted)
}
