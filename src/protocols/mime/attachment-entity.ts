/** Builds entities of attachments: files beside the text, and images inside the HTML. */
import type { HeaderField } from '../smtp/header-field.ts'
import { base64LinesSize, writeBase64Lines } from './base64-lines.ts'
import type { Boundaries } from './boundary.ts'
import type { Entity } from './entity.ts'
import { LINE_OCTETS_MAX, TOKEN_LIMIT_OCTETS } from './fold.ts'
import { surveyLines, writeCrlfLines } from './line-survey.ts'
import { type MediaType, parseMediaType, withCalendarParameters } from './media-type.ts'
import { nameParameter, parameter, withParameters } from './parameters.ts'

export interface Attachment {
  /** File name; `attachment` is used for an empty one. */
  filename: string
  /** Media type with or without parameters; an invalid one counts as `application/octet-stream`. */
  contentType: string
  /**
   * Content-ID with or without angle brackets, or null. The HTML refers to the attachment by a `cid:` URL
   * with it.
   */
  contentId: string | null
  content: Uint8Array
}

/** Limit of a content id that fits on a line. Longer ids are left out. */
const MAX_CONTENT_ID_OCTETS = TOKEN_LIMIT_OCTETS - 'Content-ID: <>'.length

type Disposition = 'attachment' | 'inline'

/**
 * Builds the entity of an attachment, whose octets arrive unchanged in base64. Attached messages must not be
 * encoded (RFC 2046 §5.2.1): a message that is 7-bit text is sent as it is, with CRLF line ends; any other is
 * declared `application/octet-stream`, so that no octet of it, and no signature in it, is lost.
 */
export function attachmentEntity(
  attachment: Attachment,
  disposition: Disposition,
  boundaries: Boundaries,
): Entity {
  const { content } = attachment
  const type = withCalendarParameters(parseMediaType(attachment.contentType), content)
  if (!isMessage(type)) return base64Entity(attachment, type, disposition)
  const crlfSize = boundaries.occurIn(content) ? undefined : plainMessageSize(content)
  if (crlfSize === undefined)
    return base64Entity(attachment, { essence: 'application/octet-stream', parameters: [] }, disposition)
  return {
    fields: fieldsOf(attachment, type, disposition, '7bit'),
    sizeBytes: crlfSize,
    isRelaxed: false, // the value is not computed for attachments
    write: (out, position) => void writeCrlfLines(content, out, position),
  }
}

/** Returns the id for the angle brackets of Content-ID, with other characters percent-encoded. */
export function bareContentId(contentId: string): string {
  return contentId
    .toWellFormed()
    .replace(/^\s*<|>\s*$/g, '')
    .replace(/[^!-;=?-~]/gu, encodeURIComponent)
}

function base64Entity(attachment: Attachment, type: MediaType, disposition: Disposition): Entity {
  const { content } = attachment
  return {
    fields: fieldsOf(attachment, type, disposition, 'base64'),
    sizeBytes: base64LinesSize(content.length),
    isRelaxed: true,
    write: (out, position) => void writeBase64Lines(content, out, position),
  }
}

function fieldsOf(
  { filename, contentId }: Attachment,
  { essence, parameters }: MediaType,
  disposition: Disposition,
  encoding: string,
): HeaderField[] {
  const fileName = filename === '' ? 'attachment' : filename
  const typeParameters = [...parameters, nameParameter(fileName)]
  const fields = [
    { name: 'Content-Type', value: withParameters('Content-Type', essence, typeParameters) },
    {
      name: 'Content-Disposition',
      value: withParameters('Content-Disposition', disposition, parameter('filename', fileName)),
    },
    { name: 'Content-Transfer-Encoding', value: encoding },
  ]
  const id = contentId === null ? '' : bareContentId(contentId)
  if (id !== '' && id.length <= MAX_CONTENT_ID_OCTETS) fields.push({ name: 'Content-ID', value: `<${id}>` })
  return fields
}

/** Messages in UTF-8 may be encoded like any file (RFC 6532 §3.7). */
function isMessage({ essence }: MediaType): boolean {
  return essence.startsWith('message/') && !essence.startsWith('message/global')
}

/** Returns an attached message with CRLF line ends, or undefined if it is not 7-bit text. */
function plainMessageSize(content: Uint8Array): number | undefined {
  const survey = surveyLines(content)
  if (survey.nonAsciiCount + survey.controlCount + survey.bareCrCount > 0) return undefined
  if (survey.longestLineOctets > LINE_OCTETS_MAX) return undefined
  return content.length + survey.bareLfCount
}
