/** Reads the body of a batch: an array of emails with the shape of a single send. */
import * as z from 'zod'
import type { BatchSubmission } from '../../../pipeline/accept/batch.ts'
import type { BatchMode } from '../../../pipeline/accept/prepared.ts'
import { atIndex, type FieldProblem } from '../../../pipeline/accept/refusal.ts'
import type { Submission } from '../../../pipeline/accept/submission.ts'
import { ApiError } from '../api-error.ts'
import { readSendEmail, sendEmailSchema } from './send-schema.ts'

const EMAILS_MAX = 100
/** Schema of the body for the OpenAPI document. Each email is validated separately. */
export const batchSchema = z.array(sendEmailSchema).min(1).max(EMAILS_MAX)
/** Maximum number of errors in the reply, for all emails together. */
const PROBLEMS_MAX = 100

/**
 * @throws ApiError for anything but an array of 1 to 100 emails, and in a strict batch for invalid emails,
 * all of which it names
 */
export function readBatch(body: unknown, mode: BatchMode): BatchSubmission {
  if (!Array.isArray(body))
    throw new ApiError(
      400,
      'validation_error',
      'The request body must be a JSON array of emails; got an object.',
    )
  if (body.length === 0 || body.length > EMAILS_MAX)
    throw new ApiError(
      422,
      'validation_error',
      `A batch must contain 1 to ${EMAILS_MAX} emails; got ${body.length}.`,
    )
  const emails: BatchSubmission['emails'] = []
  const bad: { index: number; refused: ApiError }[] = []
  for (const [index, email] of body.entries()) {
    const read = readEmail(email)
    if (read instanceof ApiError) bad.push({ index, refused: read })
    else emails.push({ index, submission: read })
  }
  if (mode === 'strict' && bad.length > 0) throw together(bad)
  return { mode, emails, leftOut: bad.map(({ index, refused }) => ({ index, message: refused.message })) }
}

function readEmail(email: unknown): Submission | ApiError {
  if (typeof email !== 'object' || email === null || Array.isArray(email))
    return new ApiError(422, 'validation_error', 'Each email of a batch must be a JSON object.')
  try {
    return readSendEmail(email)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Name and message are those of the first error. */
function together(bad: readonly { index: number; refused: ApiError }[]): ApiError {
  const { index: first, refused } = bad[0]!
  const problems = bad.flatMap(({ index, refused: { errors, message } }) =>
    (errors ?? [{ path: '', message }]).map((problem: FieldProblem) => atIndex(index, problem)),
  )
  return new ApiError(refused.status, refused.errorName, `[${first}]: ${refused.message}`, {
    errors: problems.slice(0, PROBLEMS_MAX),
  })
}
