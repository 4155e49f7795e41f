/**
 * Reads replies of the send surface as the client libraries of typed languages do. What they find of another
 * type than theirs is an error to them, or nothing at all.
 */
import * as assert from 'uvu/assert'
import { ERROR_NAMES } from '../../src/interfaces/api/api-error.ts'

/** Returns the faults of a value, each with its path; `undefined` is a missing key. */
export type Read = (value: unknown, path: string) => string[]

export type ReplyKind =
  | 'send'
  | 'batch'
  | 'email'
  | 'list'
  | 'changed'
  | 'attachments'
  | 'attachment'
  | 'error'

const must =
  (what: string, is: (value: unknown) => boolean): Read =>
  (value, path) =>
    is(value) ? [] : [`${path} is no ${what}: ${JSON.stringify(value)}`]

export const text = must('text', value => typeof value === 'string')
export const flag = must('truth value', value => typeof value === 'boolean')
export const integer = must(
  'integer of 32 bits',
  value => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32,
)
export const uuid = must('UUID', value => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(`${value}`))
export const time = must(
  'time in UTC with milliseconds',
  value => typeof value === 'string' && !Number.isNaN(Date.parse(value)) && /T.+\.\d{3}Z$/.test(value),
)
export const oneOf = (words: readonly string[]) =>
  must(`of ${words}`, value => words.includes(value as string))
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const list =
  (of: Read): Read =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, i) => of(item, `${path}[${i}]`))
      : [`${path} is no list: ${JSON.stringify(value)}`]
export const struct =
  (fields: Readonly<Record<string, Read>>): Read =>
  (value, path) =>
    isObject(value)
      ? Object.entries(fields).flatMap(([key, of]) => of(value[key], `${path}.${key}`))
      : [`${path} is no object: ${JSON.stringify(value)}`]
export const map =
  (of: Read): Read =>
  (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([key, item]) => of(item, `${path}.${key}`))
      : [`${path} is no map: ${JSON.stringify(value)}`]

/** The key must be there. */
const orNull =
  (of: Read): Read =>
  (value, path) =>
    value === null ? [] : of(value, path)
/** The key may be missing, but not null. */
const orMissing =
  (of: Read): Read =>
  (value, path) =>
    value === undefined ? [] : of(value, path)
export const optional = (of: Read) => orMissing(orNull(of))

/** A struct that lacks nothing when keys are missing or null. */
const lenient = (fields: Readonly<Record<string, Read>>) =>
  struct(Object.fromEntries(Object.entries(fields).map(([key, of]) => [key, optional(of)])))

const LAST_EVENTS = [
  ...['bounced', 'canceled', 'clicked', 'complained', 'delivered', 'delivery_delayed', 'failed', 'opened'],
  ...['queued', 'scheduled', 'sent', 'suppressed'],
]
const texts = list(text)
const error = struct({ statusCode: integer, name: oneOf(ERROR_NAMES), message: text })
const leftOut = list(struct({ index: integer, message: text }))

const attachmentFile = {
  ...{ id: text, filename: text, size: integer, content_type: text, content_id: text },
  ...{ content_disposition: oneOf(['inline', 'attachment']), download_url: text, expires_at: time },
}

/**
 * Go: a value of another type is an error, whatever is missing is zero. Java reads by the same rules, and
 * gives null.
 */
const goEmail = lenient({
  ...{ id: text, object: text, from: text, to: texts, cc: texts, bcc: texts, reply_to: texts, subject: text },
  ...{ html: text, text, created_at: time, scheduled_at: time, last_event: text, message_id: text },
  ...{ headers: map(text), tags: list(lenient({ name: text, value: text })), topic_id: text },
})
const go: Record<ReplyKind, Read> = {
  send: lenient({ id: text }),
  batch: lenient({ data: list(lenient({ id: text })), errors: leftOut }),
  email: goEmail,
  list: lenient({ object: text, has_more: flag, total: integer, data: list(goEmail) }),
  changed: lenient({ id: text, object: text }),
  attachments: lenient({ object: text, has_more: flag, data: list(lenient(attachmentFile)) }),
  attachment: lenient(attachmentFile),
  error: lenient({ statusCode: integer, name: text, message: text }),
}

