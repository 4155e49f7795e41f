/** Schemas of the bodies that create, update, send and test a broadcast. */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import {
  type BroadcastFields,
  type Changes,
  type DelayedSendOrder,
  NO_AUDIENCE,
  type SendOrder,
} from '../../../pipeline/broadcasts/draft.ts'
import { NAME_LENGTH_MAX } from '../../../pipeline/broadcasts/names.ts'
import { EMAILS_PER_HOUR_MAX } from '../../../pipeline/broadcasts/rate.ts'
import { PREVIEW_LENGTH_MAX } from '../../../pipeline/broadcasts/texts.ts'
import type { Mailbox } from '../../../protocols/smtp/address.ts'
import { storedMailboxes } from '../../../resources/emails/email-rows.ts'
import type { TemplateRef } from '../../../resources/templates/template-rows.ts'
import { NO_UNSUBSCRIBE_REASONS } from '../../../store/model/schema.ts'
import { apiErrorOf, fieldNotFound, invalidField } from '../api-error.ts'
import { readFrom, readMailboxes, readSubject } from '../emails/send-schema.ts'
import { readTemplateRef } from '../emails/template-use.ts'
import { bodyReader, oneOrMany, readTime } from '../schema/read.ts'
import {
  attachmentsLimit,
  changedAttachmentsSchema,
  newAttachmentsSchema,
  type ReadAttachments,
  readBroadcastAttachments,
  removesAttachments,
} from './attachment-schema.ts'

const fields = {
  name: lineText(NAME_LENGTH_MAX).optional(),
  audience_id: z.string().optional(),
  segment_id: z.string().optional(),
  topic_id: z.string().optional(),
  from: z.string().optional(),
  subject: z.string().optional(),
  reply_to: oneOrMany().optional(),
  html: z.string().optional(),
  text: z.string().optional(),
  preview_text: lineText(PREVIEW_LENGTH_MAX).optional(),
  template_id: z.string().optional(),
  no_unsubscribe_reason: z.enum(NO_UNSUBSCRIBE_REASONS).optional().meta({
    description:
      'Why the content needs no unsubscribe link. It is dropped when the broadcast is sent with one.',
  }),
  emails_per_hour: z
    .int()
    .min(0)
    .max(EMAILS_PER_HOUR_MAX)
    .optional()
    .meta({ description: 'Number of emails in an hour, over which they are spread evenly; 0 for no limit.' }),
  scheduled_at: z.unknown().optional().meta({ type: 'string', format: 'date-time' }),
}
export const newBroadcastSchema = z.object({
  ...fields,
  attachments: newAttachmentsSchema,
  send: z.boolean().optional(),
})
const version = z.string().optional().meta({
  description:
    'Expected `version`. If the broadcast has another version, the request fails with 422 and changes nothing.',
})
const derive_text = z.boolean().optional().meta({
  description: 'With true, the text is derived from the HTML again, after a text of its own or an empty one.',
})
export const broadcastChangeSchema = z.object({
  ...fields,
  attachments: changedAttachmentsSchema,
  derive_text,
  version,
})
const DELAY_SECONDS_MAX = 3_600
const delay_seconds = z.int().min(0).max(DELAY_SECONDS_MAX).optional().meta({
  description:
    'Sends after this time instead of now; until then, the broadcast is scheduled and can be unscheduled. Not with `scheduled_at`.',
})
export const sendBroadcastSchema = z.object({
  scheduled_at: fields.scheduled_at,
  delay_seconds,
  no_unsubscribe_reason: fields.no_unsubscribe_reason,
  emails_per_hour: fields.emails_per_hour,
  version,
})
export const testBroadcastSchema = z.object({
  to: oneOrMany(),
  contact_id: z.string().optional().meta({
    description:
      'Contact whose values all test emails show; without it, each shows those of the contact with its address, if any.',
  }),
})

