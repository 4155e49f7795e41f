/** Lists, searches, serves and deletes received mail. */

import { wireId } from '../../../lib/ids.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { answeredEmail, referredEmails } from '../../../pipeline/inbound/answered-email.ts'
import { contentOf } from '../../../pipeline/inbound/find-inbound.ts'
import { inboundRowView, LISTED_COLUMNS } from '../../../pipeline/inbound/view.ts'
import { type InboundFilter, listInbound } from '../../../resources/emails/inbound-list.ts'
import type { inboundRetentionCommands } from '../../../resources/retention/inbound-commands.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { ListPage } from '../../../store/reading/list-page.ts'
import type { Find } from '../../../store/reading/read.ts'
import type { LinkTo } from '../downloads/link.ts'
import { ok, pageReply, type Route } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import { createFindOwnInbound, type InboundSightParts, sightOf } from './own-inbound.ts'
import { inboundQuery, inboundRowSchema, inboundSchema, inboundView, readInboundQuery } from './schema.ts'

export interface InboundRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find; run: Run<typeof inboundRetentionCommands>; blobs: BlobFiles }
  linkTo: LinkTo
}

/** Limit of concurrent searches, because each of them reads every message. */
const SEARCHES_AT_ONCE = 2
const SEARCHES_WAITING = 50

/**
 * Loads a page of the received mail that a credential may see.
 *
 * @throws TooManyWaiting when too many searches are in progress
 */
export function createInboundPages({ horizonOf, store }: Pick<InboundRoutesOptions, 'horizonOf' | 'store'>) {
  const searches = createSemaphore(SEARCHES_AT_ONCE, SEARCHES_WAITING)
  return async (credential: Parameters<typeof sightOf>[0], search: string, page: ListPage) => {
    const { domain, ...sight } = await sightOf(credential, horizonOf)
    const filter: InboundFilter = { search, domain }
    const list = () => listInbound(store, sight, filter, page, LISTED_COLUMNS)
    return search === '' && domain === null ? list() : searches.run(list)
  }
}

export function inboundRoutes(options: InboundRoutesOptions): Route[] {
  const { horizonOf, store, linkTo } = options
  const findOwn = createFindOwnInbound({ find: store.find, horizonOf })
  const pageOf = createInboundPages(options)
  return [
    {
      method: 'GET',
      path: '/inbound',
      access: 'key',
      summary: 'List and search received mail',
      query: inboundQuery,
      replies: { 200: listSchema(inboundRowSchema) },
      async handle({ query, credential }) {
        const { search, page } = readInboundQuery(query)
        return pageReply(await pageOf(credential, search, page), inboundRowView)
      },
    },
    {
      method: 'GET',
      path: '/inbound/:id',
      access: 'key',
      summary: 'Retrieve a received message and its verdicts',
      replies: { 200: inboundSchema },
      async handle(request) {
        const row = await findOwn(request)
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
        const { accountId, id } = await findOwn(request)
        const { unusedFiles } = await store.run('deleteInbound', { accountId, id })
        for (const name of unusedFiles) await store.blobs.discard(store.db, name)
        return ok({ object: 'inbound_email', id: wireId('inb', id), deleted: true })
      },
    },
  ]
}
