/** Lists and finds requests of the log. Called by the query worker and the routes of the API. */
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { firstIdAt, type Id, lastIdAt } from '../../lib/ids.ts'
import { beginningWith } from '../../store/model/pattern.ts'
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

/** Lists requests, newest first. */
export async function listRequests(db: Db, query: RequestQuery): Promise<RequestsFound> {
  const listing = {
    entries: () => entriesOf(db, query),
    matching: (entries: ReturnType<typeof entriesOf>) => entries.where(eb => matches(eb, query.filter)),
    key: 'id' as const,
    range: rangeOf(query),
  }
  const { keys, hasMore } = await scanInChunks(listing, query.page, true)
  if (keys.length === 0) return { hasMore, rows: [] }
  const rows = await db
    .selectFrom('loggedRequests')
    .selectAll()
    .where('accountId', '=', query.accountId)
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
    .select(['accountId', 'failedId as id', 'status', 'method', 'path', 'credentialId'])
    .as('loggedRequests')
  return db.selectFrom(failed) as unknown as SelectQueryBuilder<Schema, 'loggedRequests', object>
}

function matches(eb: ExpressionBuilder<Schema, 'loggedRequests'>, filter: RequestFilter) {
  const { status, method, path, credentialId } = filter
  return eb.and([
    ...(status ? [eb('status', '>=', status.from), eb('status', '<=', status.to)] : []),
    ...(method === undefined ? [] : [eb('method', '=', method)]),
    ...(path && !path.isPrefix ? [eb('path', '=', path.text)] : []),
    ...(path?.isPrefix ? [sql<boolean>`path like ${beginningWith(path.text)} escape '!'`] : []),
    ...(credentialId ? [eb('credentialId', '=', credentialId)] : []),
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
