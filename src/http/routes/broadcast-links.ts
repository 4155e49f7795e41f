/** The links of a broadcast with their counts. */
import { z } from 'zod'
import { parseWireId } from '../../lib/ids.ts'
import { listBroadcastLinks } from '../../store/mail/broadcast-links.ts'
import { findBroadcast } from '../../store/mail/broadcasts.ts'
import type { Db } from '../../store/schema.ts'
import { notFound } from '../refused.ts'
import { listReply, type Route } from '../route.ts'
import { pageQuery, readPage } from '../wire/read.ts'
import { listSchema } from '../wire/reply-schemas.ts'

export const linkSchema = z.object({
  number: z.int().meta({ description: 'Which of the links of the page, from 0.' }),
  url: z.string().meta({ description: 'Where it led the first who followed it.' }),
  clicks: z.int(),
  unique_clicks: z.int().meta({ description: 'Recipients who followed it.' }),
  machine_clicks: z.int().meta({ description: 'By filters, previews and programs; not among the others.' }),
})

export function broadcastLinkRoutes({ db }: { db: Db }): Route[] {
  return [
    {
      method: 'GET',
      path: '/broadcasts/:id/links',
      access: 'session',
      summary: 'The links of a broadcast that have been followed, and how often',
      query: pageQuery(),
      replies: { 200: listSchema(linkSchema) },
      async handle({ params, query, credential: { accountId } }) {
        const page = readPage(query)
        const broadcastId = parseWireId('brd', params.id!)
        if (!broadcastId || !(await findBroadcast(db, accountId, broadcastId))) throw notFound('Broadcast')
        const { total, rows } = await listBroadcastLinks(db, { accountId, broadcastId }, page)
        const links = rows.map(({ link, url, clickCount, uniqueCount, machineCount }) => ({
          ...{ number: link, url, clicks: clickCount },
          ...{ unique_clicks: uniqueCount, machine_clicks: machineCount },
        }))
        return listReply({ total, offset: page.offset }, links)
      },
    },
  ]
}
