/** Reschedules and cancels scheduled emails. */
import * as z from 'zod'
import type { Id } from '../../../lib/ids.ts'
import { isRefusal, type Refusal } from '../../../pipeline/accept/refusal.ts'
import type { scheduledCommands } from '../../../pipeline/accept/scheduled.ts'
import { explainParts } from '../../../pipeline/queue/explained.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import { findEmailParts } from '../../../resources/emails/email-rows.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find, ReadTogether } from '../../../store/reading/read.ts'
import { apiErrorOf, orNotFound } from '../api-error.ts'
import { type ApiReply, type ApiRequest, ok, type Route } from '../route/route.ts'
import { bodyReader, readTime } from '../schema/read.ts'
import { findOwnEmail, type OwnEmailParts } from './own-email.ts'
import { emailSchema, emailView } from './schema.ts'

interface ScheduledEmailRoutesOptions {
  horizonOf: OwnEmailParts['horizonOf']
  store: { db: Db; find: Find; readTogether: ReadTogether; run: Run<typeof scheduledCommands> }
  pathsTo: PathsTo
  now(): number
}

const rescheduleSchema = z.object({
  scheduled_at: z.unknown().meta({ type: 'string', format: 'date-time' }),
})
const readReschedule = bodyReader(rescheduleSchema)

export function scheduledEmailRoutes(options: ScheduledEmailRoutesOptions): Route[] {
  const { store, now, pathsTo } = options
  const { run } = store

  /** Runs a change of an email and returns the changed email. */
  const change = async (
    request: ApiRequest,
    command: (email: { accountId: Id; id: Id; now: number }) => Promise<true | Refusal | undefined>,
  ): Promise<ApiReply> => {
    const { accountId, id, horizon } = await findOwnEmail(options, request, [])
    const changed = await command({ accountId, id, now: now() })
    if (isRefusal(changed)) throw apiErrorOf(changed)
    const found = changed && (await findEmailParts(store, accountId, id, horizon))
    const parts = orNotFound(found, 'Email')
    return ok(emailView(parts, await explainParts({ db: store.db, pathsTo, now: now() }, parts)))
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
