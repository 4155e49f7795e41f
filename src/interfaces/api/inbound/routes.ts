/** Lists, searches, serves and deletes received mail. */
import type * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { answeredEmail, referredEmails } from '../../../pipeline/inbound/answered-email.ts'
import { contentOf } from '../../../pipeline/inbound/find-inbound.ts'
import { inboundRowView, LISTED_COLUMNS, type ListedInbound } from '../../../pipeline/inbound/view.ts'
import { listInbound } from '../../../resources/emails/inbound-list.ts'
import type { inboundRetentionCommands } from '../../../resources/retention/inbound-commands.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import type { LinkTo } from '../downloads/link.ts'
import { ok, pageReply, type Route } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { findOwnInbound, type InboundSightParts, sightOf } from './own-inbound.ts'
import { inboundQuery, inboundRowSchema, inboundSchema, inboundView, readInboundQuery } from './schema.ts'

export interface InboundRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find; run: Run<typeof inboundRetentionCommands>; blobs: BlobFiles }
  linkTo: LinkTo
}

/** Limit of concurrent searches, because each of them reads every message. */
const SEARCHES_AT_ONCE = 2
const SEARCHES_WAITING = 50

/** Form of received mail at one family of paths. */
interface InboundForm {
  path: string
  summary: string
  schema: z.ZodType
  view(row: ListedInbound): object
  /** Default page size. */
  rows: number
}

/** Lists and searches the received mail that a credential may see. */
export function inboundListRoute(
  { horizonOf, store }: Pick<InboundRoutesOptions, 'horizonOf' | 'store'>,
  { path, summary, schema, view, rows }: InboundForm,
): Route {
  const searches = createSemaphore(SEARCHES_AT_ONCE, SEARCHES_WAITING)
  return {
    method: 'GET',
    path,
    access: 'key',
    summary,
    query: inboundQuery(rows),
    replies: { 200: listSchema(schema) },
    async handle({ query, credential }) {
      const { search, page } = readInboundQuery(query, rows)
      const { domain, ...sight } = await sightOf(credential, horizonOf)
      const list = () => listInbound(store, sight, { search, domain }, page, LISTED_COLUMNS)
      return pageReply(await (search === '' && domain === null ? list() : searches.run(list)), view)
    },
  }
}

export function inboundRoutes(options: InboundRoutesOptions): Route[] {
  const { store, linkTo } = options
  return [
    inboundListRoute(options, {
      path: '/inbound',
      summary: 'List and search received mail',
      schema: inboundRowSchema,
      view: inboundRowView,
      rows: 50,
    }),
    {
      method: 'GET',
      path: '/inbound/:id',
      access: 'key',
      summary: 'Retrieve a received message and its verdicts',
      replies: { 200: inboundSchema },
      async handle(request) {
        const row = await findOwnInbound(options, request)
        const raw = linkTo({
          kind: 'inbound-message',
          accountId: row.accountId,
          ownerId: row.id,
          fileId: row.id,
        })
        const content = await contentOf(store.find, row)
        const answered = await answeredEmail(store.find, row.accountId, referredEmails(content.headers))
        return ok(inboundView(row, content, { raw, answered }))
      },
    },
    {
      method: 'DELETE',
      path: '/inbound/:id',
      access: 'key',
      summary: 'Delete a received message and its attachments',
      replies: { 200: deletedSchema('inbound_email', 'inb') },
      async handle(request) {
        const { accountId, id } = await findOwnInbound(options, request)
        const { unusedFiles } = await store.run('deleteInbound', { accountId, id })
        for (const name of unusedFiles) await store.blobs.discard(store.db, name)
        return ok({ object: 'inbound_email', id: wireId('inb', id), deleted: true })
      },
    },
  ]
}
