/** Schemas and queries of received mail. */
import * as z from 'zod'
import { foldText } from '../../../lib/fold-text.ts'
import { type Id, wireId } from '../../../lib/ids.ts'
import type { ShownInbound } from '../../../pipeline/inbound/find-inbound.ts'
import type { InboundContent } from '../../../pipeline/inbound/stored-content.ts'
import { type InboundRowView, inboundRowView, type ListedInbound } from '../../../pipeline/inbound/view.ts'
import type { InboundMarks } from '../../../resources/emails/inbound-list.ts'
import { AUTOMATIC, VERDICTS } from '../../../store/model/schema/inbound.ts'
import type { ListPage } from '../../../store/reading/list-page.ts'
import { invalidField } from '../api-error.ts'
import type { DownloadLink } from '../downloads/link.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { readChoice } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

/** @param rows default page size */
export function inboundQuery(rows: number) {
  const q = z.string().optional().meta({ description: 'Substring of the subject.' })
  const unread = z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only unread messages, or only the others.' })
  return { q, unread, ...cursorPageQuery('inb', rows) }
}

export const inboundAttachmentSchema = z.object({
  id: idSchema('att'),
  filename: z.string(),
  content_type: z.string(),
  content_type_params: z.record(z.string(), z.string()),
  content_disposition: z.enum(['inline', 'attachment']),
  content_id: z.string().nullable(),
  size: z.int().min(0),
})

export const linkSchema = z.object({ download_url: z.url(), expires_at: timeSchema })
const verdict = z.enum(VERDICTS)

export const inboundRowSchema = z.object({
  object: z.literal('inbound_email'),
  id: idSchema('inb'),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()),
  bcc: z.array(z.string()),
  reply_to: z.array(z.string()),
  received_for: z.array(z.string()),
  subject: z.string(),
  unread: z.boolean(),
  thread_count: z.int().min(0).meta({
    description: 'Number of messages in the conversation of the message, at most 100.',
  }),
  automatic: z.enum(AUTOMATIC).nullable(),
  message_id: z.string().nullable(),
  spam_verdict: verdict,
  virus_verdict: verdict,
  spf_verdict: verdict,
  dkim_verdict: verdict,
  dmarc_verdict: verdict,
  parse_error: z.string().nullable(),
  attachments: z.array(inboundAttachmentSchema),
  size: z.int().min(0),
  created_at: timeSchema,
}) satisfies z.ZodType<Omit<InboundRowView, keyof Verdicts> & Verdicts>

type Verdicts = Record<
  'spam_verdict' | 'virus_verdict' | 'spf_verdict' | 'dkim_verdict' | 'dmarc_verdict',
  (typeof VERDICTS)[number]
>

export const inboundSchema = inboundRowSchema
  .extend({
    text: z.string().nullable(),
    html: z.string().nullable(),
    headers: z.record(z.string(), z.array(z.string())),
    in_reply_to_email_id: idSchema('eml').nullable().meta({
      description: 'Email of the account that the message answers, by its In-Reply-To or References header.',
    }),
    envelope: z.object({
      from: z.string(),
      to: z.array(z.string()),
      client_ip: z.string().nullable(),
      helo: z.string().nullable(),
      tls: z.string().nullable(),
    }),
    verdicts: z.unknown().meta({
      type: ['object', 'null'] as never,
      description: 'Details of the checks behind the verdicts; null if no check ran.',
    }),
    authentication_results: z.string().nullable(),
    raw_url: z.url(),
    raw: linkSchema,
  })
  .meta({ id: 'InboundEmail' })

/** @throws ApiError 422 */
export function readInboundQuery(
  query: URLSearchParams,
  fallback: number,
): { search: string; unread: boolean | null; page: ListPage } {
  const search = query.get('q') ?? ''
  if (search.includes('\0')) throw invalidField('q', 'The `q` parameter must not contain NUL.')
  const unread = readChoice(query, 'unread', ['true', 'false'])
  return {
    search: foldText(search),
    unread: unread === undefined ? null : unread === 'true',
    page: readCursorPage(query, 'inb', 'a received message', fallback),
  }
}

/** Message with its marks, which are not a part of events. */
export type MarkedInbound = ListedInbound & InboundMarks

export function listedView(row: MarkedInbound) {
  return { ...inboundRowView(row), unread: row.unread, thread_count: row.threadCount }
}

export function inboundView(
  row: ShownInbound & InboundMarks,
  { html, text, headers }: InboundContent,
  { raw, answered }: { raw: DownloadLink; answered: Id | undefined },
) {
  return {
    ...listedView(row),
    text,
    html,
    headers: headerLists(headers),
    in_reply_to_email_id: answered ? wireId('eml', answered) : null,
    envelope: {
      from: row.sender,
      to: JSON.parse(row.recipients) as string[],
      client_ip: row.clientIp,
      helo: row.helo,
      tls: row.tls,
    },
    verdicts: row.verdictDetail === null ? null : (JSON.parse(row.verdictDetail) as unknown),
    authentication_results: row.authenticationResults,
    raw_url: raw.url,
    raw: linkView(raw),
  }
}

export function linkView({ url, expiresAt }: DownloadLink) {
  return { download_url: url, expires_at: timestamp(expiresAt) }
}

/**
 * Groups header values by lower-case name, in the order of the message. `Object.fromEntries` defines own
 * properties, so that a field named `__proto__` is a key like any other.
 */
export function headerLists(headers: InboundContent['headers']): Record<string, string[]> {
  const lists = Map.groupBy(headers, ([name]) => name.toLowerCase())
  return Object.fromEntries([...lists].map(([name, fields]) => [name, fields.map(([, value]) => value)]))
}