/** Rust: what is not marked as optional must be there. `suppressed` is younger than its list of events. */
const rustEmail = struct({
  ...{ id: text, from: text, to: texts, subject: text, created_at: text, last_event: oneOf(LAST_EVENTS) },
  ...{ cc: orNull(texts), bcc: orNull(texts), reply_to: optional(texts) },
  ...{ html: optional(text), text: optional(text), scheduled_at: optional(text) },
})
const rustAttachment = struct({
  ...attachmentFile,
  ...{ filename: optional(text), content_id: optional(text) },
})
const rust: Record<ReplyKind, Read> = {
  send: struct({ id: text }),
  batch: struct({ data: list(struct({ id: text })), errors: orMissing(leftOut) }),
  email: rustEmail,
  list: struct({ has_more: flag, data: list(rustEmail) }),
  changed: struct({ id: text }),
  attachments: struct({ has_more: flag, data: list(rustAttachment) }),
  attachment: rustAttachment,
  error,
}

/** .NET: ids are UUIDs, enumerations are closed, times are parsed, `required` members must be there. */
const dotnetEmail = struct({
  ...{ id: uuid, from: text, to: texts, subject: text, created_at: time },
  ...{ cc: optional(texts), bcc: optional(texts), reply_to: optional(texts) },
  ...{ html: optional(text), text: optional(text), scheduled_at: optional(time) },
  last_event: optional(oneOf(LAST_EVENTS)),
})
const dotnetAttachment = struct({ ...attachmentFile, id: uuid, content_id: optional(text) })
const dotnet: Record<ReplyKind, Read> = {
  send: struct({ id: uuid }),
  batch: struct({ data: list(struct({ id: uuid })), errors: optional(leftOut) }),
  email: dotnetEmail,
  list: struct({ has_more: flag, data: list(dotnetEmail) }),
  changed: struct({ id: uuid }),
  attachments: struct({ has_more: flag, data: list(dotnetAttachment) }),
  attachment: dotnetAttachment,
  error,
}

/**
 * Readers of languages without types. Ruby takes any reply with a `statusCode` for an error, Python one with
 * a `statusCode` other than 200, PHP one with a `name`.
 */
const hasNone = (key: string): Read =>
  must(`reply without ${key}`, value => isObject(value) && !Object.hasOwn(value, key))
const untyped = Object.fromEntries(
  Object.keys(go).map(kind => [kind, kind === 'error' ? error : hasNone('statusCode')]),
) as Record<ReplyKind, Read>

const LANGUAGES = { go, rust, dotnet, untyped }
export type Language = keyof typeof LANGUAGES
const LIMIT_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after']

/** Returns the faults that a client of the language would fail on. */
export function faultsFor(language: Language, kind: ReplyKind, body: unknown): string[] {
  return LANGUAGES[language][kind](body, kind)
}

interface Answer {
  status: number
  headers: Headers
  body: unknown
}

/** That every client can read the reply; of .NET's it must be known whether the request came from one. */
export function assertReadable(kind: ReplyKind, { status, headers, body }: Answer, { bareIds = false } = {}) {
  const shown = `${kind} ${status} ${JSON.stringify(body)?.slice(0, 1_000)}`
  assert.is(kind === 'error', status >= 300, shown)
  assert.ok(isObject(body), shown)
  assert.is(headers.get('content-type'), 'application/json; charset=utf-8', shown)
  for (const name of LIMIT_HEADERS) assert.match(headers.get(name) ?? '0', /^\d+$/, name)
  for (const language of Object.keys(LANGUAGES) as Language[]) {
    if (language === 'dotnet' && !bareIds && kind !== 'error') continue
    assert.equal(faultsFor(language, kind, body), [], `${language}: ${shown}`)
  }
  if (kind === 'error') assert.is((body as { statusCode: number }).statusCode, status)
}
