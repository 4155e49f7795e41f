/**
 * Serves received mail at the paths and in the format of the SDKs (`/emails/receiving`). These routes must be
 * registered before those of sent emails.
 */
import * as z from 'zod'
import { parseWireId } from '../../../lib/ids.ts'
import { contentOf, type ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import { withInlineImages } from '../../../pipeline/inbound/inline-images.ts'
import { openPart } from '../../../pipeline/inbound/part-bytes.ts'
import type { StoredPart } from '../../../pipeline/inbound/stored-content.ts'
import { storedParts } from '../../../pipeline/inbound/view.ts'
import { marksOf } from '../../../resources/emails/inbound-list.ts'
import { orNotFound } from '../api-error.ts'
import { ATTACHMENTS, attachmentPageQuery, findAttachment } from '../downloads/attachment-page.ts'
import { cutIdPage, readIdPage } from '../pages/id-page.ts'
import { ok, pageReply, pathId, type Route } from '../route/route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { findOwnInbound } from './own-inbound.ts'
import {
  readHtmlFormat,
  receivedAttachmentSchema,
  receivedAttachmentView,
  receivedQuery,
  receivedRowSchema,
  receivedRowView,
  receivedSchema,
  receivedView,
} from './receiving-schema.ts'
import { type InboundRoutesOptions, inboundListRoute } from './routes.ts'

export function receivingRoutes(options: InboundRoutesOptions): Route[] {
  return [...messageRoutes(options), ...attachmentRoutes(options)]
}

function messageRoutes(options: InboundRoutesOptions): Route[] {
  const { store, linkTo } = options
  return [
    inboundListRoute(options, {
      path: '/emails/receiving',
      summary: 'List and search received mail (format of the SDKs)',
      schema: receivedRowSchema,
      view: receivedRowView,
      rows: 20,
    }),
    {
      method: 'GET',
      path: '/emails/receiving/:id',
      access: 'key',
      summary: 'Retrieve a received message (format of the SDKs)',
      query: receivedQuery,
      replies: { 200: receivedSchema },
      async handle(request) {
        const format = readHtmlFormat(request.query)
        const row = await findOwnInbound(options, request)
        const content = await contentOf(store.find, row)
        const open = (part: StoredPart) => openPart(store, row.rawHash, part)
        const html =
          content.html === null || format === 'cid'
            ? content.html
            : await withInlineImages(content.html, storedParts(row), open)
        const { accountId, id } = row
        const [marks] = await marksOf(store, accountId, [id])
        const raw = linkTo({ kind: 'inbound-message', accountId, ownerId: id, fileId: id })
        return ok(receivedView({ ...row, ...marks! }, { ...content, html }, raw))
      },
    },
  ]
}

function attachmentRoutes(options: InboundRoutesOptions): Route[] {
  const view = ({ accountId, id: ownerId }: ShownInbound, part: StoredPart) =>
    receivedAttachmentView(
      part,
      options.linkTo({
        kind: 'inbound-attachment',
        accountId,
        ownerId,
        fileId: parseWireId('att', part.id)!,
      }),
    )
  return [
    {
      method: 'GET',
      path: '/emails/receiving/:id/attachments',
      access: 'key',
      summary:
        'List the attachments of a received message, each with a download link that is valid for one hour',
      query: attachmentPageQuery,
      replies: { 200: listSchema(receivedAttachmentSchema) },
      async handle(request) {
        const page = readIdPage(request.query, ATTACHMENTS)
        const row = await findOwnInbound(options, request)
        return pageReply(cutIdPage(storedParts(row), page, ATTACHMENTS), part => view(row, part))
      },
    },
    {
      method: 'GET',
      path: '/emails/receiving/:id/attachments/:attachment_id',
      access: 'key',
      summary: 'Retrieve an attachment of a received message with a download link that is valid for one hour',
      replies: { 200: receivedAttachmentSchema.extend({ object: z.literal('attachment') }) },
      async handle(request) {
        const row = await findOwnInbound(options, request)
        const part = findAttachment(storedParts(row), pathId(request, 'att', 'attachment_id'))
        return ok({ object: 'attachment', ...view(row, orNotFound(part, 'Attachment')) })
      },
    },
  ]
}
