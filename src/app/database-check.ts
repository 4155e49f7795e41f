/**
 * Checks the pages of a large database in the background after the service was killed. Part of the
 * composition root.
 */
import { createOnDemandWorker } from '../lib/on-demand-worker.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { WorkerEnded } from '../lib/worker-rpc.ts'
import { hourOf } from '../resources/alerts/operator-alerts.ts'
import { damageText } from '../store/opening/dialect.ts'
import type { AppContext } from './context.ts'

const DATABASE_DAMAGED_ALERT = 'database-damaged'

/** @returns a function that ends the check */
export function startDatabaseCheck({
  clock,
  log,
  store,
}: Pick<AppContext, 'clock' | 'log' | 'store'>): () => Promise<void> {
  const thread = createOnDemandWorker({
    name: 'check',
    entry: new URL('../workers/check.ts', import.meta.url),
    memory: QUIET_THREAD,
    log,
  })
  const check = async () => {
    const fault = (await thread.call('check', store.location)) as string | undefined
    if (fault === undefined) {
      log.info({ event: 'database_checked' }, 'The service was killed; its database has no damaged pages')
      return
    }
    const reply = damageText(store.location, new Error(fault))
    log.error({ event: 'database_damaged', fault }, `The service was killed, and ${reply}`)
    const raisedAt = clock.now()
    const row = { kind: DATABASE_DAMAGED_ALERT, provider: '', sourceIp: '', mxHost: null, domain: '' }
    await store.run('raiseAlert', { ...row, hour: hourOf(raisedAt), raisedAt, reply })
  }
  const checking = check().catch(error => {
    if (!(error instanceof WorkerEnded))
      log.error({ event: 'database_check_failed', err: error }, 'The database could not be checked')
  })
  return async () => {
    await thread.close()
    await checking
  }
}
