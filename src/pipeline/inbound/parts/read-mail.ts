/** Reads a received message: what it says of itself, its texts, and where its files are. */

import { decodeWords } from '../../../protocols/bounces/parts/encoded-words.ts'
import { shownBy } from '../../../protocols/mime/compose-body.ts'
import { readAddresses } from './addresses.ts'
import { FAULTS, TEXT_CHARACTERS_MAX } from './faults.ts'
import { fileName, isMessage, messageName } from './file-name.ts'
import { type Head, readHead } from './head.ts'
import type { FoundPart, ParsedMail } from './parsed-mail.ts'
import { type LeafText, textOfLeaf } from './text.ts'
import { decodeBytes, decodedSize } from './transfer.ts'
import { type Leaf, walkMail } from './walk.ts'

const SUBJECT_CHARACTERS_MAX = 2_000
const MESSAGE_ID_CHARACTERS_MAX = 1_000
const HEADER_CHARACTERS_MAX = 64 * 1024
const MEDIA_TYPE_CHARACTERS_MAX = 127
const CONTENT_ID_CHARACTERS_MAX = 255
/** Of an enclosed message, to find its subject. */
const LOOKED_AT_BYTES = 64 * 1024
/** What stands between two texts of a message. */
const HTML_JOINT = '<br>\n'
const JOINT_CHARACTERS_MAX = HTML_JOINT.length
const BODY_TYPES = new Set(['text/plain', 'text/html'])

export function readMail(bytes: Buffer): ParsedMail {
  const walked = walkMail(bytes)
  const { leaves, head } = walked
  const { text, html, faults } = textsOf(bytes, leaves.filter(isBody))
  const shows = html === null ? () => false : shownBy(html)
  const files = leaves.filter(leaf => !isBody(leaf))
  return {
    ...saidBy(head),
    text,
    html,
    parts: files.map((leaf, index) => partOf(bytes, leaf, index, shows)),
    faults: [...walked.faults, ...faults],
  }
}

/** What can be known of a message that could not be taken apart. @param bytes its beginning is enough */
export function readHeadOnly(bytes: Buffer, fault: string): ParsedMail {
  const { head } = readHead(bytes, 0, bytes.length, () => false)
  return { ...saidBy(head), text: null, html: null, parts: [], faults: [fault] }
}

function saidBy(head: Head): Omit<ParsedMail, 'text' | 'html' | 'parts' | 'faults'> {
  const listOf = (name: string) => readAddresses(allOf(head, name).join(', '))
  const subject = clean(decodeWords(head.raw('subject') ?? '')).slice(0, SUBJECT_CHARACTERS_MAX)
  const messageId = clean(head.raw('message-id') ?? '').slice(0, MESSAGE_ID_CHARACTERS_MAX)
  return {
    from: listOf('from'),
    to: listOf('to'),
    cc: listOf('cc'),
    bcc: listOf('bcc'),
    replyTo: listOf('reply-to'),
    subject: subject.toWellFormed(),
    messageId: messageId === '' ? null : messageId,
    headers: head
      .fields()
      .map(({ name, value }) => [name, decodeWords(value, HEADER_CHARACTERS_MAX).replaceAll('\0', '')]),
  }
}

function allOf(head: Head, wanted: string): string[] {
  const fields = head.fields()
  return fields.filter(({ name }) => name.toLowerCase() === wanted).map(({ value }) => value)
}

function clean(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]+/g, ' ').trim()
}

/** What is read as the message itself, and not as a file that came with it. */
function isBody({ type, disposition }: Leaf): boolean {
  if (!BODY_TYPES.has(type.value) || disposition.value === 'attachment') return false
  return !disposition.params.get('filename') && !type.params.get('name')
}

/**
 * The limit holds for all texts together: what is behind it is cut, and a text that begins behind it is left
 * out.
 */
function textsOf(bytes: Buffer, bodies: readonly Leaf[]) {
  const read: (LeafText & { type: string })[] = []
  let room = TEXT_CHARACTERS_MAX
  let isCut = false
  for (const leaf of bodies) {
    const one = textOfLeaf(bytes, leaf, room)
    isCut ||= one.isCut
    if (room > 0 || !one.isCut) read.push({ type: leaf.type.value, ...one })
    room = Math.max(0, room - one.text.length - JOINT_CHARACTERS_MAX)
  }
  const join = (type: string, between: string) => {
    const own = read.filter(one => one.type === type)
    return own.length === 0 ? null : own.map(({ text }) => text).join(between)
  }
  return {
    text: join('text/plain', '\n'),
    html: join('text/html', HTML_JOINT),
    faults: isCut ? [FAULTS.text] : [],
  }
}

type Shows = ReturnType<typeof shownBy>

function partOf(bytes: Buffer, leaf: Leaf, index: number, shows: Shows): FoundPart {
  const { type, disposition, encoding, start, end } = leaf
  const contentId = contentIdOf(leaf)
  const isShown = shows({ contentId })
  return {
    filename: nameOf(bytes, leaf, index),
    contentType: (/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type.value)
      ? type.value
      : 'application/octet-stream'
    ).slice(0, MEDIA_TYPE_CHARACTERS_MAX),
    contentId,
    disposition: disposition.value === 'inline' || isShown ? 'inline' : 'attachment',
    sizeBytes: decodedSize(bytes.subarray(start, end), encoding),
    ...{ start, end, encoding },
  }
}

function nameOf(bytes: Buffer, { type, disposition, encoding, start, end }: Leaf, index: number): string {
  const given = disposition.params.get('filename') ?? type.params.get('name')
  if (given || !isMessage(type.value)) return fileName(given, index, type.value)
  const enclosed = decodeBytes(bytes.subarray(start, end), encoding, LOOKED_AT_BYTES)
  const { head } = readHead(enclosed, 0, enclosed.length, () => false)
  return messageName(decodeWords(head.raw('subject') ?? ''), index)
}

function contentIdOf({ contentId }: Leaf): string | null {
  const said = clean(contentId ?? '').replace(/^<|>$/g, '')
  return said === '' ? null : said.slice(0, CONTENT_ID_CHARACTERS_MAX).toWellFormed()
}
