/** Serves the results of a broadcast by mailbox provider. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { findBroadcast } from '../../../pipeline/broadcasts/broadcast-rows.ts'
import type { ProviderQuestion, ProviderResults } from '../../../pipeline/broadcasts/provider-results.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { Db } from '../../../store/model/schema.ts'
import { orNotFound } from '../api-error.ts'
import { ok, pathId, type Route } from '../route/route.ts'
import { idSchema } from '../schema/reply-schemas.ts'

const count = z.int().min(0)
const figuresSchema = z.object({
  sent: count.meta({ description: 'Emails handed to mail servers.' }),
  delivered: count,
  delayed: count,
  bounced: count,
  complained: count,
  opened: count.meta({ description: 'Recipients who opened the email.' }),
  clicked: count.meta({ description: 'Recipients who clicked a link.' }),
})

export const providersSchema = z
  .object({
    object: z.literal('broadcast_providers'),
    id: idSchema('brd'),
    providers: z.array(
      figuresSchema.extend({
        provider: z.string().meta({
          description:
            'Name of the provider, such as `google`, or the domain of the addresses if it is not known.',
        }),
      }),
    ),
    others: figuresSchema
      .nullable()
      .meta({ description: 'Sums of further providers; null if there are none.' }),
    complete: z
      .boolean()
      .meta({ description: 'False if counting took too long; the numbers are lower bounds.' }),
  })
  .meta({ id: 'BroadcastProviders' })

interface ProviderRoutesOptions {
  db: Db
  reader: { countByProvider(question: ProviderQuestion): Promise<ProviderResults> }
  horizonOf: Plans['horizonOf']
}

export function broadcastProviderRoutes({ db, reader, horizonOf }: ProviderRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/broadcasts/:id/providers',
      access: 'session',
      summary: 'Count the results of a broadcast by mailbox provider, those with the most emails first',
      replies: { 200: providersSchema },
      async handle(request) {
        const { accountId } = request.credential
        const id = pathId(request, 'brd')
        const { firstEmailId, lastEmailId } = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
        const { isComplete, ...results } = await reader.countByProvider({
          broadcast: { accountId, id, firstEmailId, lastEmailId },
          horizon: await horizonOf(accountId),
        })
        return ok({ object: 'broadcast_providers', id: wireId('brd', id), ...results, complete: isComplete })
      },
    },
  ]
}
