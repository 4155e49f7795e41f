/**
 * Parses a message into the form in which users see it: addresses, subject, header fields, texts, and the
 * positions of its attachments.
 *
 * In: the octets of a received or submitted message. Out: `ParsedMail`. Called by
 * `pipeline/inbound/read-inbound.ts` and by `interfaces/submission/read-message.ts`.
 */
import { shownBy } from '../compose-body.ts'
import { shortFileName } from '../file-name.ts'
import { nameForType } from '../file-type.ts'
import { addressesOf, type ReceivedMailbox } from './addresses.ts'
import { bodiesOf } from './bodies.ts'
import { readContentField } from './content-field.ts'
import { decodeWords } from './encoded-words.ts'
import { type Head, readHead } from './head.ts'
import { splitUuencoded } from './inline-uuencode.ts'
import { structureOf } from './structure.ts'
import { decodeBytes, decodedSize, type Encoding, encodedEnd } from './transfer.ts'
import { type Leaf, walkMail } from './walk.ts'

/** An attachment: its position in the message, and its encoding there. */
export interface FoundPart {
  filename: string
  /** Media type, `type/subtype` in lower case. */
  contentType: string
  /**
   * Parameters of the media type by lower-case name, such as `charset` and `method`, without those that name
   * the file. Messages that were stored by older versions have none.
   */
  contentTypeParams?: Record<string, string>
  /** Content-ID without its angle brackets. */
  contentId: string | null
  disposition: 'inline' | 'attachment'
  /** Size after decoding, in octets. */
  sizeBytes: number
  start: number
  end: number
  encoding: Encoding
}

export interface ParsedMail {
  from: ReceivedMailbox[]
  to: ReceivedMailbox[]
  cc: ReceivedMailbox[]
  bcc: ReceivedMailbox[]
  replyTo: ReceivedMailbox[]
  subject: string
  /** Message-ID with its angle brackets. */
  messageId: string | null
  /** Fields in their order, with names as they were written. */
  headers: [name: string, value: string][]
  html: string | null
  text: string | null
  parts: FoundPart[]
  /** What of the message was not read, and why. */
  faults: string[]
}

