/** Serves the links of a broadcast with their click counts. */
import * as z from 'zod'
import {
  listBroadcastLinks,
  personalLinks,
  rangeBroadcastLinks,
} from '../../../pipeline/broadcasts/broadcast-links.ts'
import { findBroadcast, type StoredBroadcast } from '../../../pipeline/broadcasts/broadcast-rows.ts'
import { END_OF_NUMBERS } from '../../../pipeline/tracking/link-numbers.ts'
import type { BroadcastLinkRow, Db } from '../../../store/model/schema.ts'
import { orNotFound } from '../api-error.ts'
import { listReply, ok, pathId, type Route } from '../route/route.ts'
import { pageQuery, readNumber, readPage } from '../schema/read.ts'
import { listSchema } from '../schema/reply-schemas.ts'

export const linkSchema = z.object({
  number: z.int().meta({
    description:
      'Position of the link in the content, from 0. Links in values of recipients have much higher numbers.',
  }),
  url: z.string().meta({ description: 'URL; contains placeholders if it differs between recipients.' }),
  clicks: z.int(),
  unique_clicks: z.int().meta({ description: 'Number of recipients who clicked the link.' }),
  machine_clicks: z
    .int()
    .meta({ description: 'Clicks by link scanners, previews and bots, which the other counts exclude.' }),
})

const clickedSchema = linkSchema
  .pick({ url: true, clicks: true, unique_clicks: true })
  .extend({ id: z.string().meta({ description: 'Cursor for `after` and `before`.' }) })

const cursor = z.int().min(0).max(END_OF_NUMBERS).optional()

function readCursor(query: URLSearchParams, name: string): number | undefined {
  if (!query.has(name)) return undefined
  return readNumber(query, name, { fallback: 0, min: 0, max: END_OF_NUMBERS })
}

export function broadcastLinkRoutes({ db }: { db: Db }): Route[] {
  return [
    {
      method: 'GET',
      path: '/broadcasts/:id/links',
      access: 'session',
      summary: 'List the clicked links of a broadcast with their clicks',
      query: pageQuery(),
      replies: { 200: listSchema(linkSchema) },
      async handle(request) {
        const { accountId } = request.credential
        const page = readPage(request.query)
        const id = pathId(request, 'brd')
        const broadcast = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
        const { total, rows } = await listBroadcastLinks(db, { accountId, broadcastId: id }, page)
        const links = asWritten(rows, broadcast).map(
          ({ link, url, clickCount, uniqueCount, machineCount }) => ({
            ...{ number: link, url, clicks: clickCount },
            ...{ unique_clicks: uniqueCount, machine_clicks: machineCount },
          }),
        )
        return listReply({ total, offset: page.offset }, links)
      },
    },
    {
      method: 'GET',
      path: '/broadcasts/:id/clicked-links',
      access: 'session',
      summary: 'List the clicked links of a broadcast (alias of newer SDKs)',
      query: { limit: pageQuery().limit!, after: cursor, before: cursor },
      replies: { 200: listSchema(clickedSchema) },
      async handle(request) {
        const { accountId } = request.credential
        const [after, before] = [readCursor(request.query, 'after'), readCursor(request.query, 'before')]
        const range = { limit: readPage(request.query).limit, after, before }
        const id = pathId(request, 'brd')
        const broadcast = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
        const { total, hasMore, rows } = await rangeBroadcastLinks(db, { accountId, broadcastId: id }, range)
        const data = asWritten(rows, broadcast).map(({ link, url, clickCount, uniqueCount }) => ({
          ...{ id: String(link), url, clicks: clickCount, unique_clicks: uniqueCount },
        }))
        return ok({ object: 'list', total, has_more: hasMore, data })
      },
    },
  ]
}

/**
 * A URL that differs between recipients is shown with its placeholders, because it may contain data of one
 * recipient.
 */
function asWritten(rows: readonly BroadcastLinkRow[], { html }: StoredBroadcast): BroadcastLinkRow[] {
  const written = personalLinks(html ?? '')
  return rows.map(row => ({ ...row, url: written.get(row.link) ?? row.url }))
}
