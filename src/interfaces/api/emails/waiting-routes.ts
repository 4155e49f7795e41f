/** Retries and gives up recipients of an email that wait, for its account. */
import * as z from 'zod'
import type { QueueAdmin } from '../../../pipeline/queue/queue-admin.ts'
import { orNotFound } from '../api-error.ts'
import type { Route } from '../route/route.ts'
import { bodyReader } from '../schema/read.ts'
import { findOwnEmail, replyWithEmail, type ShownEmailParts } from './own-email.ts'
import { emailSchema } from './schema.ts'

interface WaitingEmailRoutesOptions extends ShownEmailParts {
  queueAdmin: Pick<QueueAdmin, 'retry' | 'cancel'>
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
  const { store, queueAdmin } = options
  return {
    method: 'POST',
    access: 'key',
    body: bodySchema,
    replies: { 200: emailSchema },
    async handle(request) {
      const email = await findOwnEmail(options, request, [])
      const { accountId, id: emailId } = email
      const { recipient: address = null } = readBody(await request.body())
      if (address !== null) {
        const rows = store.db.selectFrom('deliveries').select('ordinal').where('emailId', '=', emailId)
        orNotFound(await rows.where('address', '=', address).executeTakeFirst(), 'Recipient')
      }
      const selector = { domain: null, accountId, broadcastId: null, emailId }
      await queueAdmin[what](selector, { address, by: 'account' })
      return replyWithEmail(options, email)
    },
  } satisfies Partial<Route>
}
