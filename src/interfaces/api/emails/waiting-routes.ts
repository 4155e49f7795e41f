/** Retries and gives up recipients of an email that wait, for its account. */
import * as z from 'zod'
import { explainParts } from '../../../pipeline/queue/explained.ts'
import type { PathsTo } from '../../../pipeline/queue/paths.ts'
import type { QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { findEmailParts } from '../../../resources/emails/email-rows.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find, ReadTogether } from '../../../store/reading/read.ts'
import { orNotFound } from '../api-error.ts'
import { ok, type Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { findOwnEmail, type OwnEmailParts } from './own-email.ts'
import { emailSchema, emailView } from './schema.ts'

interface WaitingEmailRoutesOptions {
  horizonOf: OwnEmailParts['horizonOf']
  store: { db: Db; find: Find; readTogether: ReadTogether }
  queueAdmin: Pick<QueueAdmin, 'retry' | 'cancel'>
  pathsTo: PathsTo
  now(): number
}

const bodySchema = z.object({
  recipient: z.string().optional().meta({ description: 'Address of one recipient; by default all.' }),
})
const readBody = bodyReader(bodySchema)

export function waitingEmailRoutes(options: WaitingEmailRoutesOptions): Route[] {
  return [
    {
      ...waitingRoute(options, 'retry'),
      path: '/emails/:id/retry',
      summary: 'Try deferred recipients of an email now; holds and paused destinations still apply',
    },
    {
      ...waitingRoute(options, 'cancel'),
      path: '/emails/:id/give-up',
      summary: 'Give up recipients of an email that wait or are held',
    },
  ]
}

function waitingRoute(options: WaitingEmailRoutesOptions, what: 'retry' | 'cancel') {
  const { store, queueAdmin, pathsTo, now } = options
  return {
    method: 'POST',
    access: 'key',
    body: bodySchema,
    replies: { 200: emailSchema },
    async handle(request) {
      const { accountId, id: emailId, horizon } = await findOwnEmail(options, request, [])
      const { recipient: address = null } = readBody(await request.body())
      if (address !== null) {
        const rows = store.db.selectFrom('deliveries').select('ordinal').where('emailId', '=', emailId)
        orNotFound(await rows.where('address', '=', address).executeTakeFirst(), 'Recipient')
      }
      const selector = { domain: null, accountId, broadcastId: null, emailId }
      await queueAdmin[what](selector, { address, by: 'account' })
      const parts = orNotFound(await findEmailParts(store, accountId, emailId, horizon), 'Email')
      return ok(emailView(parts, await explainParts({ db: store.db, pathsTo, now: now() }, parts)))
    },
  } satisfies Partial<Route>
}
