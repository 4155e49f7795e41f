/** An email as the API shows it. */
import type { StoredAttachment } from '../../accept/prepare.ts'
import { withoutFeedback } from '../../events/email-status.ts'
import { wireId } from '../../lib/ids.ts'
import type { ListedEmail } from '../../search/list.ts'
import type { Mailbox } from '../../smtp/address.ts'
import { type EmailParts, parseMailboxes } from '../../store/emails.ts'
import type { AttemptRow, DeliveryRow, EmailRow, EventRow } from '../../store/schema.ts'
import { timestamp } from './timestamp.ts'

export function emailView({ email, content, deliveries, attempts, events }: EmailParts) {
  return {
    object: 'email',
    ...emailRowView(email),
    html: content.html,
    text: content.text,
    headers: Object.fromEntries(parseList<[string, string]>(email.headers)),
    tags: parseList(email.tags),
    attachments: parseList<StoredAttachment>(email.attachments).map(attachmentView),
    error: email.error,
    template_id: email.templateId && wireId('tpl', email.templateId),
    recipients: deliveries.map(delivery =>
      recipientView(
        email,
        delivery,
        attempts.filter(attempt => attempt.ordinal === delivery.ordinal),
      ),
    ),
    events: events.map(eventView),
  }
}

/** An email in a list. */
export function emailRowView(email: ListedEmail) {
  return {
    id: wireId('eml', email.id),
    message_id: email.messageId,
    from: mailboxText(parseMailboxes(email.sender)[0]!),
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

/** Where the region gives no feedback, the account sees that the message was sent, and no more. */
function recipientView(email: EmailRow, delivery: DeliveryRow, attempts: readonly AttemptRow[]) {
  const { address, kind } = delivery
  const told = email.feedback === 1 || withoutFeedback(delivery.status) === delivery.status
  if (!told) {
    const status = email.sentAt === null ? 'queued' : 'sent'
    const unknown = { next_attempt_at: null, mx_host: null, reply: null, transcripts: [] }
    return { address, kind, status, attempts: delivery.attempts, ...unknown }
  }
  const waits = delivery.status === 'delivery_delayed' || delivery.status === 'queued'
  return {
    address,
    kind,
    status: statusWord(email, delivery),
    attempts: delivery.attempts,
    next_attempt_at: waits ? timestamp(delivery.nextAt) : null,
    mx_host: delivery.lastMxHost,
    reply: delivery.lastReply,
    transcripts: attempts.map(attemptView),
  }
}

/** A queued delivery is told as its email is: not yet in the queue, in it, or under way. */
function statusWord(email: EmailRow, { status, attempts }: DeliveryRow) {
  if (status !== 'queued') return status
  if (email.status === 'scheduled') return 'scheduled'
  return attempts > 0 ? 'sent' : 'queued'
}

function attemptView(attempt: AttemptRow) {
  return {
    attempt: attempt.number,
    at: timestamp(attempt.startedAt),
    finished_at: timestamp(attempt.finishedAt),
    outcome: attempt.outcome,
    phase: attempt.phase,
    reply: attempt.reply,
    mx_host: attempt.mxHost,
    mx_ip: attempt.mxIp,
    tls: attempt.tls,
  }
}

function eventView({ id, type, createdAt, recipient, data }: EventRow) {
  return {
    id: wireId('evt', id),
    type,
    created_at: timestamp(createdAt),
    recipient,
    data: JSON.parse(data) as Record<string, unknown>,
  }
}

function attachmentView({ id, filename, contentType, contentId, sizeBytes }: StoredAttachment) {
  return { id, filename, content_type: contentType, content_id: contentId, size: sizeBytes }
}

function mailboxTexts(json: string | null): string[] {
  return parseMailboxes(json).map(mailboxText)
}

/** `Name <address>`, the name quoted where it has special characters. */
export function mailboxText({ name, address }: Mailbox): string {
  if (name === null) return address
  const plain = !/[()<>[\]:;@\\,"]/.test(name)
  return `${plain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`
}

function parseList<T>(json: string | null): T[] {
  return json === null ? [] : (JSON.parse(json) as T[])
}
