/** Starts the watch over the machine that the service runs on. Part of the composition root. */
import type { Config } from '../config/config.ts'
import type { Examination } from '../interfaces/doctor/finding.ts'
import { diskSpace, diskSync } from '../interfaces/doctor/machine.ts'
import { MachineWatch } from '../interfaces/doctor/machine-watch.ts'
import type { Clock } from '../lib/clock.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { type AlertFallback, createAlertFallback } from '../pipeline/alerts/fallback.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound, type Outbound } from '../protocols/http-client/outbound.ts'
import type { MachineAlert } from '../resources/alerts/operator-alerts.ts'
import type { Db } from '../store/model/schema.ts'
import type { AlertServices } from './alerts.ts'
import type { AppContext, Sending } from './context.ts'
import { backupsOf, certificateOf, clockOf } from './doctor.ts'
import { noticeSender } from './notifications.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * @param isBackingUp tells whether a backup is being made
 * @throws when the address of the sender is invalid
 */
export function startMachineWatch(
  context: AppContext,
  { accept, preparation, ...alerts }: Sending & AlertServices,
  isBackingUp: () => boolean,
): void {
  const { config, store, clock, log, stack } = context
  const { dns, fetch } = config
  const { db, run } = store
  const from = noticeSender(config)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const outbound = createOutbound({ resolver, clock, allowLoopback: fetch.allowLoopback })
  const checks = machineChecks(config, { db, clock, outbound, isBackingUp })
  const fallback = openFallback(context, alerts)
  const watch = new MachineWatch({ db, run, checks, from, accept, preparation, fallback, clock, log })
  const sweeper = startSweeper({
    task: 'watch the machine',
    sweep: () => watch.sweep(),
    everyMs: MINUTE_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'machine_watch_failed', err: error },
        'The machine could not be checked; retrying in 1 min',
      ),
  })
  stack.defer(sweeper.stop)
  stack.defer(resolver.close)
  stack.defer(outbound.close)
}

function openFallback(
  { config, store, clock, log }: AppContext,
  { alertRelay: relay, queueAdmin }: AlertServices,
): AlertFallback | undefined {
  if (!relay) return undefined
  return createAlertFallback({
    relay,
    mailHost: config.mailHost,
    db: store.db,
    clock,
    log,
    afterMs: config.alerts.smartHostAfterMinutes * MINUTE_MS,
    queueAdmin,
  })
}

/** Lists what is checked, each with the alert that it raises and the time between two checks. */
export function machineChecks(
  config: Config,
  { db, clock, outbound, isBackingUp }: { db: Db; clock: Clock; outbound: Outbound; isBackingUp(): boolean },
) {
  const { dataDir: folder, backup } = config
  const scheduled = backup.folder === null ? [] : backupsOf(config, db, clock)
  return [
    watched('disk-space', MINUTE_MS, diskSpace({ folder })),
    watched('disk-sync', 10 * MINUTE_MS, diskSync({ folder, clock })),
    ...certificateOf(config, db, clock).map(check => watched('certificate-expiry', HOUR_MS, check)),
    ...scheduled.map(check => watched('backup', MINUTE_MS, unless(isBackingUp, check))),
    ...clockOf(config, { outbound, clock }).map(check => watched('clock', 6 * HOUR_MS, check)),
  ]
}

/** Leaves the outcome open while something that changes it is under way. */
function unless(isUnderWay: () => boolean, { check, examine }: Examination): Examination {
  return { check, examine: async signal => (isUnderWay() ? [] : examine(signal)) }
}

function watched(alert: MachineAlert, everyMs: number, examination: Examination) {
  return { ...examination, alert, everyMs }
}
