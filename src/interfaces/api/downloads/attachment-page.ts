/** Pages through the attachments of one message, in their original order. */
import { type Id, parseWireId, sameId } from '../../../lib/ids.ts'
import { cutIdPage, type IdPage, idPageQuery, type Listed, readIdPage } from '../pages/id-page.ts'

/** Id of the attachment, `att_<uuid>`. */
interface Attached {
  id: string
}

/** The default page size is the maximum number of attachments of an email. */
const ATTACHMENTS: Listed = { prefix: 'att', name: 'Attachment', fallback: 100 }

export const attachmentPageQuery = idPageQuery(ATTACHMENTS)

/** @throws ApiError 422 */
export function readAttachmentPage(query: URLSearchParams): IdPage {
  return readIdPage(query, ATTACHMENTS)
}

/** @throws ApiError 404 if the cursor names no attachment of the list */
export function cutPage<A extends Attached>(all: readonly A[], page: IdPage) {
  return cutIdPage(all, page, ATTACHMENTS)
}

export function findAttachment<A extends Attached>(attachments: readonly A[], wanted: Id): A | undefined {
  return attachments.find(({ id }) => sameId(parseWireId('att', id)!, wanted))
}
