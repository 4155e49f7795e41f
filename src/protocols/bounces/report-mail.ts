/**
 * A mail as the readers of reports see it: its header section, its leaves, and the messages that leaves
 * enclose. Parts are found and decoded by `protocols/mime/read`; this file adds what only reports need:
 * smaller limits, text of HTML without tags, and base64 that is not declared or ends before its part.
 */
import type { ContentField } from '../mime/read/content-field.ts'
import { type Head, readHead } from '../mime/read/head.ts'
import { textOfLeaf } from '../mime/read/text.ts'
import { decodeBytes } from '../mime/read/transfer.ts'
import { type Leaf, walkMail } from '../mime/read/walk.ts'
import { textOfHtml } from './html.ts'

export interface ReportMail {
  head: Head
  /** Content-Type of the mail. */
  type: ContentField
  parts: readonly ReportPart[]
}

/** A part without parts. */
export interface ReportPart {
  type: ContentField
  /** File name in lower case; empty without one. */
  fileName: string
  /** Decoded text of at most 64 K characters, whose lines end in LF; of HTML without its tags. */
  text(): string
  /** Message of a `message/rfc822` part; undefined for other parts, and beyond the limit of nesting. */
  enclosed(): ReportMail | undefined
}

const MAIL_BYTES_MAX = 512 * 1024
const TEXT_BYTES_MAX = 64 * 1024
const ENCLOSED_DEPTH_MAX = 12
const LF = 0x0a
/** Media types of complete enclosed messages. */
const MESSAGES = new Set(['message/rfc822', 'message/global', 'message/news'])
const BASE64_LINE = /^[A-Za-z0-9+/=\t \r]*$/
/** Matches base64 that is not declared: lines of equal length with nothing else in them. */
const LOOKS_ENCODED =
  /^[A-Za-z0-9+/]{60,76}\r?\n(?:[A-Za-z0-9+/]{60,76}\r?\n){0,8}[A-Za-z0-9+/]{0,76}={0,2}\s{0,4}$/
const LOOKS_ENCODED_BYTES_MAX = 700

/** @param raw a mail of any size, of which the first 512 KiB are read */
export function readReportMail(raw: Uint8Array): ReportMail {
  const size = Math.min(raw.length, MAIL_BYTES_MAX)
  return mailOf(Buffer.from(raw.buffer, raw.byteOffset, size), 0)
}

/** Reads a header section that stands in a text. */
export function headOfText(text: string): Head {
  return readHead(Buffer.from(text)).head
}

function mailOf(bytes: Buffer, depth: number): ReportMail {
  const { head, type, leaves } = walkMail(bytes)
  return { head, type, parts: leaves.map(leaf => partOf(bytes, leaf, depth)) }
}

function partOf(bytes: Buffer, leaf: Leaf, depth: number): ReportPart {
  const { type, disposition } = leaf
  let enclosed: ReportMail | undefined
  return {
    type,
    fileName: (disposition.params.get('filename') ?? type.params.get('name') ?? '').toLowerCase(),
    text: () => textOf(bytes, leaf),
    enclosed() {
      if (!MESSAGES.has(type.value) || depth === ENCLOSED_DEPTH_MAX) return undefined
      // An enclosed message must not be encoded, and sometimes is (RFC 2046 §5.2.1).
      enclosed ??= mailOf(decodeBytes(bytes.subarray(leaf.start, leaf.end), leaf.encoding), depth + 1)
      return enclosed
    },
  }
}

function textOf(bytes: Buffer, leaf: Leaf): string {
  const end = Math.min(leaf.end, leaf.start + TEXT_BYTES_MAX)
  const { text } = textOfLeaf(bytes, { ...leaf, ...encodedRange(bytes, { ...leaf, end }) }, TEXT_BYTES_MAX)
  return isHtml(leaf.type.value, text) ? textOfHtml(text) : text
}

/**
 * Finds base64 that is not declared, and the end of declared base64: gateways append their notices behind the
 * encoded text. A part without a line of base64 is not encoded.
 */
function encodedRange(bytes: Buffer, { start, end, encoding }: Leaf): Pick<Leaf, 'end' | 'encoding'> {
  if (encoding === 'none') {
    const isShort = end - start < LOOKS_ENCODED_BYTES_MAX
    const looksEncoded = isShort && LOOKS_ENCODED.test(bytes.toString('latin1', start, end))
    return { end, encoding: looksEncoded ? 'base64' : 'none' }
  }
  if (encoding !== 'base64') return { end, encoding }
  let encodedEnd = start
  let hasText = false
  for (let at = start; at < end; at = encodedEnd) {
    const newline = bytes.indexOf(LF, at)
    const next = newline < 0 || newline >= end ? end : newline + 1
    const line = bytes.toString('latin1', at, next).replace(/\n$/, '')
    if (!BASE64_LINE.test(line)) break
    hasText ||= /\S/.test(line)
    encodedEnd = next
  }
  return hasText ? { end: encodedEnd, encoding } : { end, encoding: 'none' }
}

function isHtml(type: string, text: string): boolean {
  return type === 'text/html' || (type === 'text/plain' && /^\s{0,20}<(?:!doctype|html)\b/i.test(text))
}
