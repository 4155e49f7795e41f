/**
 * Opens the store, and reads from it what the other parts need to start: plans, and domains of the simulator.
 * Checks the pages of a large database in the background after the service was killed. Part of the
 * composition root.
 */
import type { Config } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Id } from '../lib/ids.ts'
import type { Log } from '../lib/log.ts'
import { createOnDemandWorker } from '../lib/on-demand-worker.ts'
import { QUIET_THREAD } from '../lib/thread-memory.ts'
import { WorkerEnded } from '../lib/worker-rpc.ts'
import { type ServiceMode, ServiceModeWatch } from '../pipeline/queue/service-mode.ts'
import { LABORATORY_SIMULATOR, simulatorOf } from '../pipeline/simulator/simulate.ts'
import { plansInUse } from '../resources/accounts/account-rows.ts'
import { createPlans, type Plans } from '../resources/accounts/plans.ts'
import { hourOf } from '../resources/alerts/operator-alerts.ts'
import { damageText } from '../store/opening/dialect.ts'
import { openStore, type Store } from '../store/opening/open.ts'
import { readSetting, SIMULATOR_DOMAINS } from '../store/reading/settings.ts'
import type { ServiceCommands } from '../workers/commands.ts'
import type { AppContext } from './context.ts'
import { snapshotBeforeMigration } from './upgrade.ts'

/** Time to wait for the lock of the data folder, which the command line holds for a moment. */
export const LOCK_WAIT_MS_MAX = 5_000
/** Time that commands without a waiting caller are delayed, in ms, so that they share larger commits. */
const LAZY_MS = { listInbound: 20 }
const DATABASE_DAMAGED_ALERT = 'database-damaged'

/** @param onLoss is called when nothing can be stored any more */
export async function openServiceStore(
  { dataDir, database }: Config,
  { log, clock, onLoss }: { log: Log; clock: Clock; onLoss(error: Error): void },
): Promise<Store<ServiceCommands>> {
  const store = await openStore<ServiceCommands>({
    dataDir,
    url: database.url,
    writerThread: new URL('../workers/writer.ts', import.meta.url),
    clock,
    onLoss,
    lazyMs: LAZY_MS,
    patienceMs: LOCK_WAIT_MS_MAX,
    prepare: location => snapshotBeforeMigration(location, { clock, log, keep: database.snapshots }),
  })
  if (store.migrations.length > 0)
    log.info({ event: 'database_migrated', migrations: store.migrations }, 'The database was migrated')
  else if (database.startNew)
    log.warn(
      { event: 'start_new_ignored' },
      '`database.start_new` is set, but the database is not new; remove the setting',
    )
  return store
}

/** Reads the mode of the service, and says in the log when it is not the normal one. */
export async function openServiceMode({
  log,
  store,
}: Pick<AppContext, 'log' | 'store'>): Promise<ServiceModeWatch> {
  const say = ({ mode, since, reason }: ServiceMode) => {
    if (since === null) return
    const level = mode === 'normal' ? 'info' : 'warn'
    log[level](
      { event: 'service_mode', mode, since: new Date(since).toISOString(), reason },
      MODE_TEXTS[mode],
    )
  }
  const watch = await ServiceModeWatch.open(store, {
    onSwitched: say,
    onError: error =>
      log.error(
        { event: 'service_mode_not_read', err: error },
        'The mode of the service could not be read; the former one is kept',
      ),
  })
  if (watch.current.mode !== 'normal') say(watch.current)
  return watch
}

const MODE_TEXTS = {
  normal: 'The service is in normal mode',
  draining: 'The service accepts no new email until its mode is normal; what is queued is delivered',
  'read-only': 'The service is read-only: it refuses changes and sends nothing until its mode is normal',
}

/** Creates the plans of accounts, and warns of plans that accounts use and the configuration lacks. */
export async function openPlans({
  config,
  clock,
  log,
  store,
}: Pick<AppContext, 'config' | 'clock' | 'log' | 'store'>): Promise<Plans> {
  const onAccountChanged = (listener: (accountId: Id) => void) =>
    store.on('account', accountIds => {
      for (const accountId of accountIds) listener(accountId as Id)
    })
  const plans = createPlans({ plans: config.plans, find: store.find, clock, onAccountChanged })
  const lost = (await plansInUse(store.db)).filter(name => !plans.all.has(name))
  if (lost.length > 0)
    log.warn(
      { event: 'plans_missing', plans: lost },
      'Accounts use plans that are not configured; no limits and no retention apply to them',
    )
  return plans
}

/**
 * Returns the simulator's current domain, `simulator.test`, and the current and former simulator domains
 * below `mail_host`. Mail to a former domain is still simulated after the installation was renamed. A former
 * value of `simulator.domain` is not kept, because it may be a real domain.
 */
export async function knownSimulatorDomains(
  { mailHost, simulator }: Pick<Config, 'mailHost' | 'simulator'>,
  { db, run }: Pick<Store<ServiceCommands>, 'db' | 'run'>,
): Promise<ReadonlySet<string>> {
  const stored = (await readSetting(db, SIMULATOR_DOMAINS)) ?? ''
  const afterMailHost = new Set([...stored.split(' ').filter(Boolean), simulatorOf(mailHost)])
  const value = [...afterMailHost].join(' ')
  if (value !== stored) await run('putSetting', { key: SIMULATOR_DOMAINS, value })
  return new Set([simulator.domain, LABORATORY_SIMULATOR, ...afterMailHost])
}

/** @returns a function that ends the check */
export function startDatabaseCheck({
  clock,
  log,
  store,
}: Pick<AppContext, 'clock' | 'log' | 'store'>): () => Promise<void> {
  const thread = createOnDemandWorker({
    name: 'check',
    entry: new URL('../workers/check.ts', import.meta.url),
    data: { location: store.location },
    memory: QUIET_THREAD,
    log,
  })
  const check = async () => {
    const fault = (await thread.call('check', undefined)) as string | undefined
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
