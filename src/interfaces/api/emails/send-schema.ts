/**
 * Reads the body of `POST /emails`. In: JSON. Out: a `Submission` whose fields are each parsed and valid, or
 * an `ApiError`. Rules that need the database are checked by `pipeline/accept`. Called by `send-routes.ts`,
 * `batch-schema.ts` and the child process for large bodies.
 */
import * as z from 'zod'
import { type Id, parseWireId } from '../../../lib/ids.ts'
import { subjectFault, TAGS_MAX, tagsFault } from '../../../pipeline/accept/field-rules.ts'
import { readHeaders } from '../../../pipeline/accept/header-policy.ts'
import { ATTACHMENTS_MAX } from '../../../pipeline/accept/message-limits.ts'
import { RECIPIENTS_MAX, refuseTooMany } from '../../../pipeline/accept/recipients.ts'
import { isRefusal, UNKNOWN_TOPIC } from '../../../pipeline/accept/refusal.ts'
import type { Submission } from '../../../pipeline/accept/submission.ts'
import { foldAddress, type Mailbox, parseMailbox } from '../../../protocols/smtp/address.ts'
import { apiErrorOf, invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { bodyReader, oneOrMany, presentPicker, readTime } from '../schema/read.ts'
import { attachmentMeta, readAttachments, tooManyAttachments } from './attachment-schema.ts'
import { readTemplateUse, templateMeta } from './template-use.ts'

export const sendEmailSchema = z.object({
  from: z.string(),
  to: oneOrMany(),
  cc: oneOrMany().optional(),
  bcc: oneOrMany().optional(),
  reply_to: oneOrMany().optional(),
  subject: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
  headers: z
    .unknown()
    .optional()
    .meta({ type: 'object', additionalProperties: { type: 'string' } }),
  attachments: z.array(z.looseObject({}).meta(attachmentMeta)).optional(),
  tags: z
    .unknown()
    .optional()
    .meta({
      anyOf: [
        { type: 'array', items: { type: 'object' } },
        { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
      ],
      description:
        'A list of objects, or an object of values by name, which stands for `{name, value}` objects.',
    }),
  template: z.unknown().optional().meta(templateMeta),
  template_id: z.unknown().optional().meta({ type: 'string', description: 'Id or alias of a template.' }),
  template_data: z.unknown().optional().meta({ type: 'object', additionalProperties: {} }),
  scheduled_at: z.unknown().optional().meta({ type: 'string', format: 'date-time' }),
  topic_id: z.unknown().optional().meta({
    type: 'string',
    description: 'Topic; recipients who are not subscribed to it do not get the email.',
  }),
})

/** Tags are a list here, see `withTagList`. */
const requestSchema = sendEmailSchema.extend({ tags: z.array(z.looseObject({})).optional() })
/** A template may give the sender and the subject. */
const templatedSchema = requestSchema.extend({
  from: z.string().optional(),
  subject: z.string().optional(),
})

const READING = {
  // forms send their empty fields, and these do not narrow who gets the email
  emptyMeansAbsent: ['from', 'to', 'subject', 'cc', 'bcc', 'reply_to'],
  listLimits: [
    { key: 'reply_to', max: RECIPIENTS_MAX },
    { key: 'attachments', max: ATTACHMENTS_MAX, refuse: tooManyAttachments },
    { key: 'tags', max: TAGS_MAX },
  ],
}
const readRequest = bodyReader(requestSchema, READING)
const readTemplatedRequest = bodyReader(templatedSchema, READING)
const presentRecipients = presentPicker(['to', 'cc', 'bcc'], {
  emptyMeansAbsent: ['cc', 'bcc'],
  emptyLists: ['to', 'cc', 'bcc'],
})
const presentTemplate = presentPicker(['template', 'template_id'])

/** @throws ApiError */
export function readSendEmail(body: unknown): Submission {
  requireFewRecipients(body)
  const request = namesTemplate(body)
    ? readTemplatedRequest(withTagList(body))
    : readRequest(withTagList(body))
  const template = readTemplateUse(request)
  if (!template) requireText(request)
  const headers = request.headers === undefined ? undefined : orThrow(readHeaders(request.headers))
  const replyTo = readMailboxes('reply_to', request.replyTo)
  if (headers?.replyTo && !replyTo.every(isAmong(headers.replyTo)))
    throw invalidField('headers.Reply-To', 'The `Reply-To` header must contain every address of `reply_to`.')
  return {
    from: request.from === undefined ? null : readFrom(request.from),
    to: readMailboxes('to', request.to),
    cc: readMailboxes('cc', request.cc),
    bcc: readMailboxes('bcc', request.bcc),
    replyTo: headers?.replyTo ?? replyTo,
    subject: readSubject(request.subject),
    html: request.html ?? null,
    text: request.text ?? null,
    headers: headers?.fields ?? [],
    messageId: headers?.messageId ?? null,
    ...readAttachments(request.attachments),
    tags: readTags(request.tags),
    scheduledAt: request.scheduledAt === undefined ? null : readTime('scheduled_at', request.scheduledAt),
    topicId: request.topicId === undefined ? null : readTopicId(request.topicId),
    template,
    raw: null,
  }
}

/**
 * Refuses an email without content. An empty text is usually the result of a renderer that has failed.
 * @throws ApiError 422
 */
export function requireText({
  html,
  text,
}: {
  html?: string | null | undefined
  text?: string | null | undefined
}) {
  if (html || text) return
  const isEmpty = typeof html === 'string' || typeof text === 'string'
  const message = `Missing \`html\` or \`text\` field${isEmpty ? ': what was given is empty' : ''}.`
  throw invalidField('html', message, 'missing_required_field')
}

/** Whether the topic belongs to the account is checked when the email is stored. */
function readTopicId(id: unknown): Id {
  if (typeof id !== 'string')
    throw invalidField('topic_id', `\`topic_id\` must be a string; got ${shownValue(id)}.`)
  const parsed = parseWireId('top', id)
  if (!parsed) throw apiErrorOf(UNKNOWN_TOPIC)
  return parsed
}

function isAmong(mailboxes: readonly Mailbox[]): (mailbox: Mailbox) => boolean {
  const known = new Set(mailboxes.map(({ address }) => foldAddress(address)))
  return ({ address }) => known.has(foldAddress(address))
}

/** Checks the number of recipients before any address is parsed. */
function requireFewRecipients(body: unknown) {
  const { to, cc, bcc } = presentRecipients(body as Record<string, unknown>)
  orThrow(refuseTooMany({ to: listOf(to), cc: listOf(cc), bcc: listOf(bcc) }))
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function namesTemplate(body: unknown): boolean {
  const { template, template_id: id } = presentTemplate(body as Record<string, unknown>)
  return template !== undefined || id !== undefined
}

/** @throws ApiError */
export function readFrom(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if ('fault' in mailbox)
    throw invalidField(
      'from',
      `Invalid \`from\` field: the address ${mailbox.fault}. ` +
        'It must have the form `email@example.com` or `Name <email@example.com>`.',
      'invalid_from_address',
    )
  return mailbox
}

/** @throws ApiError */
export function readMailboxes(field: string, texts: readonly string[] = []): Mailbox[] {
  return texts.map((text, i) => {
    const mailbox = parseMailbox(text)
    if (!('fault' in mailbox)) return mailbox
    const path = texts.length === 1 ? field : `${field}[${i}]`
    throw invalidField(
      path,
      `Invalid \`${path}\` field: the address ${mailbox.fault}. ` +
        'It must have the form `email@example.com` or `Name <email@example.com>`.',
    )
  })
}

/**
 * Trims a subject. A blank one counts as absent.
 * @throws ApiError
 */
export function readSubject(text: string | undefined): string | null {
  const subject = text?.trim()
  if (!subject) return null
  const fault = subjectFault(subject)
  if (fault) throw invalidField('subject', `\`subject\` ${fault}.`)
  return subject
}

/**
 * Replaces tags of the form `{name: value}` by a list of `{name, value}`.
 * @throws ApiError 422
 */
function withTagList(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'tags')) return body
  const { tags } = body as { tags: unknown }
  if (typeof tags !== 'object' || tags === null || Array.isArray(tags)) return body
  const list = Object.entries(tags).map(([name, value]) => {
    if (!['string', 'number', 'boolean'].includes(typeof value))
      throw invalidField(
        `tags.${name}`,
        `\`tags.${name}\` must be a string, a number or a boolean; got ${shownValue(value)}.`,
      )
    return { name, value }
  })
  return { ...body, tags: list }
}

function readTags(tags: readonly object[] = []): unknown[] {
  const fault = tagsFault(tags)
  if (fault !== undefined) throw invalidField('tags', fault)
  return [...tags]
}

function orThrow<T>(value: T): Exclude<T, { refused: unknown }> {
  if (isRefusal(value)) throw apiErrorOf(value)
  return value as Exclude<T, { refused: unknown }>
}
