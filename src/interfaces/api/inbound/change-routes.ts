/** Marks received messages as read or unread and deletes them, one or several; counts the unread ones. */
import * as z from 'zod'
import { type Id, idKey, wireId } from '../../../lib/ids.ts'
import { inSightOf } from '../../../pipeline/inbound/find-inbound.ts'
import { marksOf } from '../../../resources/emails/inbound-list.ts'
import { countUnread, type inboundUnreadCommands } from '../../../resources/emails/inbound-unread.ts'
import type { inboundRetentionCommands } from '../../../resources/retention/inbound-commands.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { type Credential, ok, type Route } from '../route/route.ts'
import { deletedSchema } from '../schema/reply-schemas.ts'
import {
  inboundChangeSchema,
  inboundChangesSchema,
  inboundIdsSchema,
  readInboundChange,
  readInboundChanges,
  readInboundIds,
  removedInboundSchema,
  unreadCountSchema,
  updatedInboundSchema,
} from './change-schema.ts'
import { findOwnInbound, type InboundSightParts, sightOf } from './own-inbound.ts'
import { inboundRowSchema, listedView } from './schema.ts'

interface InboundChangeRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: {
    db: Db
    find: Find
    run: Run<typeof inboundRetentionCommands & typeof inboundUnreadCommands>
    blobs: BlobFiles
  }
}

/** These routes must precede `/inbound/:id`, which would match theirs. */
export function inboundChangeRoutes(options: InboundChangeRoutesOptions): Route[] {
  return [...unreadRoutes(options), ...deletionRoutes(options)]
}

function unreadRoutes(options: InboundChangeRoutesOptions): Route[] {
  const { horizonOf, store } = options
  return [
    {
      method: 'GET',
      path: '/inbound/unread-count',
      access: 'session',
      summary: 'Count unread received messages, up to 999',
      replies: { 200: unreadCountSchema },
      async handle({ credential: { accountId } }) {
        const sight = { accountId, horizon: await horizonOf(accountId) }
        const { count, hasMore } = await countUnread(store.db, sight)
        return ok({ object: 'unread_count', count, has_more: hasMore })
      },
    },
    {
      method: 'PATCH',
      path: '/inbound/:id',
      access: 'key',
      summary: 'Mark a received message as read or unread',
      body: inboundChangeSchema,
      replies: { 200: inboundRowSchema },
      async handle(request) {
        const row = await findOwnInbound(options, request)
        const { unread } = readInboundChange(await request.body())
        const { accountId, id } = row
        await store.run('setInboundUnread', { accountId, ids: [id], unread: unread ? 1 : 0 })
        const [marks] = await marksOf(store, accountId, [id])
        return ok(listedView({ ...row, ...marks! }))
      },
    },
    {
      method: 'POST',
      path: '/inbound/batch/update',
      access: 'key',
      summary: 'Mark up to 100 received messages as read or unread',
      body: inboundChangesSchema,
      replies: { 200: z.object({ data: z.array(updatedInboundSchema) }) },
      async handle({ credential, ...request }) {
        const { ids, unread } = readInboundChanges(await request.body())
        const { accountId } = credential
        const updated = await changeOwn(options, credential, ids, own =>
          store.run('setInboundUnread', { accountId, ids: own, unread: unread ? 1 : 0 }),
        )
        return ok({ data: updated.map(({ id, isChanged }) => ({ ...refTo(id), updated: isChanged })) })
      },
    },
  ]
}

function deletionRoutes(options: InboundChangeRoutesOptions): Route[] {
  return [
    {
      method: 'DELETE',
      path: '/inbound/:id',
      access: 'key',
      summary: 'Delete a received message and its attachments',
      replies: { 200: deletedSchema('inbound_email', 'inb') },
      async handle(request) {
        const { accountId, id } = await findOwnInbound(options, request)
        await remove(options, accountId, [id])
        return ok({ ...refTo(id), deleted: true })
      },
    },
    {
      method: 'POST',
      path: '/inbound/batch/remove',
      access: 'key',
      summary: 'Delete up to 100 received messages and their attachments',
      body: inboundIdsSchema,
      replies: { 200: z.object({ data: z.array(removedInboundSchema) }) },
      async handle({ credential, ...request }) {
        const ids = readInboundIds(await request.body())
        const removed = await changeOwn(options, credential, ids, own =>
          remove(options, credential.accountId, own),
        )
        return ok({ data: removed.map(({ id, isChanged }) => ({ ...refTo(id), deleted: isChanged })) })
      },
    },
  ]
}

function refTo(id: Id) {
  return { object: 'inbound_email' as const, id: wireId('inb', id) }
}

/** @returns ids of the messages that have been deleted */
async function remove(
  { store }: InboundChangeRoutesOptions,
  accountId: Id,
  ids: readonly Id[],
): Promise<Id[]> {
  const deleted = await store.run('deleteInbound', { accountId, ids })
  for (const name of deleted.unusedFiles) await store.blobs.discard(store.db, name)
  return deleted.ids
}

/**
 * Changes those messages that the credential may see.
 *
 * @param change returns the ids of the changed messages
 * @returns all given ids, with whether each was changed
 */
async function changeOwn(
  { horizonOf, store }: InboundChangeRoutesOptions,
  credential: Credential,
  ids: readonly Id[],
  change: (own: Id[]) => Promise<Id[]>,
): Promise<{ id: Id; isChanged: boolean }[]> {
  const distinct = [...new Map(ids.map(id => [idKey(id), id])).values()]
  const own = await inSightOf(store.find, await sightOf(credential, horizonOf), distinct)
  const changed = new Set(own.length === 0 ? [] : (await change(own)).map(idKey))
  return ids.map(id => ({ id, isChanged: changed.has(idKey(id)) }))
}
