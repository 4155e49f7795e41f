/** The links of a broadcast with their counts. */
import * as z from 'zod'
import { parseWireId } from '../../lib/ids.ts'
import { listBroadcastLinks, rangeBroadcastLinks } from '../../store/mail/broadcast-links.ts'
import { findBroadcast } from '../../store/mail/broadcasts.ts'
import type { Db } from '../../store/schema.ts'
import { notFound } from '../refused.ts'
import { listReply, ok, type Route } from '../route.ts'
import { pageQuery, readNumber, readPage } from '../wire/read.ts'
import { listSchema } from '../wire/reply-schemas.ts'

export const linkSchema = z.object({
  number: z.int().meta({ description: 'Which of the links of the page, from 0.' }),
  url: z.string().meta({ description: 'Where it led the first who followed it.' }),
  clicks: z.int(),
  unique_clicks: z.int().meta({ description: 'Recipients who followed it.' }),
  machine_clicks: z.int().meta({ description: 'By filters, previews and programs; not among the others.' }),
})

const clickedSchema = linkSchema
  .pick({ url: true, clicks: true, unique_clicks: true })
  .extend({ id: z.string().meta({ description: 'For `after` and `before`.' }) })

/** An email has no more. */
const MOST_LINKS = 100_000
const cursor = z.int().min(0).max(MOST_LINKS).optional()

function readCursor(query: URLSearchParams, name: string): number | undefined {
  if (!query.has(name)) return undefined
  return readNumber(query, name, { fallback: 0, least: 0, most: MOST_LINKS })
}

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
    {
      method: 'GET',
      path: '/broadcasts/:id/clicked-links',
      access: 'session',
      summary: 'The same, as newer SDKs ask for it',
      query: { limit: pageQuery().limit!, after: cursor, before: cursor },
      replies: { 200: listSchema(clickedSchema) },
      async handle({ params, query, credential: { accountId } }) {
        const [after, before] = [readCursor(query, 'after'), readCursor(query, 'before')]
        const range = { limit: readPage(query).limit, after, before }
        const broadcastId = parseWireId('brd', params.id!)
        if (!broadcastId || !(await findBroadcast(db, accountId, broadcastId))) throw notFound('Broadcast')
        const { total, hasMore, rows } = await rangeBroadcastLinks(db, { accountId, broadcastId }, range)
        const data = rows.map(({ link, url, clickCount, uniqueCount }) => ({
          ...{ id: String(link), url, clicks: clickCount, unique_clicks: uniqueCount },
        }))
        return ok({ object: 'list', total, has_more: hasMore, data })
      },
    },
  ]
}
