/** Builds the body of a webhook delivery when its event is recorded. */
import { type Id, wireId } from '../../lib/ids.ts'
import { mailboxText } from '../../protocols/smtp/address.ts'
import type { EmailRow } from '../../store/model/schema.ts'
import { messageIdOf, parseStoredMailboxes } from '../emails/email-rows.ts'
import type { EventData, EventType } from './types.ts'

export interface PayloadEvent {
  id: Id
  subjectId: Id
  type: EventType
  recipient: string | null
  data: EventData
  at: number
}

/** Columns of an email that the body contains, and its domain, by which webhooks are chosen. */
export const PAYLOAD_COLUMNS = [
  'sender',
  'toList',
  'subject',
  'messageId',
  'tags',
  'createdAt',
  'broadcastId',
  'templateId',
  'domainId',
] as const
export type PayloadEmail = Pick<EmailRow, (typeof PAYLOAD_COLUMNS)[number]>

/**
 * Tells whether an event is about a sent email. For all other events the body contains the object.
 */
export function isOfSentEmail(type: EventType): boolean {
  return type.startsWith('email.') && type !== 'email.received'
}

/**
 * @param email the email of an event about a sent email
 * @returns JSON
 */
export function payloadOf(event: PayloadEvent, email: PayloadEmail | undefined): string {
  const { id, type, at } = event
  return JSON.stringify({
    id: wireId('evt', id),
    type,
    created_at: new Date(at).toISOString(),
    data: email ? emailData(event, email) : objectData(event),
  })
}

/**
 * The DNS records of a domain are added when the delivery is sent. `segment_ids` of a contact has the name
 * that newer SDKs have for audiences.
 */
function objectData({ type, subjectId, data }: PayloadEvent): EventData {
  if (type.startsWith('contact.')) return { ...data, segment_ids: [data.audience_id] }
  if (!type.startsWith('domain.')) return data
  return { object: 'domain', id: wireId('dom', subjectId), ...data }
}

function emailData({ subjectId, recipient, data, at }: PayloadEvent, email: PayloadEmail) {
  const { broadcastId, templateId } = email
  return {
    email_id: wireId('eml', subjectId),
    message_id: messageIdOf({ ...email, id: subjectId }),
    from: parseStoredMailboxes(email.sender).map(mailboxText)[0],
    to: recipient === null ? parseStoredMailboxes(email.toList).map(mailboxText) : [recipient],
    subject: email.subject,
    created_at: new Date(email.createdAt).toISOString(),
    tags: namedTags(email.tags),
    ...(broadcastId && { broadcast_id: wireId('brd', broadcastId) }),
    ...(templateId && { template_id: wireId('tpl', templateId) }),
    ...inBothSpellings(data, at),
  }
}

/** Selects the tags of the form `{name, value}`. */
function namedTags(json: string | null): Record<string, unknown> {
  const tags = json === null ? [] : (JSON.parse(json) as { name?: unknown; value?: unknown }[])
  return Object.fromEntries(
    tags.flatMap(({ name, value }) => (typeof name === 'string' ? [[name, value ?? null]] : [])),
  )
}

/** Adds the keys of the SDKs' types to `bounce`, `click` and `suppressed`. */
export function inBothSpellings(data: object, at: number): object {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, valueInBoth(key, value, at)]))
}

function valueInBoth(key: string, value: unknown, at: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  switch (key) {
    case 'bounce':
      return { ...fields, subType: fields.subtype ?? null, diagnosticCode: textsOf(fields.message) }
    case 'click':
      return {
        ...fields,
        ipAddress: fields.ip_address ?? null,
        userAgent: fields.user_agent ?? null,
        timestamp: new Date(at).toISOString(),
      }
    case 'suppressed':
      return { ...fields, diagnosticCode: textsOf(fields.message) }
    default:
      return value
  }
}

function textsOf(message: unknown): string[] {
  return typeof message === 'string' ? [message] : []
}
