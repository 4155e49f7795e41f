/** An attachment of a sent email as its own endpoints show it, with a link to its bytes. */
import * as z from 'zod'
import type { StoredAttachment } from '../../../pipeline/accept/new-email.ts'
import { shownBy } from '../../../protocols/mime/compose-body.ts'
import type { DownloadLink } from '../downloads/link.ts'
import { timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { attachmentSchema } from './schema.ts'

export const linkedAttachmentSchema = attachmentSchema.extend({
  content_disposition: z.enum(['inline', 'attachment']),
  download_url: z.url(),
  expires_at: timeSchema,
})

/**
 * @param html of the email: what it shows by a `cid:` URL is inline
 * @param linkTo makes the link to an attachment's bytes
 */
export function linkedAttachmentViewer(
  html: string | null,
  linkTo: (attachment: StoredAttachment) => DownloadLink,
): (attachment: StoredAttachment) => z.output<typeof linkedAttachmentSchema> {
  const isShown = html === null ? () => false : shownBy(html)
  return attachment => {
    const { url, expiresAt } = linkTo(attachment)
    return {
      id: attachment.id,
      filename: attachment.filename,
      size: attachment.sizeBytes,
      content_type: attachment.contentType,
      content_disposition: isShown(attachment) ? 'inline' : 'attachment',
      content_id: attachment.contentId,
      download_url: url,
      expires_at: timestamp(expiresAt),
    }
  }
}
