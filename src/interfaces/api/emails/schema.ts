/** Schemas and views of emails. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { type StoredAttachment, storedAttachments } from '../../../pipeline/accept/stored-attachments.ts'
import { transcriptOf } from '../../../pipeline/delivery/outcome/transcript.ts'
import { POLICY_NAMES } from '../../../pipeline/delivery/tls-policy/host-tls-policy.ts'
import type { ExplainedEmail } from '../../../pipeline/queue/explained.ts'
import { mailboxText } from '../../../protocols/smtp/address.ts'
import { type EmailParts, messageIdOf, parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { EXPLANATION_CODES, type ExplanationCode } from '../../../resources/emails/explanation/codes.ts'
import type { Explanation } from '../../../resources/emails/explanation/explain.ts'
import { hidesResult, withoutFeedback } from '../../../resources/events/email-status.ts'
import { EMAIL_EVENTS } from '../../../resources/events/types.ts'
import type { ListedEmail } from '../../../resources/search/list.ts'
import { SUPPRESSION_REASONS } from '../../../resources/suppressions/suppression-rows.ts'
import { NO_LINKS, type PersonalLinks, personalContent } from '../../../resources/templates/personal.ts'
import {
  type AttemptRow,
  type DeliveryRow,
  EMAIL_STATUSES,
  type EmailRow,
  type EventRow,
  type SuppressionRow,
} from '../../../store/model/schema.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const status = z.enum(EMAIL_STATUSES).meta({ id: 'EmailStatus' })
const texts = z.array(z.string())

export const emailRowSchema = z
  .object({
    id: idSchema('eml'),
    message_id: z.string(),
    from: z.string(),
    to: texts,
    cc: texts,
    bcc: texts,
    reply_to: texts,
    subject: z.string(),
    status,
    last_event: status,
    open_count: z.int(),
    click_count: z.int(),
    broadcast_id: idSchema('brd').nullable(),
    topic_id: idSchema('top').nullable(),
    scheduled_at: timeSchema.nullable(),
    created_at: timeSchema,
    last_event_at: timeSchema.nullable(),
  })
  .meta({ id: 'EmailRow' })

const codes = Object.keys(EXPLANATION_CODES) as [ExplanationCode, ...ExplanationCode[]]
export const explanationSchema = z
  .object({
    code: z.enum(codes).meta({
      id: 'ExplanationCode',
      description: Object.entries(EXPLANATION_CODES)
        .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
        .join(' '),
    }),
    summary: z
      .string()
      .meta({ description: 'One plain sentence, or the number of recipients in each state.' }),
    action: z.string().nullable().meta({ description: 'What the sender or the operator can do.' }),
    next_attempt_at: timeSchema.nullable().meta({
      description: 'Never in the past; null if no attempt follows or the next one is due.',
    }),
  })
  .meta({ id: 'Explanation', description: 'Why the email or the recipient is in its state.' })

const hostSchema = z.object({
  host: z.string(),
  ip: z.string(),
  source_ip: z.string().nullable(),
  phase: z.string().nullable(),
  reply: z.string(),
  tls: z
    .object({ version: z.string(), cipher: z.string(), verified: z.boolean(), reason: z.string().nullable() })
    .nullable(),
  tls_fallback: z.string().nullable(),
  policy: z.enum(POLICY_NAMES),
  phases: z.array(z.object({ phase: z.string(), ms: z.int().min(0), reply: z.string().nullable() })),
})
const attemptSchema = z.object({
  attempt: z.int().min(1),
  at: timeSchema,
  finished_at: timeSchema.nullable(),
  outcome: z.enum(['delivered', 'deferred', 'bounced', 'unknown']),
  phase: z.string().nullable(),
  reply: z.string().nullable(),
  mx_host: z.string().nullable(),
  mx_ip: z.string().nullable(),
  tls: z.string().nullable(),
  hosts: z.array(hostSchema),
})
const recipientSchema = z.object({
  address: z.string(),
  kind: z.enum(['to', 'cc', 'bcc']),
  status,
  explanation: explanationSchema,
  attempts: z.int().min(0),
  next_attempt_at: timeSchema.nullable(),
  mx_host: z.string().nullable(),
  reply: z.string().nullable(),
  suppression: z
    .object({ reason: z.enum(SUPPRESSION_REASONS), created_at: timeSchema })
    .nullable()
    .meta({ description: 'Entry of the address in the suppression list now; null if there is none.' }),
  transcripts: z.array(attemptSchema),
})
export const emailEventSchema = z.object({
  id: idSchema('evt'),
  type: z.enum(EMAIL_EVENTS),
  created_at: timeSchema,
  recipient: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
})
export const attachmentSchema = z.object({
  id: idSchema('att'),
  filename: z.string(),
  content_type: z.string(),
  content_id: z.string().nullable(),
  size: z.int().min(0),
})
export const emailSchema = emailRowSchema
  .extend({
    object: z.literal('email'),
    html: z.string().nullable(),
    text: z.string().nullable(),
    headers: z.record(z.string(), z.string()),
    tags: z.array(z.looseObject({})),
    attachments: z.array(attachmentSchema),
    error: z.string().nullable(),
    explanation: explanationSchema,
    template_id: idSchema('tpl').nullable(),
    recipients: z.array(recipientSchema),
    events: z.array(emailEventSchema),
  })
  .meta({ id: 'Email' })

/**
 * @param suppressions entries of the addresses in the suppression list, in the order of the deliveries
 * @param links personal links of an email of a broadcast
 */
