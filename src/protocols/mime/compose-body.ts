/**
 * Composes the body of a message and the fields that describe it. One body serves the messages of all
 * recipients.
 *
 * In: texts and attachments of an email. Out: the octets of the body. Called by `pipeline/delivery/message`.
 */
import type { HeaderField } from '../smtp/header-field.ts'
import { type Attachment, attachmentEntity, bareContentId } from './attachment-entity.ts'
import { type Boundaries, boundariesOf } from './boundary.ts'
import { type Entity, multipart } from './entity.ts'
import { textEntity } from './text-entity.ts'

const CRLF = Buffer.from('\r\n')

/** Text, or a text that is encoded already. */
export type BodyTexts = string | Entity

export interface BodySource {
  html: string | null
  text: string | null
  attachments: readonly Attachment[]
  /** Seed of the boundaries, which does not reveal it: the id of the email. */
  seed: string
}

/** Body whose texts may be encoded already. */
export interface WordedSource extends Pick<BodySource, 'attachments' | 'seed'> {
  html: BodyTexts | null
  text: BodyTexts | null
}

interface ComposedBody {
  /** MIME-Version and Content-Type, and Content-Transfer-Encoding if the body is a single text. */
  fields: HeaderField[]
  /** Octets of the body: 7-bit, with lines of at most 998 octets that end in CRLF. May be empty. */
  body: Buffer
  /** Value of `Entity.isRelaxed`. */
  isRelaxed: boolean
}

/**
 * Composes a body; the same source gives the same octets. Text alone is `text/plain`, HTML alone `text/html`,
 * both are `multipart/alternative` (RFC 2046 §5.1.4). Attachments that the HTML shows are placed with it in
 * `multipart/related` (RFC 2387), all others behind the text in `multipart/mixed`.
 */
export function composeBody(source: WordedSource): ComposedBody {
  const root = rootEntity(source)
  const { isRelaxed } = root
  const fields = [{ name: 'MIME-Version', value: '1.0' }, ...root.fields]
  const body = Buffer.allocUnsafe(root.sizeBytes + CRLF.length)
  root.write(body, 0)
  const end = root.sizeBytes
  if (end === 0 || (body[end - 2] === CRLF[0] && body[end - 1] === CRLF[1]))
    return { fields, body: body.subarray(0, end), isRelaxed }
  CRLF.copy(body, end)
  return { fields, body, isRelaxed }
}

function rootEntity({ html, text, attachments, seed }: WordedSource): Entity {
  const boundaries = boundariesOf(seed)
  const shown: Entity[] = []
  const others: Entity[] = []
  const isShown = typeof html === 'string' && attachments.some(hasContentId) ? shownBy(html) : () => false
  for (const attachment of attachments)
    if (isShown(attachment)) shown.push(attachmentEntity(attachment, 'inline', boundaries))
    else others.push(attachmentEntity(attachment, 'attachment', boundaries))
  const content = contentEntity(html, text, shown, boundaries)
  if (others.length === 0) return content ?? textEntity('plain', '')
  const parts = content ? [content, ...others] : others
  if (attachments.some(isTlsReport))
    return multipart('report', boundaries.of('report'), parts, ['report-type="tlsrpt"'])
  return multipart('mixed', boundaries.of('mixed'), parts)
}

/**
 * Returns the entity of the texts, or undefined for a message of attachments alone. An empty text is not an
 * alternative, since readers would show nothing in place of the other text.
 */
function contentEntity(
  html: BodyTexts | null,
  text: BodyTexts | null,
  shown: readonly Entity[],
  boundaries: Boundaries,
): Entity | undefined {
  const plain = text === null || (text === '' && html) ? undefined : entityOf('plain', text)
  if (html === null || (html === '' && plain)) return plain
  const page = entityOf('html', html)
  const rich =
    shown.length === 0
      ? page
      : multipart('related', boundaries.of('related'), [page, ...shown], ['type="text/html"'])
  return plain ? multipart('alternative', boundaries.of('alternative'), [plain, rich]) : rich
}

function entityOf(subtype: 'plain' | 'html', words: BodyTexts): Entity {
  return typeof words === 'string' ? textEntity(subtype, words) : words
}

/** Tells whether an attachment makes the message a report on TLS (RFC 8460 §5.3). */
function isTlsReport({ contentType }: Attachment): boolean {
  return contentType === 'application/tlsrpt+gzip'
}

function hasContentId({ contentId }: Attachment): boolean {
  return contentId !== null
}

/** The URL ends at a quote, a blank or a bracket. */
const CID_URL = /\bcid:([^\s"'<>()]+)/gi

/** Limit of different URLs that are examined: ten times the limit of parts of a message. */
const NAMED_MAX = 10_000

/** Tells whether the HTML refers to an attachment by a `cid:` URL, plain or percent-encoded (RFC 2392 §2). */
export function shownBy(html: string): (attachment: Pick<Attachment, 'contentId'>) => boolean {
  const named = new Set<string>()
  for (const [, url] of html.matchAll(CID_URL)) {
    named.add(url!.replaceAll('&amp;', '&'))
    if (named.size === NAMED_MAX) break
  }
  return ({ contentId }) => {
    const id = contentId === null ? '' : bareContentId(contentId)
    return id !== '' && (named.has(id) || named.has(encodeURIComponent(id)) || named.has(encodeURI(id)))
  }
}