const SUBJECT_CHARACTERS_MAX = 2_000
const MESSAGE_ID_CHARACTERS_MAX = 1_000
const HEADER_CHARACTERS_MAX = 64 * 1024
const MEDIA_TYPE_CHARACTERS_MAX = 127
const PARAMETERS_MAX = 20
const PARAMETER_NAME = /^[\w!#$&^.+-]{1,60}$/
const PARAMETER_VALUE = /^[ -~]{1,200}$/
/** Parameters that name the file, or describe what a composite type holds. */
const OTHER_PARAMETERS = new Set(['name', 'filename', 'boundary'])
const CONTENT_ID_CHARACTERS_MAX = 255
const MESSAGE_NAME_CHARACTERS_MAX = 100
/** Octets of an enclosed message that are decoded to find its subject. */
const SUBJECT_SCAN_BYTES = 64 * 1024
const MESSAGE_TYPES = new Set(['message/rfc822', 'message/global'])
/** Control characters, and characters that make a file name look like another one. */
const HARMFUL = /[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

export function readMail(bytes: Buffer): ParsedMail {
  const walked = walkMail(bytes)
  const { head } = walked
  const structure = structureOf(walked.root, leaf =>
    mayHoldFiles(leaf) ? splitUuencoded(bytes, leaf) : [leaf],
  )
  const { text, html, faults } = bodiesOf(bytes, structure)
  const shows = html === null ? () => false : shownBy(html)
  const firstBody = structure.text[0] ?? structure.html[0]
  return {
    ...headerOf(head, walked.type.params.get('charset') ?? firstBody?.type.params.get('charset')),
    text,
    html,
    parts: structure.attachments.map((leaf, index) => partOf(bytes, leaf, index, shows)),
    faults: [...walked.faults, ...faults],
  }
}

/** Parses the header section alone. @param bytes the beginning of the message is enough */
export function readHeadOnly(bytes: Buffer, fault: string): ParsedMail {
  const { head } = readHead(bytes)
  const { params } = readContentField(head.raw('content-type'))
  return { ...headerOf(head, params.get('charset')), text: null, html: null, parts: [], faults: [fault] }
}

/** @param declared charset of the message, in which some programs write header fields, too */
function headerOf(
  head: Head,
  declared: string | undefined,
): Omit<ParsedMail, 'text' | 'html' | 'parts' | 'faults'> {
  const subject = clean(decodeWords(head.raw('subject') ?? '', { declared })).slice(0, SUBJECT_CHARACTERS_MAX)
  const messageId = clean(head.raw('message-id') ?? '').slice(0, MESSAGE_ID_CHARACTERS_MAX)
  return {
    from: addressesOf(head, 'from', declared),
    to: addressesOf(head, 'to', declared),
    cc: addressesOf(head, 'cc', declared),
    bcc: addressesOf(head, 'bcc', declared),
    replyTo: addressesOf(head, 'reply-to', declared),
    subject: subject.toWellFormed(),
    messageId: messageId === '' ? null : messageId,
    headers: head
      .fields()
      .map(({ name, value }) => [
        name,
        decodeWords(value, { maxCharacters: HEADER_CHARACTERS_MAX, declared }).replaceAll('\0', ''),
      ]),
  }
}

function clean(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()
}

/** Tells whether a leaf is a text whose lines stand in the message as they are. */
function mayHoldFiles({ type, encoding }: Leaf): boolean {
  return type.value === 'text/plain' && encoding === 'none'
}

function partOf(bytes: Buffer, leaf: Leaf, index: number, shows: ReturnType<typeof shownBy>): FoundPart {
  const { type, disposition, encoding, start } = leaf
  const end = encodedEnd(bytes, leaf)
  const contentId = contentIdOf(leaf)
  const isShown = shows({ contentId })
  const isType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type.value)
  return {
    filename: nameOf(bytes, leaf, index),
    contentType: (isType ? type.value : 'application/octet-stream').slice(0, MEDIA_TYPE_CHARACTERS_MAX),
    contentTypeParams: isType ? keptParameters(type.params) : {},
    contentId,
    disposition: disposition.value === 'inline' || isShown ? 'inline' : 'attachment',
    sizeBytes: decodedSize(bytes.subarray(start, end), encoding),
    start,
    end,
    encoding,
  }
}

function keptParameters(params: ReadonlyMap<string, string>): Record<string, string> {
  const shown = [...params].filter(
    ([name, value]) =>
      !OTHER_PARAMETERS.has(name) && PARAMETER_NAME.test(name) && PARAMETER_VALUE.test(value),
  )
  return Object.fromEntries(shown.slice(0, PARAMETERS_MAX))
}

function contentIdOf({ contentId }: Leaf): string | null {
  const id = clean(contentId ?? '').replace(/^<|>$/g, '')
  return id === '' ? null : id.slice(0, CONTENT_ID_CHARACTERS_MAX).toWellFormed()
}

/**
 * Returns the given file name without folders; for an enclosed message, its subject; or else a numbered name.
 */
function nameOf(bytes: Buffer, leaf: Leaf, index: number): string {
  const { type, disposition } = leaf
  const declared = disposition.params.get('filename') ?? type.params.get('name')
  if (!declared && MESSAGE_TYPES.has(type.value)) return messageName(bytes, leaf, index)
  return safeName(declared ?? '') || nameForType(`attachment-${index + 1}`, type.value)
}

function messageName(bytes: Buffer, { encoding, start, end }: Leaf, index: number): string {
  const enclosed = decodeBytes(bytes.subarray(start, end), encoding, SUBJECT_SCAN_BYTES)
  const subject = readHead(enclosed).head.text('subject') ?? ''
  const name = safeName(subject.replace(/[/\\:*?"<>|]+/g, ' ')).slice(0, MESSAGE_NAME_CHARACTERS_MAX)
  return name.trim() === '' ? `attachment-${index + 1}.eml` : `${name.trim()}.eml`
}

/** Removes folders; returns an empty text for a name that denotes a folder. */
function safeName(declared: string): string {
  const name = declared.replace(HARMFUL, '').split(/[/\\]/).at(-1)!.trim()
  if (/^\.{0,2}$/.test(name)) return ''
  return shortFileName(name).toWellFormed()
}
