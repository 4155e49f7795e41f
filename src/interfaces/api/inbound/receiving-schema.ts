/** Schemas of received mail in the format of the SDKs, which call it `emails.receiving`. */
import * as z from 'zod'
import type { ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import type { InboundContent, StoredPart } from '../../../pipeline/inbound/stored-content.ts'
import { attachmentView } from '../../../pipeline/inbound/view.ts'
import type { InboundMarks } from '../../../resources/emails/inbound-list.ts'
import type { DownloadLink } from '../downloads/link.ts'
import { readParameter } from '../schema/read.ts'
import {
  headerLists,
  inboundAttachmentSchema,
  inboundRowSchema,
  linkSchema,
  linkView,
  listedView,
  type MarkedInbound,
} from './schema.ts'

export const receivedRowSchema = inboundRowSchema.extend({
  object: z.literal('email'),
  message_id: z.string(),
})

export const receivedSchema = receivedRowSchema
  .extend({
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    raw: linkSchema,
  })
  .meta({ id: 'ReceivedEmail' })

export const receivedAttachmentSchema = inboundAttachmentSchema.extend({
  ...linkSchema.shape,
  content_id: z.string().exactOptional(),
})

const HTML_FORMATS = ['data_uri', 'cid'] as const
export const receivedQuery = {
  html_format: z
    .enum(HTML_FORMATS)
    .default('data_uri')
    .meta({ description: 'Form of inline images in `html`: `data:` URLs, or the original `cid:` URLs.' }),
}

/** @throws ApiError 422 */
export function readHtmlFormat(query: URLSearchParams): (typeof HTML_FORMATS)[number] {
  const formatOf = (text: string) => HTML_FORMATS.find(format => format === text)
  return readParameter(query, 'html_format', formatOf, '`data_uri` or `cid`') ?? 'data_uri'
}

export function receivedRowView(row: MarkedInbound) {
  const view = listedView(row)
  return { ...view, object: 'email' as const, message_id: view.message_id ?? '' }
}

/** The values of a header field that occurs several times are joined by commas. */
export function receivedView(
  row: ShownInbound & InboundMarks,
  { html, text, headers }: InboundContent,
  raw: DownloadLink,
) {
  const lists = Object.entries(headerLists(headers))
  return {
    ...receivedRowView(row),
    html,
    text,
    headers: Object.fromEntries(lists.map(([name, values]) => [name, values.join(', ')])),
    raw: linkView(raw),
  }
}

export function receivedAttachmentView(part: StoredPart, link: DownloadLink) {
  const { content_id: contentId, ...view } = attachmentView(part)
  return { ...view, ...(contentId !== null && { content_id: contentId }), ...linkView(link) }
}
