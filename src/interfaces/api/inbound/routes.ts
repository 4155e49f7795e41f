/** Lists, searches and serves received mail. */
import type * as z from 'zod'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { answeredEmail, referredEmails } from '../../../pipeline/inbound/answered-email.ts'
import { contentOf } from '../../../pipeline/inbound/find-inbound.ts'
import { LISTED_COLUMNS } from '../../../pipeline/inbound/view.ts'
import { isUnfiltered, listInbound, marksOf } from '../../../resources/emails/inbound-list.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import type { LinkTo } from '../downloads/link.ts'
import { ok, pageReply, type Route } from '../route/route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import { findOwnInbound, type InboundSightParts, sightOf } from './own-inbound.ts'
import {
  inboundQuery,
  inboundRowSchema,
  inboundSchema,
  inboundView,
  listedView,
  type MarkedInbound,
  readInboundQuery,
} from './schema.ts'

export interface InboundRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find; blobs: BlobFiles }
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
  view(row: MarkedInbound): object
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
      const { page, ...wanted } = readInboundQuery(query, rows)
      const { domain, ...sight } = await sightOf(credential, horizonOf)
      const filter = { ...wanted, domain }
      const list = () => listInbound(store, sight, filter, page, LISTED_COLUMNS)
      return pageReply(await (isUnfiltered(filter) ? list() : searches.run(list)), view)
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
      view: listedView,
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
        const [marks] = await marksOf(store, row.accountId, [row.id])
        const answered = await answeredEmail(store.find, row.accountId, referredEmails(content.headers))
        return ok(inboundView({ ...row, ...marks! }, content, { raw, answered }))
      },
    },
  ]
}
