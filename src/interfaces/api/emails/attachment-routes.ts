/** Serves the attachments of sent emails with download links. */
import * as z from 'zod'
import { parseWireId } from '../../../lib/ids.ts'
import { type StoredAttachment, storedAttachments } from '../../../pipeline/accept/stored-attachments.ts'
import { shownBy } from '../../../protocols/mime/compose-body.ts'
import { decodeContent } from '../../../resources/emails/content.ts'
import { isVisible } from '../../../resources/emails/visible.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import { blobHash } from '../../../store/blobs/staged.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { orNotFound } from '../api-error.ts'
import { ATTACHMENTS, attachmentPageQuery, findAttachment } from '../downloads/attachment-page.ts'
import type { DownloadLink, LinkTo } from '../downloads/link.ts'
import type { OpenFile } from '../downloads/routes.ts'
import { cutIdPage, readIdPage } from '../pages/id-page.ts'
import { type ApiRequest, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { findOwnEmail, type OwnEmailOptions } from './own-email.ts'
import { attachmentSchema } from './schema.ts'

/** In the form of the SDKs, whose types have no `null` here. */
const linkedAttachmentSchema = attachmentSchema.extend({
  content_id: z.string().exactOptional(),
  content_disposition: z.enum(['inline', 'attachment']),
  download_url: z.url(),
  expires_at: timeSchema,
})

interface EmailAttachmentRoutesOptions {
  horizonOf: OwnEmailOptions['horizonOf']
  store: { db: Db; find: Find; blobs: BlobFiles }
  linkTo: LinkTo
}

export function emailAttachmentRoutes(options: EmailAttachmentRoutesOptions): Route[] {
  const { store, linkTo } = options

  /** Returns the attachments of the email that the request names, and their view. */
  const attachmentsOf = async (request: ApiRequest) => {
    const email = await findOwnEmail(options, request, ['attachments', 'contentId'])
    const [content] = await store.find('contents', [{ id: email.contentId }], ['encoding', 'body'])
    const { html } = content ? decodeContent(content) : { html: null }
    const { accountId, id: ownerId } = email
    const linkOf = ({ id }: StoredAttachment) =>
      linkTo({ kind: 'email-attachment', accountId, ownerId, fileId: parseWireId('att', id)! })
    return { attachments: storedAttachments(email.attachments), view: linkedAttachmentViewer(html, linkOf) }
  }

  return [
    {
      method: 'GET',
      path: '/emails/:id/attachments',
      access: 'key',
      summary: 'List the attachments of an email, each with a download link that is valid for one hour',
      query: attachmentPageQuery,
      replies: { 200: listSchema(linkedAttachmentSchema) },
      async handle(request) {
        const page = readIdPage(request.query, ATTACHMENTS)
        const { attachments, view } = await attachmentsOf(request)
        return pageReply(cutIdPage(attachments, page, ATTACHMENTS), view)
      },
    },
    {
      method: 'GET',
      path: '/emails/:id/attachments/:attachment_id',
      access: 'key',
      summary: 'Retrieve an attachment of an email with a download link that is valid for one hour',
      replies: { 200: linkedAttachmentSchema.extend({ object: z.literal('attachment') }) },
      async handle(request) {
        const { attachments, view } = await attachmentsOf(request)
        const attachment = findAttachment(attachments, pathId(request, 'att', 'attachment_id'))
        return ok({ object: 'attachment', ...view(orNotFound(attachment, 'Attachment')) })
      },
    },
  ]
}

/** Opens the content of attachments for signed download links. */
export function emailAttachmentOpener({
  horizonOf,
  store,
}: Omit<EmailAttachmentRoutesOptions, 'linkTo'>): OpenFile {
  return async ({ accountId, ownerId: id, fileId }) => {
    const [email] = await store.find('emails', [{ accountId, id }], ['attachments', 'endedAt'])
    const isThere = email && isVisible(email, await horizonOf(accountId))
    const file = isThere && findAttachment(storedAttachments(email.attachments), fileId)
    if (!file) return undefined
    const blob = await store.blobs.open(store.db, blobHash(file.hash))
    return { filename: file.filename, contentType: file.contentType, ...blob }
  }
}

/**
 * @param html content of the email; attachments that it shows by a `cid:` URL are inline
 * @param linkTo creates the download link of an attachment
 */
function linkedAttachmentViewer(
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
      ...(attachment.contentId !== null && { content_id: attachment.contentId }),
      download_url: url,
      expires_at: timestamp(expiresAt),
    }
  }
}
