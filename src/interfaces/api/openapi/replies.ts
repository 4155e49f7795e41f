/** Describes the replies of operations: their bodies, their headers, and the errors that apply to each. */
import * as z from 'zod'
import type { Route } from '../route/route.ts'
import type { JsonObject, Schemas } from './json-schemas.ts'

const header = (name: string) => ({ $ref: `#/components/headers/${name}` })
const OF_ALL = { 'x-request-id': header('RequestId') }
const OF_RATE = {
  'ratelimit-limit': header('RateLimit'),
  'ratelimit-remaining': header('RateLimitRemaining'),
  'ratelimit-reset': header('RateLimitReset'),
}
const RETRY_AFTER = { 'retry-after': header('RetryAfter') }

export const HEADERS: JsonObject = {
  RequestId: {
    description: 'Id of the request in the log of the service.',
    schema: { type: 'string', format: 'uuid' },
  },
  RateLimit: { description: 'Requests that an account may make per second.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests that are left.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until the full rate is available.', schema: { type: 'integer' } },
  RetryAfter: { description: 'Seconds after which to repeat the request.', schema: { type: 'integer' } },
  Challenge: { description: 'Scheme of the credential.', schema: { type: 'string' } },
  Location: { description: 'Address that the link leads to.', schema: { type: 'string', format: 'uri' } },
}

interface ErrorReply {
  status: number
  name: string
  description: string
  headers?: JsonObject
  appliesTo(route: Route): boolean
}

const isAuthenticated = ({ access, path }: Route) => access !== 'public' || path === '/metrics'
const isSignIn = ({ path }: Route) => path === '/auth/login'
const hasBody = ({ body, bodyType }: Route) => body !== undefined || bodyType !== undefined
const names = (...found: string[]) => found.map(name => `\`${name}\``).join(' or ')

const ERRORS: readonly ErrorReply[] = [
  {
    status: 400,
    name: 'BadRequest',
    description: `The request cannot be read, or an \`Idempotency-Key\` is not valid (${names('validation_error', 'invalid_idempotency_key')}).`,
    appliesTo: route => hasBody(route) || route.access === 'public',
  },
  {
    status: 401,
    name: 'Unauthorized',
    description: `The credential is missing, unknown, or of a kind that the operation does not accept (${names('missing_api_key', 'invalid_api_key', 'restricted_api_key')}).`,
    headers: { 'www-authenticate': header('Challenge') },
    appliesTo: route => isAuthenticated(route) || isSignIn(route),
  },
  {
    status: 403,
    name: 'Forbidden',
    description: `The sender domain is not verified, the key is restricted to another domain, or a browser made the request from another origin (${names('validation_error', 'invalid_access', 'security_error')}).`,
    appliesTo: route => route.access !== 'public' && (route.method !== 'GET' || route.access === 'key'),
  },
  {
    status: 404,
    name: 'NotFound',
    description: 'Nothing has this id, or it belongs to another account (`not_found`).',
    appliesTo: ({ path, body }) => path.includes(':') || body !== undefined,
  },
  {
    status: 409,
    name: 'Conflict',
    description: `The \`Idempotency-Key\` was used with another body, or the first request is still in progress (${names('invalid_idempotent_request', 'concurrent_idempotent_requests')}).`,
    appliesTo: ({ headers }) => headers !== undefined && 'idempotency-key' in headers,
  },
  {
    status: 413,
    name: 'ContentTooLarge',
    description: 'The body is too large (`validation_error`).',
    appliesTo: hasBody,
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    description: 'The body has another content type, or is compressed (`validation_error`).',
    appliesTo: hasBody,
  },
  {
    status: 422,
    name: 'Unprocessable',
    description:
      'A field or parameter is missing or not valid; `errors` lists each (`validation_error` and others).',
    appliesTo: route =>
      hasBody(route) || Object.keys(route.query ?? {}).length > 0 || route.method === 'POST',
  },
  {
    status: 429,
    name: 'TooManyRequests',
    description: `The account has used up its rate or its quota (${names('rate_limit_exceeded', 'daily_quota_exceeded', 'monthly_quota_exceeded')}).`,
    headers: { ...OF_RATE, ...RETRY_AFTER },
    appliesTo: route => route.access !== 'public' || isSignIn(route),
  },
]
const OTHER: Omit<ErrorReply, 'status' | 'appliesTo'> = {
  name: 'Error',
  description: 'Refused, or failed by an error of the service. 503 has `retry-after`.',
  headers: RETRY_AFTER,
}

export function errorComponents(errorSchema: JsonObject): JsonObject {
  const content = { 'application/json': { schema: errorSchema } }
  return Object.fromEntries(
    [...ERRORS, OTHER].map(({ name, description, headers }) => [
      name,
      { description, headers: { ...OF_ALL, ...headers }, content },
    ]),
  )
}

/** Descriptions of successful replies by status. */
const DONE: Readonly<Record<string, string>> = { 200: 'Done', 201: 'Created', 302: 'Redirect' }

/** @param example example of a successful JSON reply */
export function repliesOf(
  route: Route,
  schemas: Schemas,
  operationId: string,
  example?: unknown,
): JsonObject {
  const headers = {
    ...OF_ALL,
    ...(route.access !== 'public' && OF_RATE),
  }
  const done = Object.entries(route.replies).map(([status, reply], i) => [
    status,
    {
      description: DONE[status] ?? 'Done',
      headers: { ...headers, ...(status.startsWith('3') && { location: header('Location') }) },
      content: contentOf(reply, schemas, operationId, i === 0 ? example : undefined),
    },
  ])
  const errors = ERRORS.filter(({ appliesTo }) => appliesTo(route)).map(({ status, name }) => [
    String(status),
    { $ref: `#/components/responses/${name}` },
  ])
  return Object.fromEntries([...done, ...errors, ['default', { $ref: '#/components/responses/Error' }]])
}

function contentOf(
  reply: z.ZodType | string,
  schemas: Schemas,
  operationId: string,
  example: unknown,
): JsonObject {
  const shownExample = example === undefined ? {} : { example }
  if (reply instanceof z.ZodType)
    return { 'application/json': { schema: schemas.ofReply(reply, operationId), ...shownExample } }
  const isText = /^(?:text\/|message\/)/.test(reply)
  return { [reply]: { schema: { type: 'string', ...(!isText && { format: 'binary' }) }, ...shownExample } }
}
