/**
 * Reads the `attachments` of a request that sends an email. Out: files with their bytes, or URLs to download.
 */
import * as z from 'zod'
import { ATTACHMENTS_MAX } from '../../../pipeline/accept/message-limits.ts'
import {
  attachmentName,
  type RemoteAttachment,
  type Submission,
  type SubmittedAttachment,
} from '../../../pipeline/accept/submission.ts'
import { FILE_NAME_CHARACTERS_MAX, isLongerThan } from '../../../protocols/mime/file-name.ts'
import {
  ANY_BYTES,
  legibleMediaType,
  MEDIA_TYPE_CHARACTERS_MAX,
  typeOfFile,
} from '../../../protocols/mime/file-type.ts'
import { type ApiError, invalidField } from '../api-error.ts'
import { brokenRule, shownValue, valueAt } from '../schema/broken-rule.ts'
import { presentPicker } from '../schema/read.ts'
import { dataUrlType, readContent } from './attachment-content.ts'

/** Maximum lengths in characters. The length of a content id excludes its angle brackets. */
const LENGTHS_MAX = {
  filename: FILE_NAME_CHARACTERS_MAX,
  path: 2_048,
  content_type: MEDIA_TYPE_CHARACTERS_MAX,
  content_id: 200,
  inline_content_id: 200,
}
const CONTENT_ID_BRACKETS = 2

const boundedText = (maxLength: number) => z.string().meta({ maxLength }).optional()
const schema = z.object({
  filename: boundedText(LENGTHS_MAX.filename),
  content: z.unknown().optional(),
  path: boundedText(LENGTHS_MAX.path),
  content_type: boundedText(LENGTHS_MAX.content_type),
  content_id: boundedText(LENGTHS_MAX.content_id + CONTENT_ID_BRACKETS),
  /** Former name of `content_id`. */
  inline_content_id: boundedText(LENGTHS_MAX.inline_content_id + CONTENT_ID_BRACKETS),
})

/** Description of attachments in the OpenAPI document. */
export const attachmentMeta = {
  properties: {
    ...z.toJSONSchema(schema.omit({ content: true }), { io: 'input' }).properties,
    content: {
      description: 'Base64 string, array of bytes (integers from 0 to 255), or a serialized Node.js Buffer.',
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 } },
        { type: 'object', properties: { type: { const: 'Buffer' }, data: { type: 'array' } } },
      ],
    },
    path: {
      type: 'string',
      format: 'uri',
      maxLength: LENGTHS_MAX.path,
      description: 'https URL instead of `content`, if the operator has enabled downloads.',
    },
  },
}

type Fields = z.output<typeof schema>
/** @param key key of the attachment with its dot, or an empty string for the whole attachment */
type Refuse = (key: string, message: string) => ApiError

const pickPresent = presentPicker(Object.keys(schema.shape), {
  emptyMeansAbsent: ['filename', 'content_type'],
  emptyLists: ['content'],
})

