/** Starts the watch over the machine that the service runs on. Part of the composition root. */
import type { Examination } from '../interfaces/doctor/finding.ts'
import { diskSpace, diskSync } from '../interfaces/doctor/machine.ts'
import { MachineWatch } from '../interfaces/doctor/machine-watch.ts'
import { wallClock } from '../interfaces/doctor/wall-clock.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import type { MachineAlert } from '../resources/alerts/operator-alerts.ts'
import type { AppContext, Sending } from './context.ts'
import { certificateOf } from './doctor.ts'
import { noticeSender } from './notifications.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** @throws when the address of the sender is invalid */
export function startMachineWatch(
  { config, store, clock, log, stack }: AppContext,
  { accept, preparation }: Sending,
): void {
  const { dataDir: folder, dns, fetch, doctor } = config
  const { db, run } = store
  const from = noticeSender(config)
  const resolver = createResolver({ servers: dns.resolvers, clock })
  const outbound = createOutbound({ resolver, clock, allowLoopback: fetch.allowLoopback })
  const checks = [
    watched('disk-space', MINUTE_MS, diskSpace({ folder })),
    watched('disk-sync', 10 * MINUTE_MS, diskSync({ folder, clock })),
    ...certificateOf(config, db, clock).map(check => watched('certificate-expiry', HOUR_MS, check)),
    ...(doctor.clockUrl === ''
      ? []
      : [watched('clock', 6 * HOUR_MS, wallClock({ outbound, clock, url: doctor.clockUrl }))]),
  ]
  const watch = new MachineWatch({ db, run, checks, from, accept, preparation, clock, log })
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

function watched(alert: MachineAlert, everyMs: number, examination: Examination) {
  return { ...examination, alert, everyMs }
}
