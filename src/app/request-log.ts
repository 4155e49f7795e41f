/** Starts the log of API requests and serves it. Part of the composition root. */
import { logRoutes } from '../interfaces/api/logs/routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { RequestLog } from '../resources/request-log/request-log.ts'
import type { AppContext } from './context.ts'

/** @returns undefined if requests are not logged */
export function startRequestLog({
  config,
  store,
  clock,
  log,
  metrics,
  stack,
}: AppContext): RequestLog | undefined {
  const { retentionDays, bodies } = config.logs
  if (retentionDays === 0) return undefined
  const warn = throttledLog(
    { log, clock },
    'warn',
    'logged_requests_dropped',
    'API requests could not be written to the request log; they were answered all the same',
  )
  const requestLog = new RequestLog({
    run: store.run,
    clock,
    hasBodies: bodies,
    onDropped: (count, error) => warn({ count, err: error }),
  })
  metrics.total('logged_requests_dropped', 'API requests that are missing in the request log.', () =>
    requestLog.droppedCount(),
  )
  stack.defer(() => requestLog.close())
  return requestLog
}

export function logRoutesOf(
  { config, store, plans, workers, clock }: AppContext,
  requestLog: RequestLog | undefined,
): Route[] {
  const { retentionDays } = config.logs
  const { horizonOf } = plans
  return logRoutes({ db: store.db, reader: workers.reader, requestLog, retentionDays, horizonOf, clock })
}
