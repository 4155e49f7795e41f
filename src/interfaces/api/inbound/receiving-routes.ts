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
import { orNotFound } from '../api-error.ts'
import { ATTACHMENTS, attachmentPageQuery, findAttachment } from '../downloads/attachment-page.ts'
import { cutIdPage, readIdPage } from '../pages/id-page.ts'
import { ok, pageReply, pathId, type Route } from '../route/route.ts'
import { pageQuery } from '../schema/read.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { createFindOwnInbound } from './own-inbound.ts'
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
import { createInboundPages, type InboundRoutesOptions } from './routes.ts'
import { inboundQuery, readInboundQuery } from './schema.ts'

const DEFAULT_ROWS = 20

export function receivingRoutes(options: InboundRoutesOptions): Route[] {
  return [...messageRoutes(options), ...attachmentRoutes(options)]
}

function messageRoutes(options: InboundRoutesOptions): Route[] {
  const { horizonOf, store, linkTo } = options
  const findOwn = createFindOwnInbound({ find: store.find, horizonOf })
  const pageOf = createInboundPages(options)
  return [
    {
      method: 'GET',
      path: '/emails/receiving',
      access: 'key',
      summary: 'List and search received mail (format of the SDKs)',
      query: { ...inboundQuery, ...pageQuery(DEFAULT_ROWS) },
      replies: { 200: listSchema(receivedRowSchema) },
      async handle({ query, credential }) {
        const { search, page } = readInboundQuery(query, DEFAULT_ROWS)
        return pageReply(await pageOf(credential, search, page), receivedRowView)
      },
    },
    {
      method: 'GET',
      path: '/emails/receiving/:id',
      access: 'key',
      summary: 'Retrieve a received message (format of the SDKs)',
      query: receivedQuery,
      replies: { 200: receivedSchema },
      async handle(request) {
        const format = readHtmlFormat(request.query)
        const row = await findOwn(request)
        const content = await contentOf(store.find, row)
        const open = (part: StoredPart) => openPart(store, row.rawHash, part)
        const html =
          content.html === null || format === 'cid'
            ? content.html
            : await withInlineImages(content.html, storedParts(row), open)
        const { accountId, id } = row
        const raw = linkTo({ kind: 'inbound-message', accountId, ownerId: id, fileId: id })
        return ok(receivedView(row, { ...content, html }, raw))
      },
    },
  ]
}

function attachmentRoutes({ horizonOf, store, linkTo }: InboundRoutesOptions): Route[] {
  const findOwn = createFindOwnInbound({ find: store.find, horizonOf })
  const view = ({ accountId, id: ownerId }: ShownInbound, part: StoredPart) =>
    receivedAttachmentView(
      part,
      linkTo({ kind: 'inbound-attachment', accountId, ownerId, fileId: parseWireId('att', part.id)! }),
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
        const row = await findOwn(request)
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
        const row = await findOwn(request)
        const part = findAttachment(storedParts(row), pathId(request, 'att', 'attachment_id'))
        return ok({ object: 'attachment', ...view(row, orNotFound(part, 'Attachment')) })
      },
    },
  ]
}
