/** Decodes the bytes of an attachment from any of the forms in which clients put them into JSON. */
import { packBytes } from '../../../lib/bytes.ts'

export interface AttachmentContent {
  bytes: Uint8Array
  /** It was no encoding of bytes but the text itself, which is UTF-8 now. */
  isPlainText: boolean
}

const DATA_URL = /^data:([^,;]*(?:;[^,;]*)*?);base64,/i
/** A longer prefix is none. */
const PREFIX_LENGTH_MAX = 1_000

/**
 * Base64 text, with or without the prefix of a data URL; a list of integers from 0 to 255; such a list as
 * `{"type": "Buffer", "data": […]}`; or, where `isText` and it is no base64, the text itself.
 *
 * @returns or what is wrong with it, completing "`content` …"
 */
export function readContent(content: unknown, isText: boolean): AttachmentContent | { fault: string } {
  if (typeof content === 'string') return readText(content, isText)
  const list = isBufferObject(content) ? content.data : content
  if (list instanceof Uint8Array) return { bytes: list, isPlainText: false }
  if (!Array.isArray(list) && !(list instanceof Float64Array))
    return { fault: 'must be a base64 string, an array of bytes, or a serialized Node Buffer' }
  const bytes = packBytes(list)
  return bytes ? { bytes, isPlainText: false } : { fault: 'must contain only integers from 0 to 255' }
}

/** Shorter contents are not worth the trouble. */
const DECODED_FROM_CHARACTERS = 64 * 1024

/**
 * Puts bytes in place of long base64 texts in the body of a send or a batch; `readContent` reads the rest.
 *
 * @returns all contents that are bytes now, none of which shares its memory
 */
export function decodeContents(body: object): Uint8Array<ArrayBuffer>[] {
  const found: Uint8Array<ArrayBuffer>[] = []
  for (const email of Array.isArray(body) ? body : [body])
    for (const attachment of attachmentsOf(email)) {
      const bytes = longContent(attachment.content)
      if (!bytes) continue
      attachment.content = bytes
      found.push(bytes)
    }
  return found
}

function attachmentsOf(email: unknown): Record<string, unknown>[] {
  const list = isObject(email) ? email.attachments : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

function longContent(content: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof content === 'string')
    return content.length < DECODED_FROM_CHARACTERS ? undefined : decodeBase64(content)
  const list = isBufferObject(content) ? content.data : content
  return list instanceof Uint8Array ? (list as Uint8Array<ArrayBuffer>) : undefined
}

/** The media type that a data URL names; undefined where it names none, or the content is something else. */
export function dataUrlType(content: unknown): string | undefined {
  return (typeof content === 'string' && dataUrlPrefix(content)?.[1]) || undefined
}

function readText(text: string, isText: boolean): AttachmentContent | { fault: string } {
  const prefix = dataUrlPrefix(text)?.[0] ?? ''
  const bytes = decodeBase64(text.slice(prefix.length))
  if (bytes) return { bytes, isPlainText: false }
  return isText && prefix === ''
    ? { bytes: Buffer.from(text), isPlainText: true }
    : { fault: 'must be valid base64' }
}

function dataUrlPrefix(text: string): RegExpExecArray | null {
  return DATA_URL.exec(text.slice(0, PREFIX_LENGTH_MAX))
}

/** What `JSON.stringify` makes of a Buffer. */
function isBufferObject(value: unknown): value is { data: unknown } {
  return isObject(value) && Object.hasOwn(value, 'data') && value.type === 'Buffer'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/**
 * Strict base64 (RFC 4648 §4 or §5), but line breaks may be in it and its padding may be missing; undefined
 * for anything else.
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
