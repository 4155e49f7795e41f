/** Attachments of one message, a page at a time, in the order in which they came. */
import { type Id, parseWireId, sameId } from '../../../lib/ids.ts'
import { cutIdPage, type IdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'

/** Id of the attachment, `att_<uuid>`. */
interface Attached {
  id: string
}

/** An email may have as many as a page. */
const ATTACHMENTS: Listed = { prefix: 'att', name: 'Attachment', fallback: 100 }

export const attachmentPageQuery = idPageQuery(ATTACHMENTS)

/** @throws ApiError 422 */
export function readAttachmentPage(query: URLSearchParams): IdPage {
  return readIdPage(query, ATTACHMENTS)
}

/** @throws ApiError 404 when the page is to begin where nothing is */
export function cutPage<A extends Attached>(all: readonly A[], page: IdPage) {
  return cutIdPage(all, page, ATTACHMENTS)
}

export function findAttachment<A extends Attached>(attachments: readonly A[], wanted: Id): A | undefined {
  return attachments.find(({ id }) => sameId(parseWireId('att', id)!, wanted))
}
