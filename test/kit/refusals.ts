/** Asserts that every refusal of the API has the documented shape and stores nothing. */
import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { ApiError } from '../../src/interfaces/api/api-error.ts'
import { readSendEmail } from '../../src/interfaces/api/emails/send-schema.ts'
import { isOnPostgres } from './database.ts'
import { largeBlobs } from './large-blobs.ts'
import type { ApiAnswer, CallOptions, Mailhorn } from './mailhorn.ts'

/** The closed list its clients know. */
const NAMES = new Set([
  'invalid_idempotency_key',
  'validation_error',
  'missing_api_key',
  'restricted_api_key',
  'invalid_api_key',
  'not_found',
  'method_not_allowed',
  'invalid_idempotent_request',
  'concurrent_idempotent_requests',
  'invalid_attachment',
  'invalid_from_address',
  'invalid_access',
  'invalid_parameter',
  'invalid_region',
  'missing_required_field',
  'monthly_quota_exceeded',
  'daily_quota_exceeded',
  'rate_limit_exceeded',
  'security_error',
  'application_error',
  'internal_server_error',
])
const KEYS = ['statusCode', 'name', 'message', 'errors', 'questions']
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ExpectedRefusal {
  status: number
  name: string
  /** The field to blame: in `errors`, and named in the message. */
  path?: string
  /** Pattern that the message must match, in place of the field's name. */
  says?: RegExp
}

/** A refusal in the API's one error shape. */
export function assertRefusal(
  { status, headers, body }: Pick<ApiAnswer, 'status' | 'headers' | 'body'>,
  expected: ExpectedRefusal,
): void {
  assertErrorBody(status, body, expected)
  assert.is(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.match(headers.get('x-request-id') ?? '', UUID)
}

/**
 * Reads a request to send as the API does, and expects that it is refused so. @param body as JSON would give
 * it
 */
export function refusesToSend(body: unknown, expected: ExpectedRefusal): ApiError {
  try {
    readSendEmail(body)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    assertErrorBody(error.status, error.body(), expected)
    return error
  }
  throw new Error(`taken: ${JSON.stringify(body).slice(0, 1_000)}`)
}

// biome-ignore lint/suspicious/noExplicitAny: the body is what is tested
function assertErrorBody(status: number, body: any, expected: ExpectedRefusal) {
  const shown = JSON.stringify(body)
  assert.is(status, expected.status, shown)
  assert.is(body.statusCode, status, shown)
  assert.is(body.name, expected.name, shown)
  assert.ok(NAMES.has(body.name), shown)
  assert.ok(typeof body.message === 'string' && body.message.length > 0, shown)
  assert.equal(
    Object.keys(body).filter(key => !KEYS.includes(key)),
    [],
  )
  if (body.errors !== undefined) assertErrors(body.errors, shown)
  if (expected.path !== undefined) {
    assert.ok(
      body.errors?.some((error: { path: string }) => error.path === expected.path),
      shown,
    )
  }
  if (expected.says) assert.match(body.message, expected.says)
  else if (expected.path !== undefined) assert.ok(names(body.message, expected.path), shown)
}

function assertErrors(errors: unknown, shown: string) {
  assert.ok(Array.isArray(errors) && errors.length > 0, shown)
  for (const error of errors as Record<string, unknown>[]) {
    assert.equal(Object.keys(error).sort(), ['message', 'path'], shown)
    assert.type(error.path, 'string', shown)
    assert.type(error.message, 'string', shown)
  }
}

/** `headers.X-A` is named by `X-A`, `attachments[0]` by "attachment". */
function names(message: string, path: string): boolean {
  const text = message.toLowerCase()
  const [field] = /^[a-z_]+/.exec(path)!
  const header = /^headers\.(.+)$/.exec(path)?.[1] ?? field
  return text.includes(field.replace(/s$/, '')) || text.includes(header.toLowerCase())
}

/** Makes a call, and insists that it is refused so and that nothing has been stored. */
export async function refuses(
  mailhorn: Mailhorn,
  [method, path, options]: [method: string, path: string, options?: CallOptions],
  expected: ExpectedRefusal,
): Promise<ApiAnswer> {
  const before = storedIn(mailhorn)
  const answer = await mailhorn.call(method, path, options)
  assertRefusal(answer, expected)
  assert.equal(storedIn(mailhorn), before, 'a refused request must leave nothing behind')
  return answer
}

/** Rows that delivery of earlier mail adds while a test runs. */
const DELIVERY_TRAIL = { attempts: 'false', counters: 'false', events: "type not like 'email.%'" } as Record<
  string,
  string
>

/** Counts the rows of each table, without those of `DELIVERY_TRAIL`, and the stored large attachments. */
export function storedIn(mailhorn: Mailhorn): Record<string, number> {
  const counts = mailhorn.rows<{ name: string; count: number }>(
    tablesOf(mailhorn)
      .map(
        name =>
          `select '${name}' as name, count(*) as count from "${name}" where ${DELIVERY_TRAIL[name] ?? 'true'}`,
      )
      .join(' union all '),
  )
  const files = largeBlobs(mailhorn).length
  return { ...Object.fromEntries(counts.map(({ name, count }) => [name, count])), files }
}

/** Columns that change without a request, when credentials are used and when domains are checked again. */
const COLUMNS_OF_USE = new Set([
  ...['last_seen_at', 'last_used_at'],
  ...['last_checked_at', 'failing_since', 'checks', 'check_at'],
])

/** A digest of every row of every table, delivery's trail and some others left out, by table. */
export function contentsOf(mailhorn: Mailhorn, without: readonly string[] = []): Record<string, string> {
  const tables = tablesOf(mailhorn).filter(name => !(name in DELIVERY_TRAIL || without.includes(name)))
  return Object.fromEntries(
    tables.map(name => {
      const rows = mailhorn.rows(`select * from "${name}"`)
      return [
        name,
        createHash('sha256')
          .update(JSON.stringify(rows.map(valuesOf)))
          .digest('hex'),
      ]
    }),
  )
}

/** Bytes become text, because JSON would list them one by one, which takes most of the time. */
function valuesOf(row: Record<string, unknown>): unknown[] {
  return Object.entries(row).map(([column, value]) => {
    if (COLUMNS_OF_USE.has(column)) return null
    return Buffer.isBuffer(value) ? value.toString('hex') : value
  })
}

function tablesOf(mailhorn: Mailhorn): string[] {
  return mailhorn
    .rows<{ name: string }>(
      isOnPostgres
        ? "select table_name as name from information_schema.tables where table_schema = 'public'"
        : "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
    )
    .map(({ name }) => name)
    .filter(name => !REQUEST_LOG.has(name))
}

/** Every request is logged, refused ones, too, a moment after it was answered. */
const REQUEST_LOG = new Set(['logged_requests', 'logged_bodies'])
