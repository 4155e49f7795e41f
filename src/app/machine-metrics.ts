/**
 * Metrics of the machine and of what the operator must look after: event loop, descriptors, disk, database
 * files, certificate, backups, webhooks and lasting alerts. Part of the composition root.
 */
import { X509Certificate } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { startEventLoopDelay } from '../lib/event-loop-delay.ts'
import type { Labels } from '../lib/metrics.ts'
import { openFileLimit } from '../lib/open-files.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { countWaitingDeliveries } from '../pipeline/webhooks/webhook-rows.ts'
import { lastingAlerts, MACHINE_ALERTS } from '../resources/alerts/operator-alerts.ts'
import { lastMade, readRecord } from '../store/backup/record.ts'
import { type DiskUse, measureDisk, orAbsent, recordDisk } from '../store/opening/disk-use.ts'
import type { AppContext } from './context.ts'

const HOUR_MS = 3_600_000

interface MachineFigures extends DiskUse {
  openFds?: number
  backupAgeSeconds?: number
  webhooksWaiting?: number
  alerts?: [Labels, number][]
}

/**
 * Registers the metrics. A figure that cannot be read is absent from the report.
 * @returns a function that reads the figures for the next report
 */
export function registerMachine(context: AppContext): () => Promise<void> {
  const { metrics, security, stack } = context
  const delay = startEventLoopDelay()
  stack.defer(delay.stop)
  metrics.histogram(
    'event_loop_delay_seconds',
    'Delay of the event loop of the main thread, sampled twice a second.',
    delay.read,
  )
  metrics.gauge(
    'certificate_expiry_timestamp_seconds',
    'End of validity of the certificate of the listeners since the Unix epoch in seconds.',
    () => new X509Certificate(security.certificates.current().cert).validToDate.getTime() / 1_000,
  )
  const limit = openFileLimit()
  if (limit !== undefined && Number.isFinite(limit))
    metrics.standard('process_max_fds', 'gauge', 'Maximum number of open file descriptors.', () => limit)
  startDiskRecord(context)
  let figures: MachineFigures = {}
  const gauge = (name: string, help: string, figure: keyof MachineFigures) =>
    metrics.gauge(name, help, () => figures[figure] ?? [])
  metrics.standard(
    'process_open_fds',
    'gauge',
    'Number of open file descriptors.',
    () => figures.openFds ?? [],
  )
  gauge('disk_free_bytes', 'Free space on the disk of the data folder.', 'diskFree')
  gauge('disk_size_bytes', 'Size of the disk of the data folder.', 'diskSize')
  gauge('database_file_bytes', 'Size of the database without its write-ahead log.', 'databaseBytes')
  gauge('database_wal_bytes', 'Size of the write-ahead log of the SQLite database.', 'walBytes')
  gauge('backup_age_seconds', 'Age of the last backup; absent if none was made.', 'backupAgeSeconds')
  gauge('webhook_deliveries_waiting', 'Webhook deliveries that wait, at most 100,000.', 'webhooksWaiting')
  gauge('operator_alerts_active', 'Alerts whose condition lasts, by kind.', 'alerts')
  return async () => {
    figures = await readFigures(context)
  }
}

/** Measures the disk every hour, of which a measurement a day is remembered. */
function startDiskRecord({ config: { dataDir }, store, clock, log, stack }: AppContext): void {
  const task = 'measure the disk'
  const sweeper = startSweeper({
    task,
    async *sweep() {
      recordDisk(dataDir, await measureDisk(dataDir, store.location, store.db), clock.now())
      yield
    },
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'maintenance_failed', task, err: error },
        'The disk could not be measured; retrying later',
      ),
  })
  stack.defer(sweeper.stop)
}

async function readFigures({ config, store, clock }: AppContext): Promise<MachineFigures> {
  const { dataDir } = config
  const last = lastMade(readRecord(dataDir))
  const [fds, use, webhooksWaiting, alerts] = await Promise.all([
    orAbsent(readdir('/proc/self/fd')),
    measureDisk(dataDir, store.location, store.db),
    orAbsent(countWaitingDeliveries(store.db)),
    orAbsent(activeAlerts(store.db)),
  ])
  return {
    ...(fds && { openFds: fds.length }),
    ...use,
    ...(last && { backupAgeSeconds: Math.max(0, clock.now() - last.at) / 1_000 }),
    ...(webhooksWaiting !== undefined && { webhooksWaiting }),
    ...(alerts && { alerts }),
  }
}

async function activeAlerts(db: AppContext['store']['db']): Promise<[Labels, number][]> {
  return Promise.all(
    MACHINE_ALERTS.map(
      async (kind): Promise<[Labels, number]> => [{ kind }, (await lastingAlerts(db, kind)).size],
    ),
  )
}