export function emailView(
  parts: EmailParts,
  { explanation, recipients }: ExplainedEmail,
  suppressions: readonly (SuppressionRow | undefined)[],
  links: PersonalLinks = NO_LINKS,
): z.output<typeof emailSchema> {
  const { email, deliveries, attempts, events } = parts
  const content = personalContent({ ...email, content: parts.content }, links)
  return {
    object: 'email',
    ...emailRowView(email),
    html: content.html,
    text: content.text,
    headers: Object.fromEntries(parseList<[string, string]>(email.headers)),
    tags: parseList(email.tags),
    attachments: storedAttachments(email.attachments).map(attachmentView),
    error: email.error,
    explanation,
    template_id: email.templateId && wireId('tpl', email.templateId),
    recipients: deliveries.map((delivery, i) => ({
      ...recipientView(
        email,
        delivery,
        attempts.filter(attempt => attempt.ordinal === delivery.ordinal),
        recipients[i]!,
      ),
      suppression: suppressionOf(suppressions[i]),
    })),
    events: events.map(emailEventView),
  }
}

/** Returns an email in a list. */
export function emailRowView(email: ListedEmail): z.output<typeof emailRowSchema> {
  return {
    id: wireId('eml', email.id),
    message_id: messageIdOf(email),
    from: mailboxText(parseStoredMailboxes(email.sender)[0]!),
    to: mailboxTexts(email.toList),
    cc: mailboxTexts(email.ccList),
    bcc: mailboxTexts(email.bccList),
    reply_to: mailboxTexts(email.replyToList),
    subject: email.subject,
    status: email.status,
    last_event: email.status,
    open_count: email.openCount,
    click_count: email.clickCount,
    broadcast_id: email.broadcastId && wireId('brd', email.broadcastId),
    topic_id: email.topicId && wireId('top', email.topicId),
    scheduled_at: timestamp(email.scheduledAt),
    created_at: timestamp(email.createdAt),
    last_event_at: timestamp(email.lastEventAt),
  }
}

function recipientView(
  email: EmailRow,
  delivery: DeliveryRow,
  attempts: readonly AttemptRow[],
  explanation: Explanation,
): Omit<z.output<typeof recipientSchema>, 'suppression'> {
  const { address, kind } = delivery
  if (hidesResult(email, delivery)) {
    const seen = withoutFeedback(delivery.status, delivery.signedAt !== null)
    const status = seen === 'queued' ? (email.sentAt === null ? 'queued' : 'sent') : seen
    const unknown = { next_attempt_at: null, mx_host: null, reply: null, transcripts: [] }
    return { address, kind, status, explanation, attempts: delivery.attempts, ...unknown }
  }
  return {
    address,
    kind,
    status: statusWord(email, delivery),
    explanation,
    attempts: delivery.attempts,
    next_attempt_at: explanation.next_attempt_at,
    mx_host: delivery.lastMxHost ?? attempts.at(-1)?.mxHost ?? null,
    reply: delivery.lastReply ?? attempts.at(-1)?.reply ?? null,
    transcripts: attempts.map(transcriptOf),
  }
}

function suppressionOf(row: SuppressionRow | undefined) {
  return row ? { reason: row.reason, created_at: timestamp(row.createdAt) } : null
}

/** Converts the status of a queued delivery to that of its email: scheduled, queued, or in progress. */
function statusWord(email: EmailRow, { status, attempts }: DeliveryRow) {
  if (status !== 'queued') return status
  if (email.status === 'scheduled') return 'scheduled'
  return attempts > 0 ? 'sent' : 'queued'
}

export function emailEventView(event: EventRow): z.output<typeof emailEventSchema> {
  const { id, type, createdAt, recipient, data } = event
  return {
    id: wireId('evt', id),
    type: type as (typeof EMAIL_EVENTS)[number],
    created_at: timestamp(createdAt),
    recipient,
    data: JSON.parse(data) as Record<string, unknown>,
  }
}

export function attachmentView(attachment: StoredAttachment): z.output<typeof attachmentSchema> {
  const { id, filename, contentType, contentId, sizeBytes } = attachment
  return { id, filename, content_type: contentType, content_id: contentId, size: sizeBytes }
}

function mailboxTexts(json: string | null): string[] {
  return parseStoredMailboxes(json).map(mailboxText)
}

function parseList<T>(json: string | null): T[] {
  return json === null ? [] : (JSON.parse(json) as T[])
}
