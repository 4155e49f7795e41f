/** Serves `POST /emails/batch`. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { Accept } from '../../../pipeline/accept/accept.ts'
import type { BatchMode } from '../../../pipeline/accept/prepared.ts'
import { isRefusal } from '../../../pipeline/accept/refusal.ts'
import { ApiError, apiErrorOf } from '../api-error.ts'
import { type ApiRequest, ok, type Route } from '../route/route.ts'
import { warningsSchema, withWarnings } from '../route/warnings.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { idSchema } from '../schema/reply-schemas.ts'
import { batchSchema } from './batch-schema.ts'
import { idempotencyHeader, readIdempotent, senderOf } from './idempotency-header.ts'
import { warningsOfSend } from './send-warnings.ts'
import { SEND_BODY_LIMIT_BYTES } from './send-work.ts'

/** `errors` lists the emails that a permissive batch skipped. */
const batchAnswerSchema = z.object({
  data: z.array(z.object({ id: idSchema('eml') })),
  errors: z.array(z.object({ index: z.int(), message: z.string() })).exactOptional(),
  warnings: warningsSchema,
})

export function batchRoutes({ accept }: { accept: Accept }): Route[] {
  return [
    {
      method: 'POST',
      path: '/emails/batch',
      access: 'key',
      scopes: ['emails:send'],
      bodyLimitBytes: SEND_BODY_LIMIT_BYTES,
      summary: 'Send up to 100 emails',
      body: batchSchema,
      headers: { ...idempotencyHeader, 'x-batch-validation': z.enum(['strict', 'permissive']).optional() },
      replies: { 200: batchAnswerSchema },
      async handle(request) {
        const mode = modeOf(request)
        const { prepared, idempotency } = await readIdempotent(request, '/emails/batch', mode)
        const warnings = warningsOfSend(prepared)
        const accepted = await accept.send(senderOf(request), prepared, idempotency)
        if (isRefusal(accepted)) throw apiErrorOf(accepted)
        const { ids, leftOut } = accepted
        const body = {
          data: ids.map(id => ({ id: wireId('eml', id) })),
          ...((mode === 'permissive' || leftOut.length > 0) && { errors: leftOut }),
        }
        return ok(withWarnings(body, warnings))
      },
    },
  ]
}

/** @throws ApiError 422 */
function modeOf({ headers }: ApiRequest): BatchMode {
  const mode = String(headers['x-batch-validation'] ?? 'strict').toLowerCase()
  if (mode === 'strict' || mode === 'permissive') return mode
  throw new ApiError(
    422,
    'validation_error',
    `The \`x-batch-validation\` header must be \`strict\` or \`permissive\`; got ${shownValue(mode)}.`,
  )
}
