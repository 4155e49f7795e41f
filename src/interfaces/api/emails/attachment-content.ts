/** Decodes the content of an attachment from every encoding that clients use in JSON. */
import { isUtf8 } from 'node:buffer'
import { packBytes } from '../../../lib/bytes.ts'

interface AttachmentContent {
  bytes: Uint8Array
  /** Whether the content was plain text instead of base64. It is encoded as UTF-8. */
  isPlainText: boolean
  /**
   * Whether a text was decoded from base64 to octets that are not UTF-8 text: short texts such as `hello123`
   * happen to be valid base64.
   */
  isDoubtful: boolean
}

const UTF_16 = ['fffe', 'feff']
/** Control characters that no text has; the first octets tell. */
const CONTROLS = /[\0-\x08\x0e-\x1a\x1c-\x1f]/
const CONTROLS_WITHIN_BYTES = 4_096

const DATA_URL = /^data:([^,;]*(?:;[^,;]*)*?);base64,/i
/** A longer prefix is not recognized as a data URL. */
const PREFIX_LENGTH_MAX = 1_000

/**
 * Accepts base64 text with or without the prefix of a data URL, an array of integers from 0 to 255, such an
 * array as `{"type": "Buffer", "data": […]}`, and plain text if `isText` is set and the text is not base64.
 *
 * @returns the bytes, or the rule that the content breaks, completing "`content` …"
 */
export function readContent(content: unknown, isText: boolean): AttachmentContent | { fault: string } {
  if (typeof content === 'string') return readText(content, isText)
  const list = isBufferObject(content) ? content.data : content
  if (list instanceof Uint8Array) return octets(list)
  if (!Array.isArray(list) && !(list instanceof Float64Array))
    return { fault: 'must be a base64 string, an array of bytes, or a serialized Node Buffer' }
  const bytes = packBytes(list)
  return bytes ? octets(bytes) : { fault: 'must contain only integers from 0 to 255' }
}

/** Returns the media type of a data URL, or undefined if there is none. */
export function dataUrlType(content: unknown): string | undefined {
  return (typeof content === 'string' && dataUrlPrefix(content)?.[1]) || undefined
}

function octets(bytes: Uint8Array): AttachmentContent {
  return { bytes, isPlainText: false, isDoubtful: false }
}

function readText(text: string, isText: boolean): AttachmentContent | { fault: string } {
  const prefix = dataUrlPrefix(text)?.[0] ?? ''
  const mayBePlain = isText && prefix === ''
  // base64 may have line breaks, but words with blanks between them are no base64
  const bytes = mayBePlain && /\S[ \t]+\S/.test(text) ? undefined : decodeBase64(text.slice(prefix.length))
  if (bytes) return { bytes, isPlainText: false, isDoubtful: mayBePlain && !isTextIn(bytes) }
  return mayBePlain
    ? { bytes: Buffer.from(text), isPlainText: true, isDoubtful: false }
    : { fault: 'must be valid base64' }
}

function isTextIn(bytes: Buffer): boolean {
  if (UTF_16.includes(bytes.toString('hex', 0, 2))) return true
  return isUtf8(bytes) && !CONTROLS.test(bytes.toString('latin1', 0, CONTROLS_WITHIN_BYTES))
}

function dataUrlPrefix(text: string): RegExpExecArray | null {
  return DATA_URL.exec(text.slice(0, PREFIX_LENGTH_MAX))
}

/** Matches a Buffer that was serialized by `JSON.stringify`. */
function isBufferObject(value: unknown): value is { data: unknown } {
  return isObject(value) && Object.hasOwn(value, 'data') && value.type === 'Buffer'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/**
 * Decodes base64 strictly (RFC 4648 §4 or §5), except that line breaks and missing padding are allowed.
 * Returns undefined for anything else.
 */
function decodeBase64(text: string): Buffer<ArrayBuffer> | undefined {
  const packed = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  const padding = packed.endsWith('==') ? 2 : packed.endsWith('=') ? 1 : 0
  if (padding > 0 && packed.length % 4 !== 0) return undefined
  const length = packed.length - padding
  if (length % 4 === 1) return undefined
  const bytes = Buffer.from(packed, 'base64')
  return bytes.length === Math.floor((length * 3) / 4) ? bytes : undefined
}
