/**
 * Defines the error of the HTTP API. Every reply that is not 2xx has this shape, with a name from the closed
 * list that the SDKs know. Routes throw `ApiError`; `server/app.ts` turns it into a reply.
 */

import * as z from 'zod'
import { shortened } from '../../lib/shortened.ts'
import { type FieldProblem, REFUSALS, type Refusal } from '../../pipeline/accept/refusal.ts'
import { CLOSED_RETRY_SECONDS } from '../../pipeline/queue/service-mode.ts'

export const ERROR_NAMES = [
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
] as const

type ErrorName = (typeof ERROR_NAMES)[number]

const questionSchema = z.object({
  column: z.string().meta({ description: 'Column of a contact file that may say who has left.' }),
  values: z
    .array(z.object({ value: z.string(), row: z.int(), email: z.string().nullable() }))
    .meta({ description: 'Its first different values, at most 12, with the first row of each.' }),
})

export const errorSchema = z
  .object({
    statusCode: z.int().meta({ description: 'HTTP status code.' }),
    name: z.enum(ERROR_NAMES),
    message: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional(),
    questions: z.array(questionSchema).exactOptional(),
  })
  .meta({ id: 'Error', description: 'Body of every reply that is not 2xx; `errors` lists invalid fields.' })

interface ApiErrorOptions {
  errors?: readonly FieldProblem[] | undefined
  headers?: Readonly<Record<string, string>>
  /** Questions that the client answers in another request. */
  questions?: readonly ErrorQuestion[] | undefined
}

type ErrorQuestion = z.output<typeof questionSchema>

/** Messages can quote values of the client. These limits keep error replies small. */
const MESSAGE_LENGTH_MAX = 64 * 1024
const FIELD_PROBLEM_LENGTH_MAX = 1_000

/** Error of the HTTP API. A route throws it, and the server turns it into a reply. */
export class ApiError extends Error {
  readonly status: number
  readonly errorName: ErrorName
  readonly errors: readonly FieldProblem[] | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly questions: readonly ErrorQuestion[] | undefined

  constructor(
    status: number,
    errorName: ErrorName,
    message: string,
    { errors, headers, questions }: ApiErrorOptions = {},
  ) {
    super(shortened(message, MESSAGE_LENGTH_MAX))
    this.status = status
    this.errorName = errorName
    this.errors = errors?.map(problem => ({
      path: shortened(problem.path, FIELD_PROBLEM_LENGTH_MAX),
      message: shortened(problem.message, FIELD_PROBLEM_LENGTH_MAX),
    }))
    this.headers = headers ?? {}
    this.questions = questions
  }

  body() {
    const { status, errorName, message, errors, questions } = this
    return {
      ...{ statusCode: status, name: errorName, message },
      ...(errors && { errors }),
      ...(questions && { questions }),
    }
  }
}

/** Converts a refusal of the accept pipeline into an error of the API. */
export function apiErrorOf({ refused, message, errors }: Refusal): ApiError {
  const { http, name } = REFUSALS[refused]
  const headers = { ...(refused === 'service_closed' && { 'retry-after': String(CLOSED_RETRY_SECONDS) }) }
  return new ApiError(http, name, message, { errors, headers })
}

export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} not found`)
}

/**
 * Returns the resource, or the success of a command.
 *
 * @param noun name of the resource in the error
 * @throws ApiError 404 if there is no such resource
 */
export function orNotFound<T>(resource: T | undefined | null | false, noun: string): T {
  if (!resource) throw notFound(noun)
  return resource
}

/** Returns the fallback instead of a 404. Other errors are thrown. */
export async function unlessMissing<T>(work: Promise<T>, fallback: T): Promise<T> {
  return work.catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return fallback
    throw error
  })
}

export function invalidField(path: string, message: string, name: ErrorName = 'validation_error'): ApiError {
  return new ApiError(422, name, message, { errors: [{ path, message }] })
}

/**
 * The error for a field that names nothing that the account has.
 * @param noun name of the resource in the error
 */
export function fieldNotFound(path: string, noun: string): ApiError {
  const message = `${noun} not found (\`${path}\`).`
  return new ApiError(404, 'not_found', message, { errors: [{ path, message }] })
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError(
    413,
    'validation_error',
    `The request body must not be larger than ${limitBytes} bytes.`,
  )
}

/** The header says which codings are accepted instead (RFC 9110 §15.5.16). */
export function compressedBody(): ApiError {
  return new ApiError(415, 'validation_error', 'Compressed request bodies are not supported.', {
    headers: { 'accept-encoding': 'identity' },
  })
}