const READING = { emptyMeansAbsent: ['name', 'from', 'subject'], listLimits: [attachmentsLimit] }
const readNew = bodyReader(newBroadcastSchema, {
  ...READING,
  emptyMeansAbsent: [...READING.emptyMeansAbsent, 'reply_to'],
})
const readChange = bodyReader(broadcastChangeSchema, {
  ...READING,
  emptyRemoves: ['segment_id', 'topic_id', 'template_id'],
})
const readSend = bodyReader(sendBroadcastSchema)
/** The Go SDK repeats the id of the broadcast in the body, and always sends a time, empty for now. */
const readSendOfGo = bodyReader(sendBroadcastSchema, { emptyMeansAbsent: ['scheduled_at'] })
const readTest = bodyReader(testBroadcastSchema)

const REPLY_TO_MAX = 50
const TEST_RECIPIENTS_MAX = 10

/** Absent content, sender and reply addresses come from the template. */
export interface NewBroadcast extends ReadAttachments {
  fields: Omit<BroadcastFields, 'subject' | 'sender'> & Record<'subject' | 'sender', string | null>
  template: TemplateRef | null
  /** Undefined for a draft. */
  send: SendOrder | undefined
}

/** @throws ApiError */
export function readNewBroadcast(body: unknown): NewBroadcast {
  const { send, scheduledAt, attachments, ...request } = readNew(body)
  if (request.from === undefined && !request.templateId)
    throw invalidField('from', 'Missing `from` field.', 'missing_required_field')
  if (request.subject === undefined && !request.templateId)
    throw invalidField('subject', 'Missing `subject` field.', 'missing_required_field')
  if (!request.audienceId && !request.segmentId) throw apiErrorOf(NO_AUDIENCE)
  if (send === false && scheduledAt !== undefined)
    throw invalidField('scheduled_at', '`scheduled_at` must not be set when `send` is false.')
  const at = scheduledAt === undefined ? null : readTime('scheduled_at', scheduledAt)
  const words = changesOf(request)
  const { subject = null, sender = null } = words
  return {
    fields: {
      ...{ audienceId: null, segmentId: null, topicId: null, templateId: null, replyToList: null },
      ...{ previewText: null, noUnsubscribeReason: null, emailsPerHour: null },
      ...{ html: null, text: null, name: '' },
      ...words,
      ...{ subject, sender },
    },
    template: readTemplate(request.templateId) ?? null,
    send: send === true || at !== null ? { at } : undefined,
    ...readBroadcastAttachments(attachments),
  }
}

interface BroadcastChange extends Changes {
  template: TemplateRef | null | undefined
  /** Undefined keeps the attachments. */
  files: ReadAttachments | undefined
}

/**
 * Absent fields and null are not changed; an empty string removes the value of an optional field. An empty
 * text is kept, since it opts out of the text that is derived from the HTML; `derive_text` takes this back.
 * Null removes attachments, as an empty list does.
 * @throws ApiError
 */
export function readBroadcastChange(body: unknown): BroadcastChange {
  const { scheduledAt, deriveText = false, version = null, attachments, ...fields } = readChange(body)
  if (deriveText && fields.text !== undefined)
    throw invalidField('derive_text', '`derive_text` must not be true beside a `text`.')
  return {
    changes: { ...changesOf(fields), ...(deriveText && { text: null }) },
    template: readTemplate(fields.templateId),
    scheduledAt: scheduledAt === undefined ? undefined : readTime('scheduled_at', scheduledAt),
    version,
    files: attachments || removesAttachments(body) ? readBroadcastAttachments(attachments, true) : undefined,
  }
}

