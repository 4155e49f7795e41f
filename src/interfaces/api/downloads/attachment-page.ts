/** Pages through the attachments of one message, in their original order. */
import { type Id, parseWireId, sameId } from '../../../lib/ids.ts'
import { idPageQuery, type Listed } from '../pages/id-page.ts'

/** Id of the attachment, `att_<uuid>`. */
interface Attached {
  id: string
}

/** The default page size is the maximum number of attachments of an email. */
export const ATTACHMENTS: Listed = {
  prefixes: ['att'],
  name: 'Attachment',
  what: 'an attachment',
  fallback: 100,
}

export const attachmentPageQuery = idPageQuery(ATTACHMENTS)

export function findAttachment<A extends Attached>(attachments: readonly A[], wanted: Id): A | undefined {
  return attachments.find(({ id }) => sameId(parseWireId('att', id)!, wanted))
}
