/** Serves the suppression list of the account: list, search, add and remove, one by one or in bulk. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import { type Id, wireId } from '../../../lib/ids.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { listSuppressions } from '../../../resources/suppressions/list.ts'
import {
  findSuppression,
  type suppressionCommands,
} from '../../../resources/suppressions/suppression-rows.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db, SuppressionReason } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { orNotFound } from '../api-error.ts'
import { requireWholeAccount } from '../auth/bound-key.ts'
import { created, ok, pageReply, type Route } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  newSuppressionSchema,
  newSuppressionsSchema,
  readRemovals,
  readSuppression,
  readSuppressionQuery,
  readSuppressions,
  removalSchema,
  removalsSchema,
  suppressionQuery,
  suppressionRef,
  suppressionSchema,
  suppressionView,
} from './schema.ts'

interface SuppressionRoutesOptions {
  db: Db
  find: Find
  run: Run<typeof suppressionCommands>
  clock: Clock
}

/** A search reads every entry of the account, so the number of concurrent searches is limited. */
const CONCURRENT_SEARCHES_MAX = 2
const WAITING_SEARCHES_MAX = 50

export function suppressionRoutes(options: SuppressionRoutesOptions): Route[] {
  return [...batchRoutes(options), ...entryRoutes(options)]
}

function entryRoutes(options: SuppressionRoutesOptions): Route[] {
  const { find, run } = options
  const searches = createSemaphore(CONCURRENT_SEARCHES_MAX, WAITING_SEARCHES_MAX)
  return [
    {
      method: 'POST',
      path: '/suppressions',
      access: 'key',
      summary: 'Suppress an address; 200 if it is already suppressed',
      body: newSuppressionSchema,
      replies: { 200: suppressionSchema, 201: suppressionSchema },
      async handle({ credential, ...request }) {
        requireWholeAccount(credential)
        const { emails, reason } = readSuppression(await request.body())
        const [added] = await suppress(options, credential.accountId, emails, reason)
        const { row, isNew } = added!
        return isNew ? created(suppressionView(row)) : ok(suppressionView(row))
      },
    },
    {
      method: 'GET',
      path: '/suppressions',
      access: 'key',
      summary: 'List and search suppressions',
      query: suppressionQuery,
      replies: { 200: listSchema(suppressionSchema) },
      async handle({ query, credential: { accountId } }) {
        const { filter, page } = readSuppressionQuery(query)
        const list = () => listSuppressions(options, accountId, filter, page)
        const isSearch = filter.search !== '' || filter.reason !== null
        return pageReply(await (isSearch ? searches.run(list) : list()), suppressionView)
      },
    },
    {
      method: 'GET',
      path: '/suppressions/:id',
      access: 'key',
      summary: 'Retrieve a suppression by id or address',
      replies: { 200: suppressionSchema },
      async handle({ params, credential: { accountId } }) {
        const ref = suppressionRef(params.id!)
        const row = ref && (await findSuppression(find, accountId, ref))
        return ok(suppressionView(orNotFound(row, 'Suppression')))
      },
    },
    {
      method: 'DELETE',
      path: '/suppressions/:id',
      access: 'key',
      summary: 'Remove a suppression by id or address',
      replies: { 200: deletedSchema('suppression', 'sup') },
      async handle({ params, credential }) {
        requireWholeAccount(credential)
        const ref = suppressionRef(params.id!)
        const { accountId } = credential
        const [row] = ref ? await run('unsuppress', { accountId, refs: [ref] }) : []
        const { id } = orNotFound(row, 'Suppression')
        return ok({ object: 'suppression', id: wireId('sup', id), deleted: true })
      },
    },
  ]
}

function batchRoutes(options: SuppressionRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/suppressions/batch/add',
      access: 'key',
      summary: 'Suppress up to 100 addresses',
      body: newSuppressionsSchema,
      replies: { 200: z.object({ data: z.array(suppressionSchema) }) },
      async handle({ credential, ...request }) {
        requireWholeAccount(credential)
        const { emails, reason } = readSuppressions(await request.body())
        const added = await suppress(options, credential.accountId, emails, reason)
        return ok({ data: added.map(({ row }) => suppressionView(row)) })
      },
    },
    {
      method: 'POST',
      path: '/suppressions/batch/remove',
      access: 'key',
      summary: 'Remove up to 100 suppressions by `emails` or `ids`',
      body: removalsSchema,
      replies: { 200: z.object({ data: z.array(removalSchema) }) },
      async handle({ credential, ...request }) {
        requireWholeAccount(credential)
        const wanted = readRemovals(await request.body())
        const refs = wanted.flatMap(({ ref }) => ref ?? [])
        const removed = await options.run('unsuppress', { accountId: credential.accountId, refs })
        const data = wanted.map(({ text, ref }) => {
          const row = ref && removed.shift()
          return { object: 'suppression', id: row ? wireId('sup', row.id) : text, deleted: row !== undefined }
        })
        return ok({ data })
      },
    },
  ]
}

/** Adds folded addresses; existing entries stay unchanged. */
function suppress(
  { run, clock }: SuppressionRoutesOptions,
  accountId: Id,
  emails: readonly string[],
  reason: SuppressionReason,
) {
  const at = clock.now()
  return run(
    'suppress',
    emails.map(email => ({ accountId, email, reason, sourceId: null, at })),
  )
}