const CHARSET = /\s*;\s*charset=(?:"[^"]*"|[^\s;]*)/gi
/** A charset other than UTF-8, in which octets are rarely valid UTF-8. */
const OTHER_CHARSET = /;\s*charset=(?!"?utf-?8\b)/i
/** Media types of file names whose content is text. */
const TEXTUAL =
  /^(?:text\/|message\/rfc822$|application\/(?:json|xml|javascript|yaml|sql|rtf|x-sh)$|.+\+(?:json|xml)$)/
const CONTENT_ID = /^[!-;=?-~]+$/
const BREAKS = /[\r\n\0]/

/**
 * @returns the attachments, and the paths of contents whose encoding is doubtful
 * @throws ApiError 422 invalid_attachment, which names the attachment and its field
 */
export function readAttachments(
  list: readonly Record<string, unknown>[] = [],
): Required<Pick<Submission, 'attachments' | 'doubtfulContents'>> {
  const doubtfulContents: string[] = []
  const attachments = list.map((raw, index) =>
    readAttachment(raw, index, () => doubtfulContents.push(`attachments[${index}].content`)),
  )
  const seen = new Set<string>()
  for (const [index, { contentId }] of attachments.entries()) {
    if (contentId === null) continue
    if (seen.has(contentId))
      throw refuser(index)('.content_id', `\`content_id\` must be unique; "${contentId}" is used twice`)
    seen.add(contentId)
  }
  return { attachments, doubtfulContents }
}

export function tooManyAttachments(count: number): ApiError {
  return invalidField(
    'attachments',
    `\`attachments\` must contain at most ${ATTACHMENTS_MAX} entries; got ${count}.`,
    'invalid_attachment',
  )
}

export function refuser(index: number): Refuse {
  return (key, message) =>
    invalidField(`attachments[${index}]${key}`, `Attachment ${index + 1}: ${message}.`, 'invalid_attachment')
}

/** @throws ApiError 422 invalid_attachment */
export function readAttachment(
  raw: Record<string, unknown>,
  index: number,
  onDoubt: () => void,
): SubmittedAttachment | RemoteAttachment {
  const refuse = refuser(index)
  const fields = readFields(raw, refuse)
  const { content, path, content_type: declaredType } = fields
  if (content === undefined && path === undefined) throw refuse('', '`content` or `path` must be set')
  if (content !== undefined && path !== undefined)
    throw refuse('.path', '`path` must not be set together with `content`')
  const type = declaredType === undefined ? undefined : legibleMediaType(declaredType)
  if (declaredType !== undefined && type === undefined)
    throw refuse(
      '.content_type',
      `\`content_type\` must be a media type such as \`application/pdf\`; got ${shownValue(declaredType)}`,
    )
  const contentId = readContentId(fields, refuse)
  if (path === undefined) {
    const file = readFile({ ...fields, content_type: type }, index, refuse, onDoubt)
    return { ...file, contentId }
  }
  return { url: path, filename: fields.filename ?? null, contentType: type ?? null, contentId }
}

function readFile(
  { filename, content, content_type: declaredType }: Fields,
  index: number,
  refuse: Refuse,
  onDoubt: () => void,
): Omit<SubmittedAttachment, 'contentId'> {
  const named = declaredType ?? typeOfFile(filename ?? '')
  const read = readContent(content, isText(declaredType, filename))
  if ('fault' in read) throw refuse('.content', `\`content\` ${read.fault}`)
  if (read.isDoubtful && !OTHER_CHARSET.test(declaredType ?? '')) onDoubt()
  const type = named ?? typeByDataUrl(content)
  return {
    filename: filename ?? attachmentName(index, type),
    contentType: read.isPlainText ? inUtf8(type!) : (type ?? ANY_BYTES),
    content: read.bytes,
  }
}

/** Some clients send `filename: false` for an attachment without a name. */
function readFields(raw: Record<string, unknown>, refuse: Refuse): Fields {
  const parsed = schema.safeParse(pickPresent(raw.filename === false ? { ...raw, filename: null } : raw))
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!
    const key = issue.path.join('.')
    throw refuse(`.${key}`, `\`${key}\` ${brokenRule(issue, valueAt(raw, issue.path))}`)
  }
  for (const key of ['filename', 'content_type', 'content_id', 'inline_content_id'] as const)
    if (BREAKS.test(parsed.data[key] ?? ''))
      throw refuse(`.${key}`, `\`${key}\` must not contain CR, LF or NUL`)
  for (const key of ['filename', 'path', 'content_type'] as const)
    requireLength(key, parsed.data[key] ?? '', refuse)
  return parsed.data
}

function requireLength(key: keyof typeof LENGTHS_MAX, text: string, refuse: Refuse) {
  if (isLongerThan(text, LENGTHS_MAX[key]))
    throw refuse(`.${key}`, `\`${key}\` must contain at most ${LENGTHS_MAX[key]} characters`)
}

function readContentId(
  { content_id: id, inline_content_id: formerId }: Pick<Fields, 'content_id' | 'inline_content_id'>,
  refuse: Refuse,
): string | null {
  const text = id ?? formerId
  if (text === undefined) return null
  const key = id === undefined ? 'inline_content_id' : 'content_id'
  const bare = text.trim().replace(/^<(.*)>$/, '$1')
  requireLength(key, bare, refuse)
  if (CONTENT_ID.test(bare)) return bare
  throw refuse(`.${key}`, `\`${key}\` must be printable ASCII without spaces or angle brackets`)
}

/** Whether the content may be plain text, which some clients send as it is. */
function isText(type: string | undefined, filename = ''): boolean {
  return type === undefined ? TEXTUAL.test(typeOfFile(filename) ?? '') : /^text\//i.test(type)
}

function typeByDataUrl(content: unknown): string | undefined {
  return legibleMediaType(dataUrlType(content) ?? '')
}

function inUtf8(type: string): string {
  return `${type.replace(CHARSET, '')}; charset=utf-8`
}
