/** Lists and finds requests of the log. Called by the query worker and the routes of the API. */
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { firstIdAt, type Id, idText, idTime, lastIdAt } from '../../lib/ids.ts'
import { beginningWith, containing } from '../../store/model/pattern.ts'
import type { LoggedRequestRow } from '../../store/model/schema/requests.ts'
import type { Db, Schema } from '../../store/model/schema.ts'
import { scanInChunks } from '../../store/reading/chunked-scan.ts'
import type { ListPage } from '../../store/reading/list-page.ts'
import { FAILED_STATUS_MIN, readBodies, type StoredBodies } from './commands.ts'

export interface RequestFilter {
  /** Range of the status, both included. */
  status: { from: number; to: number } | undefined
  method: string | undefined
  /** Path, or its beginning if `isPrefix`. */
  path: { text: string; isPrefix: boolean } | undefined
  /** Id of the request or of a resource that it was about, or a part of its path. */
  search: { id: Id } | { path: string } | undefined
  credentialId: Id | undefined
  /** Times in ms since the epoch. */
  createdFrom: number | undefined
  createdBefore: number | undefined
}

export interface RequestQuery {
  accountId: Id
  /** Requests at or before this time are not listed. */
  horizon: number
  filter: RequestFilter
  page: ListPage
}

export interface RequestDetail {
  row: LoggedRequestRow
  /** Undefined if the bodies were not stored. */
  bodies: (StoredBodies & { requestCut: boolean; responseCut: boolean }) | undefined
}

export interface RequestsFound {
  hasMore: boolean
  rows: LoggedRequestRow[]
}

/** Replies to batches that are read for an id. They precede it by the time that a batch takes. */
const BATCHES_READ_MAX = 100
const BATCH_MS_MAX = 60_000

/** Lists requests, newest first. */
export async function listRequests(db: Db, query: RequestQuery): Promise<RequestsFound> {
  const { accountId, filter } = query
  const batches =
    filter.search && 'id' in filter.search ? await batchesOf(db, accountId, filter.search.id) : []
  const listing = {
    entries: () => entriesOf(db, query),
    matching: (entries: ReturnType<typeof entriesOf>) => entries.where(eb => matches(eb, filter, batches)),
    key: 'id' as const,
    range: rangeOf(query),
  }
  const { keys, hasMore } = await scanInChunks(listing, query.page, true)
  if (keys.length === 0) return { hasMore, rows: [] }
  const rows = await db
    .selectFrom('loggedRequests')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', 'in', keys as Id[])
    .orderBy('id', 'desc')
    .execute()
  return { hasMore, rows }
}

function entriesOf(db: Db, { accountId, filter }: RequestQuery) {
  const hasFailed = (filter.status?.from ?? 0) >= FAILED_STATUS_MIN
  return (hasFailed ? failedRequests(db) : db.selectFrom('loggedRequests')).where('accountId', '=', accountId)
}

function rangeOf({ horizon, filter: { createdFrom = 0, createdBefore } }: RequestQuery) {
  return {
    oldest: firstIdAt(Math.max(horizon + 1, createdFrom)),
    newest: createdBefore === undefined ? undefined : lastIdAt(createdBefore - 1),
  }
}

/** Takes the id from the column whose index has failed requests only. */
function failedRequests(db: Db) {
  const failed = db
    .selectFrom('loggedRequests')
    .select(['accountId', 'failedId as id', 'status', 'method', 'path', 'credentialId', 'resourceId'])
    .as('loggedRequests')
  return db.selectFrom(failed) as unknown as SelectQueryBuilder<Schema, 'loggedRequests', object>
}

/** Finds the batches that have created the email, whose replies name all their emails. */
async function batchesOf(db: Db, accountId: Id, emailId: Id): Promise<Id[]> {
  const createdAt = idTime(emailId)
  const batches = await db
    .selectFrom('loggedRequests')
    .innerJoin('loggedBodies', join =>
      join
        .onRef('loggedBodies.accountId', '=', 'loggedRequests.accountId')
        .onRef('loggedBodies.requestId', '=', 'loggedRequests.id'),
    )
    .where('loggedRequests.accountId', '=', accountId)
    .where('id', '>=', firstIdAt(createdAt - BATCH_MS_MAX))
    .where('id', '<', firstIdAt(createdAt + 1_000))
    .where('path', '=', '/emails/batch')
    .orderBy('id', 'desc')
    .limit(BATCHES_READ_MAX)
    .select(['id', 'packed'])
    .execute()
  const text = idText(emailId)
  return batches.filter(row => JSON.stringify(readBodies(row).response).includes(text)).map(({ id }) => id)
}

function matches(
  eb: ExpressionBuilder<Schema, 'loggedRequests'>,
  filter: RequestFilter,
  batches: readonly Id[],
) {
  const { status, method, path, search, credentialId } = filter
  return eb.and([
    ...(status ? [eb('status', '>=', status.from), eb('status', '<=', status.to)] : []),
    ...(method === undefined ? [] : [eb('method', '=', method)]),
    ...(path && !path.isPrefix ? [eb('path', '=', path.text)] : []),
    ...(path?.isPrefix ? [sql<boolean>`path like ${beginningWith(path.text)} escape '!'`] : []),
    ...(credentialId ? [eb('credentialId', '=', credentialId)] : []),
    ...(search ? [matchesSearch(eb, search, batches)] : []),
  ])
}

/** The path of a request about a resource contains its id; a request that created it has only its reply. */
function matchesSearch(
  eb: ExpressionBuilder<Schema, 'loggedRequests'>,
  search: Exclude<RequestFilter['search'], undefined>,
  batches: readonly Id[],
) {
  if ('path' in search)
    return sql<boolean>`lower(path) like ${containing(search.path.toLowerCase())} escape '!'`
  const pattern = containing(idText(search.id))
  return eb.or([
    eb('id', 'in', [search.id, ...batches]),
    sql<boolean>`resource_id like ${pattern} escape '!'`,
    sql<boolean>`path like ${pattern} escape '!'`,
  ])
}

/** @param horizon epoch ms; requests at or before it are not found */
export async function findRequest(
  db: Db,
  accountId: Id,
  id: Id,
  horizon: number,
): Promise<RequestDetail | undefined> {
  const row = await db
    .selectFrom('loggedRequests')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .where('id', '>=', firstIdAt(horizon + 1))
    .executeTakeFirst()
  if (!row) return undefined
  const stored = await db
    .selectFrom('loggedBodies')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('requestId', '=', id)
    .executeTakeFirst()
  const bodies = stored && {
    ...readBodies(stored),
    requestCut: stored.requestCut === 1,
    responseCut: stored.responseCut === 1,
  }
  return { row, bodies }
}