/** @throws ApiError */
export function readSendOrder(body: unknown): DelayedSendOrder & { version: string | null } {
  const isOfGo = typeof body === 'object' && body !== null && Object.hasOwn(body, 'broadcast_id')
  const {
    scheduledAt,
    delaySeconds = 0,
    noUnsubscribeReason = null,
    emailsPerHour,
    version = null,
  } = (isOfGo ? readSendOfGo : readSend)(body)
  if (scheduledAt !== undefined && delaySeconds > 0)
    throw invalidField('delay_seconds', '`delay_seconds` must not be set beside `scheduled_at`.')
  const at = scheduledAt === undefined ? null : readTime('scheduled_at', scheduledAt)
  return {
    ...{ at, delayMs: delaySeconds * 1_000, noUnsubscribeReason, version },
    emailsPerHour: rateOf(emailsPerHour),
  }
}

/** @throws ApiError */
export function readTestOrder(body: unknown): { to: Mailbox[]; contactId: Id | null } {
  const { to, contactId } = readTest(body)
  if (to.length === 0) throw invalidField('to', 'Missing `to` field.', 'missing_required_field')
  if (to.length > TEST_RECIPIENTS_MAX)
    throw invalidField('to', `\`to\` must contain 1 to ${TEST_RECIPIENTS_MAX} addresses; got ${to.length}.`)
  return {
    to: readMailboxes('to', to),
    contactId: contactId ? readReference('contact_id', ['con'], 'Contact', contactId) : null,
  }
}

/** Returns only the fields that the request contains. */
function changesOf(
  request: Omit<ReturnType<typeof readChange>, 'scheduledAt' | 'version' | 'deriveText' | 'attachments'>,
): Partial<BroadcastFields> {
  const { name, subject, html, text, previewText, noUnsubscribeReason, emailsPerHour, from, replyTo } =
    request
  const replyToCount = replyTo?.length ?? 0
  if (replyToCount > REPLY_TO_MAX)
    throw invalidField(
      'reply_to',
      `\`reply_to\` must contain at most ${REPLY_TO_MAX} addresses; got ${replyToCount}.`,
    )
  const reference = (key: string, prefixes: readonly IdPrefix[], what: string, value: string | undefined) =>
    value === undefined ? undefined : value === '' ? null : readReference(key, prefixes, what, value)
  const changes = {
    name: name?.toWellFormed(),
    audienceId: request.audienceId
      ? readReference('audience_id', ['aud'], 'Audience', request.audienceId)
      : undefined,
    // newer SDKs name an audience in `segment_id`
    segmentId: reference('segment_id', ['seg', 'aud'], 'Segment', request.segmentId),
    topicId: reference('topic_id', ['top'], 'Topic', request.topicId),
    sender: from === undefined ? undefined : storedMailboxes([readFrom(from)])!,
    replyToList: replyTo === undefined ? undefined : replyToOf(replyTo),
    subject: readSubject(subject?.toWellFormed()) ?? undefined,
    html: html === '' ? null : html,
    text,
    previewText: previewText === '' ? null : previewText?.toWellFormed(),
    noUnsubscribeReason,
    emailsPerHour: rateOf(emailsPerHour),
  }
  return Object.fromEntries(
    Object.entries(changes).filter(([, value]) => value !== undefined),
  ) as Partial<BroadcastFields>
}

/** Undefined changes nothing. */
function rateOf(emailsPerHour: number | undefined): number | null | undefined {
  return emailsPerHour === 0 ? null : emailsPerHour
}

/** @throws ApiError */
function replyToOf(texts: readonly string[]): string | null {
  const isRemoved = texts.length === 1 && texts[0] === ''
  return isRemoved ? null : storedMailboxes(readMailboxes('reply_to', texts))
}

/** @throws ApiError 404 */
function readReference(key: string, prefixes: readonly IdPrefix[], what: string, text: string): Id {
  const id = prefixes.map(prefix => parseWireId(prefix, text)).find(parsed => parsed !== undefined)
  if (id) return id
  throw fieldNotFound(key, what)
}

/**
 * Reads an id or alias. An empty text removes the template.
 * @throws ApiError 404
 */
function readTemplate(text: string | undefined): TemplateRef | null | undefined {
  if (text === undefined) return undefined
  return text === '' ? null : readTemplateRef('template_id', text)
}
