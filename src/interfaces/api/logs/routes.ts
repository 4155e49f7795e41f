/** Serves the request log of the account. */
import type { Clock } from '../../../lib/clock.ts'
import type { Id } from '../../../lib/ids.ts'
import { credentialNames } from '../../../resources/accounts/credential-names.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { logHorizon } from '../../../resources/request-log/horizon.ts'
import { findRequest, type RequestQuery, type RequestsFound } from '../../../resources/request-log/list.ts'
import type { RequestLog } from '../../../resources/request-log/request-log.ts'
import type { Db } from '../../../store/model/schema.ts'
import { orNotFound } from '../api-error.ts'
import { ok, pathId, type Route } from '../route/route.ts'
import { readCursorPage } from '../schema/cursor.ts'
import {
  loggedRequestView,
  readRequestFilter,
  requestDetailSchema,
  requestDetailView,
  requestListSchema,
  requestLogQuery,
} from './schema.ts'

interface LogRoutesOptions {
  db: Db
  reader: { listRequests(query: RequestQuery): Promise<RequestsFound> }
  /** Undefined if requests are not logged. */
  requestLog: Pick<RequestLog, 'flush'> | undefined
  /** Retention of the log, unless that of the plan is shorter. */
  retentionDays: number
  horizonOf: Plans['horizonOf']
  clock: Clock
}

export function logRoutes(options: LogRoutesOptions): Route[] {
  const { db, reader, requestLog, retentionDays, horizonOf, clock } = options
  const logHorizonOf = async (accountId: Id) =>
    logHorizon(await horizonOf(accountId), retentionDays, clock.now())
  return [
    {
      method: 'GET',
      path: '/logs',
      access: 'session',
      summary: 'List the API requests of the account, newest first',
      query: requestLogQuery,
      replies: { 200: requestListSchema },
      async handle({ query, credential: { accountId } }) {
        const filter = readRequestFilter(query)
        const page = readCursorPage(query, 'log', 'a request in the log')
        // requests that have been answered are listed
        await requestLog?.flush()
        const horizon = await logHorizonOf(accountId)
        const { hasMore, rows } = await reader.listRequests({ accountId, horizon, filter, page })
        const names = await credentialNames(db, accountId)
        const data = rows.map(row => loggedRequestView(row, names))
        return ok({ object: 'list', has_more: hasMore, data })
      },
    },
    {
      method: 'GET',
      path: '/logs/:id',
      access: 'session',
      summary: 'Retrieve an API request with the bodies of request and reply',
      replies: { 200: requestDetailSchema },
      async handle(request) {
        const { accountId } = request.credential
        const id = pathId(request, 'log')
        await requestLog?.flush()
        const found = await findRequest(db, accountId, id, await logHorizonOf(accountId))
        return ok(requestDetailView(orNotFound(found, 'Log'), await credentialNames(db, accountId)))
      },
    },
  ]
}
