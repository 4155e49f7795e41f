/** The request that sends an email: from JSON to a submission whose every field is parsed and good by itself. */
import { lookup as mediaTypeOf } from 'mime-types'
import { z } from 'zod'
import { readHeaders } from '../../accept/header-policy.ts'
import { isRefusal } from '../../accept/refusal.ts'
import type { Submission, SubmittedAttachment } from '../../accept/submission.ts'
import { type Mailbox, parseMailbox } from '../../smtp/address.ts'
import { invalidField, type Refused, refusedBy } from '../refused.ts'
import { bodyReader, type Camel, oneOrMany, presentPicker } from './read.ts'

export const sendEmailSchema = z.object({
  from: z.string(),
  to: oneOrMany(),
  cc: oneOrMany().optional(),
  bcc: oneOrMany().optional(),
  reply_to: oneOrMany().optional(),
  subject: z.string(),
  html: z.string().optional(),
  text: z.string().optional(),
  headers: z.unknown().optional(),
  attachments: z.array(z.looseObject({})).optional(),
  tags: z.array(z.looseObject({})).optional(),
  template: z.unknown().optional(),
  template_id: z.unknown().optional(),
  template_data: z.unknown().optional(),
  scheduled_at: z.unknown().optional(),
  topic_id: z.unknown().optional(),
})

const attachmentSchema = z.object({
  filename: z.string().optional(),
  content: z.string().optional(),
  path: z.string().optional(),
  content_type: z.string().optional(),
  content_id: z.string().optional(),
})

const readRequest = bodyReader(sendEmailSchema, { emptyMeansAbsent: ['from', 'subject'] })
const presentOfAttachment = presentPicker(Object.keys(attachmentSchema.shape))

/** Fields whose feature is still to come: refused, never ignored. */
const NOT_YET = ['template', 'templateId', 'templateData', 'scheduledAt', 'topicId'] as const
const LONGEST_SUBJECT = 2_000
const MOST_TAGS = 50
const MOST_TAG_BYTES = 4 * 1024
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+/-]+|"[^"\\\r\n]*"))*$/
const BREAKS = /[\r\n\0]/

/** @throws Refused */
export function readSendEmail(body: unknown): Submission {
  const request = readRequest(body)
  for (const key of NOT_YET)
    if (request[key] !== undefined)
      throw invalidField(snakeCase(key), `The \`${snakeCase(key)}\` field is not supported yet.`)
  if (request.html === undefined && request.text === undefined)
    throw invalidField('html', 'Missing `html` or `text` field.', 'missing_required_field')
  const headers = request.headers === undefined ? undefined : orThrow(readHeaders(request.headers))
  const replyTo = readMailboxes('reply_to', request.replyTo)
  if (headers?.replyTo && replyTo.length > 0)
    throw invalidField('headers.Reply-To', 'Reply-To is given both as `reply_to` and as a header.')
  return {
    from: readFrom(request.from),
    to: readMailboxes('to', request.to),
    cc: readMailboxes('cc', request.cc),
    bcc: readMailboxes('bcc', request.bcc),
    replyTo: headers?.replyTo ?? replyTo,
    subject: readSubject(request.subject),
    html: request.html ?? null,
    text: request.text ?? null,
    headers: headers?.fields ?? [],
    messageId: headers?.messageId ?? null,
    attachments: (request.attachments ?? []).map(readAttachment),
    tags: readTags(request.tags),
  }
}

function readFrom(text: string): Mailbox {
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

function readMailboxes(field: string, texts: readonly string[] = []): Mailbox[] {
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

function readSubject(subject: string): string {
  if (BREAKS.test(subject))
    throw invalidField('subject', 'The `subject` field must not contain CR, LF or NUL.')
  if (subject.length > LONGEST_SUBJECT)
    throw invalidField('subject', `The \`subject\` field may have ${LONGEST_SUBJECT} characters.`)
  return subject
}

function readTags(tags: readonly object[] = []): unknown[] {
  if (tags.length > MOST_TAGS) throw invalidField('tags', `At most ${MOST_TAGS} tags are allowed.`)
  if (Buffer.byteLength(JSON.stringify(tags)) > MOST_TAG_BYTES)
    throw invalidField('tags', `Tags may have ${MOST_TAG_BYTES} bytes together.`)
  return [...tags]
}

function readAttachment(raw: Record<string, unknown>, index: number): SubmittedAttachment {
  const at = `attachments[${index}]`
  const refuse = (key: string, message: string) =>
    invalidField(`${at}${key}`, `Attachment ${index + 1}: ${message}.`, 'invalid_attachment')
  const parsed = attachmentSchema.safeParse(presentOfAttachment(raw))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw refuse(`.${issue!.path.join('.')}`, `\`${issue!.path.join('.')}\` has the wrong type`)
  }
  const { filename, content, path, content_type: type, content_id: id } = parsed.data
  for (const [key, value] of Object.entries({ filename, content_type: type, content_id: id }))
    if (value !== undefined && BREAKS.test(value))
      throw refuse(`.${key}`, `\`${key}\` must not contain CR, LF or NUL`)
  if (path !== undefined)
    throw invalidField(`${at}.path`, 'The `path` field of attachments is not supported yet.')
  if (content === undefined) throw refuse('', 'it has no `content`')
  const bytes = decodeBase64(content)
  if (!bytes) throw refuse('.content', '`content` is not valid base64')
  if (type !== undefined && !MEDIA_TYPE.test(type))
    throw refuse('.content_type', '`content_type` is not a media type')
  return {
    filename: filename || `attachment-${index + 1}`,
    contentType: type ?? (mediaTypeOf(filename ?? '') || 'application/octet-stream'),
    contentId: id === undefined ? null : readContentId(id, message => refuse('.content_id', message)),
    content: bytes,
  }
}

function readContentId(text: string, refuse: (message: string) => Refused): string {
  const id = text.trim().replace(/^<(.*)>$/, '$1')
  if (!/^[!-;=?-~]{1,200}$/.test(id))
    throw refuse('`content_id` must be printable ASCII without blanks or brackets')
  return id
}

/**
 * Strict base64 (RFC 4648 §4 or §5), but line breaks may be in it and its padding may be missing; undefined for
 * anything else.
 */
function decodeBase64(text: string): Buffer | undefined {
  const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  const padding = packed.endsWith('==') ? 2 : packed.endsWith('=') ? 1 : 0
  if (padding > 0 && packed.length % 4 !== 0) return undefined
  const length = packed.length - padding
  if (length % 4 === 1) return undefined
  const bytes = Buffer.from(packed, 'base64')
  return bytes.length === Math.floor((length * 3) / 4) ? bytes : undefined
}

function orThrow<T>(value: T): Exclude<T, { refused: unknown }> {
  if (isRefusal(value)) throw refusedBy(value)
  return value as Exclude<T, { refused: unknown }>
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

export type SendEmailRequest = Camel<z.output<typeof sendEmailSchema>>
