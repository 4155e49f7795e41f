/** Formats a received message for lists, events and webhooks. */
import { wireId } from '../../lib/ids.ts'
import type { ReceivedMailbox } from '../../protocols/mime/read/addresses.ts'
import { mailboxText } from '../../protocols/smtp/address.ts'
import type { InboundMessageRow } from '../../store/model/schema/inbound.ts'
import type { StoredPart } from './stored-content.ts'

/** Columns of a row in a list. */
export const LISTED_COLUMNS = [
  'accountId',
  'id',
  'createdAt',
  'sender',
  'recipients',
  'parseError',
  'subject',
  'automatic',
  'messageId',
  'fromList',
  'toList',
  'ccList',
  'bccList',
  'replyToList',
  'spamVerdict',
  'virusVerdict',
  'spfVerdict',
  'dkimVerdict',
  'dmarcVerdict',
  'attachments',
  'sizeBytes',
] as const

export type ListedInbound = Pick<InboundMessageRow, (typeof LISTED_COLUMNS)[number]>

export type InboundRowView = ReturnType<typeof inboundRowView>

export function inboundRowView(row: ListedInbound) {
  return {
    object: 'inbound_email' as const,
    id: wireId('inb', row.id),
    from: fromText(row),
    to: recipientTexts(row),
    cc: texts(row.ccList),
    bcc: texts(row.bccList),
    reply_to: texts(row.replyToList),
    // addresses of the envelope
    received_for: JSON.parse(row.recipients) as string[],
    subject: row.subject,
    // kind of a message that a program sent; null for others
    automatic: row.automatic,
    message_id: row.messageId,
    spam_verdict: row.spamVerdict,
    virus_verdict: row.virusVerdict,
    spf_verdict: row.spfVerdict,
    dkim_verdict: row.dkimVerdict,
    dmarc_verdict: row.dmarcVerdict,
    parse_error: row.parseError,
    attachments: storedParts(row).map(attachmentView),
    size: row.sizeBytes,
    created_at: new Date(row.createdAt).toISOString(),
  }
}

export function attachmentView(part: StoredPart) {
  return {
    id: part.id,
    filename: part.filename,
    content_type: part.contentType,
    // parameters of the media type by lower-case name, such as `charset` and `method`
    content_type_params: part.contentTypeParams ?? {},
    content_disposition: part.disposition,
    content_id: part.contentId,
    size: part.sizeBytes,
  }
}

export function storedParts({ attachments }: Pick<InboundMessageRow, 'attachments'>): StoredPart[] {
  return attachments === null ? [] : (JSON.parse(attachments) as StoredPart[])
}

/** Returns the first author, or the envelope sender of a message without an author. */
function fromText({ fromList, sender }: ListedInbound): string {
  const [first] = mailboxes(fromList)
  return first ? mailboxText(first) : sender
}

/** Returns the addresses in To, or the envelope recipients of a message without To. */
function recipientTexts({ toList, recipients }: ListedInbound): string[] {
  return toList === null ? (JSON.parse(recipients) as string[]) : texts(toList)
}

function texts(json: string | null): string[] {
  return mailboxes(json).map(mailboxText)
}

export function mailboxes(json: string | null): ReceivedMailbox[] {
  return json === null ? [] : (JSON.parse(json) as ReceivedMailbox[])
}
