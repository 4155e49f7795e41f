/** Reschedules and cancels scheduled emails. */
import * as z from 'zod'
import type { Id } from '../../../lib/ids.ts'
import { isRefusal, type Refusal } from '../../../pipeline/accept/refusal.ts'
import type { scheduledCommands } from '../../../pipeline/accept/scheduled.ts'
import type { Run } from '../../../store/model/command.ts'
import { apiErrorOf, orNotFound } from '../api-error.ts'
import type { ApiReply, ApiRequest, Route } from '../route/route.ts'
import { bodyReader, readTime } from '../schema/read.ts'
import { findOwnEmail, replyWithEmail, type ShownEmailParts } from './own-email.ts'
import { emailSchema } from './schema.ts'

interface ScheduledEmailRoutesOptions extends ShownEmailParts {
  store: ShownEmailParts['store'] & { run: Run<typeof scheduledCommands> }
}

const rescheduleSchema = z.object({
  scheduled_at: z.unknown().meta({ type: 'string', format: 'date-time' }),
})
const readReschedule = bodyReader(rescheduleSchema)

export function scheduledEmailRoutes(options: ScheduledEmailRoutesOptions): Route[] {
  const { now } = options
  const { run } = options.store

  /** Runs a change of an email and returns the changed email. */
  const change = async (
    request: ApiRequest,
    command: (email: { accountId: Id; id: Id; now: number }) => Promise<true | Refusal | undefined>,
  ): Promise<ApiReply> => {
    const email = await findOwnEmail(options, request, [])
    const changed = await command({ accountId: email.accountId, id: email.id, now: now() })
    if (isRefusal(changed)) throw apiErrorOf(changed)
    orNotFound(changed, 'Email')
    return replyWithEmail(options, email)
  }

  return [
    {
      method: 'PATCH',
      path: '/emails/:id',
      access: 'key',
      summary: 'Reschedule a scheduled email',
      body: rescheduleSchema,
      replies: { 200: emailSchema },
      async handle(request) {
        return change(request, async email => {
          const body = readReschedule(await request.body())
          const scheduledAt = readTime('scheduled_at', body.scheduledAt)
          return run('rescheduleEmail', { ...email, scheduledAt })
        })
      },
    },
    {
      method: 'POST',
      path: '/emails/:id/cancel',
      access: 'key',
      summary: 'Cancel a scheduled email',
      replies: { 200: emailSchema },
      async handle(request) {
        return change(request, async email => {
          await request.body()
          return run('cancelEmail', email)
        })
      },
    },
  ]
}
