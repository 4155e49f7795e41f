/** Routes of operators: queue, deliverability, machine and process. Part of the composition root. */
import { X509Certificate } from 'node:crypto'
import { doctorRoutes } from '../interfaces/api/doctor/routes.ts'
import { zoneRecordRoutes } from '../interfaces/api/domains/zone-routes.ts'
import { type BackupsView, backupRoutes } from '../interfaces/api/installation/backup-routes.ts'
import { type CertificateView, certificateRoutes } from '../interfaces/api/installation/certificate-routes.ts'
import { logTailRoutes } from '../interfaces/api/installation/log-routes.ts'
import { releaseRoutes } from '../interfaces/api/installation/release-routes.ts'
import { settingsRoutes } from '../interfaces/api/installation/settings-routes.ts'
import { type StorageView, storageRoutes } from '../interfaces/api/installation/storage-routes.ts'
import { destinationRoutes } from '../interfaces/api/queue/destination-routes.ts'
import { queueRoutes } from '../interfaces/api/queue/routes.ts'
import { sourceRoutes } from '../interfaces/api/queue/source-routes.ts'
import type { Route } from '../interfaces/api/route/route.ts'
import { timestamp } from '../interfaces/api/schema/timestamp.ts'
import { within } from '../lib/clock.ts'
import { sharedLogTail } from '../lib/log-tail.ts'
import { type CertificateState, listCertificateStates } from '../resources/certificates/certificate-rows.ts'
import { listTrackingHosts } from '../resources/domains/known-tracking-hosts.ts'
import { listZone } from '../resources/domains/zone-list.ts'
import type { ListedBackup } from '../store/backup/open.ts'
import { lastMade, readRecord } from '../store/backup/record.ts'
import { growthOf, measureDisk } from '../store/opening/disk-use.ts'
import { findZoneSerial, publishedPolicy } from '../store/reading/settings.ts'
import { type AlertServices, startAlerts } from './alerts.ts'
import type { Backups } from './backups.ts'
import type { AppContext, Sending } from './context.ts'
import { sourceSettings } from './delivery.ts'
import { zoneRecords } from './dns.ts'
import { runDoctor, sharedDoctorRun } from './doctor.ts'
import type { SendingDomains } from './sending-domains.ts'
import { setupRoutesOf } from './setup.ts'
import { trackingBaseOf } from './tracking.ts'
import { readChangelog, version } from './version.ts'

interface OperatorServices extends AlertServices {
  sending: Sending
  domains: SendingDomains
  /** Undefined when none are scheduled. */
  backups: Backups | undefined
  /** URL of the API. */
  baseUrl: string
}

export function operatorRoutesOf(
  context: AppContext,
  { queueAdmin, alertRelay, sending, domains, backups, baseUrl }: OperatorServices,
): Route[] {
  const { config, clock, store, workers } = context
  const { reader, pathsTo } = workers
  const { db, run } = store
  const listZonePage = async (page: { limit: number; offset: number }) => {
    const zone = zoneRecords(config, (await findZoneSerial(db)) ?? 0, await publishedPolicy(db))
    return listZone(db, zone, config.mailHost, page)
  }
  const examine = sharedDoctorRun(() => runDoctor(config, db, clock, true), clock)
  return [
    ...startAlerts(context, sending, { relay: alertRelay, baseUrl }),
    ...doctorRoutes({ examine }),
    ...setupRoutesOf(context, { examine, testParts: { domains: domains.domains, ...sending } }),
    ...queueRoutes({ queueAdmin, db, clock, reader, pathsTo }),
    ...destinationRoutes({ reader, run, db, clock, pathsTo }),
    ...sourceRoutes({ ...sourceSettings(config), db, clock }),
    ...zoneRecordRoutes({ listZone: listZonePage }),
    ...machineRoutes(context, backups),
  ]
}

function machineRoutes(context: AppContext, backups: Backups | undefined): Route[] {
  const { settings, store, clock } = context
  return [
    ...settingsRoutes({
      settings: settings.map(({ sourceName: source_name, isSecret: secret, ...setting }) => ({
        ...setting,
        ...{ source_name, secret },
      })),
    }),
    ...certificateRoutes({
      list: () => listCertificates(context),
      order: host => store.run('orderCertificate', { host, now: clock.now() }),
    }),
    ...releaseRoutes({ version, readChangelog }),
    ...logTailRoutes({ tail: sharedLogTail() }),
    ...storageRoutes({ view: () => viewStorage(context) }),
    ...backupRoutes({
      view: () => viewBackups(context, backups),
      tasks: backups && { run: () => backups.schedule.runSoon(), verify: backups.verify },
    }),
  ]
}

async function viewStorage({ config: { dataDir }, clock, store }: AppContext): Promise<StorageView> {
  const use = await measureDisk(dataDir, store.location, store.db)
  const growth = growthOf(dataDir, use, clock.now())
  return {
    object: 'storage',
    data_dir: dataDir,
    disk: { free_bytes: use.diskFree ?? null, size_bytes: use.diskSize ?? null },
    database: {
      engine: store.location.kind,
      bytes: use.databaseBytes ?? null,
      wal_bytes: use.walBytes ?? null,
    },
    growth: growth
      ? {
          since: timestamp(growth.since),
          disk_bytes_per_day: growth.disk,
          database_bytes_per_day: growth.database,
          days_left: growth.daysLeft,
        }
      : null,
  }
}

const LIST_MS_MAX = 5_000

/** The place of backups may not answer, and a backup in progress keeps the process of backups busy. */
async function viewBackups(
  { config: { dataDir, backup }, clock }: AppContext,
  backups: Backups | undefined,
): Promise<BackupsView> {
  const { folder, everyHours: every_hours, keep } = backup
  const record = readRecord(dataDir)
  const last = lastMade(record)
  const failure = folder === null ? undefined : record.failed[folder]
  const checked = backups?.verification()
  const listed = backups
    ? await within(clock, LIST_MS_MAX, backups.list()).catch((error: Error) => error)
    : []
  const isListed = Array.isArray(listed)
  return {
    object: 'backups',
    ...{ folder, every_hours, keep },
    running: backups?.schedule.isUnderWay ?? false,
    next_at: timestamp(backups?.schedule.nextAt ?? null),
    last: last ? { folder: last.folder, at: timestamp(last.at) } : null,
    failure: failure ? { at: timestamp(failure.at), reason: failure.reason } : null,
    verification: checked
      ? {
          name: checked.name,
          started_at: timestamp(checked.startedAt),
          finished_at: timestamp(checked.finished?.at ?? null),
          faults: checked.finished?.faults ?? null,
        }
      : null,
    data: isListed ? listed.map(backupView) : null,
    error: isListed ? null : (listed?.message ?? 'The place of backups did not answer in time.'),
  }
}

function backupView({ name, madeAt, contents, fault }: ListedBackup) {
  return {
    name,
    created_at: timestamp(madeAt),
    version: contents?.version ?? null,
    database_bytes: contents?.databaseBytes ?? null,
    files: contents?.files ?? null,
    secret_key: contents?.hasSecretKey ?? null,
    error: fault,
  }
}

/** Lists the certificate of the listeners, then those of the tracking hosts that lead here. */
async function listCertificates({ config, store, clock, security }: AppContext): Promise<CertificateView[]> {
  const { mailHost, acme, http, smtp } = config
  const states = acme.enabled ? await listCertificateStates(store.db) : []
  const own = new X509Certificate(security.certificates.current().cert)
  const endsAt = own.validToDate.getTime()
  const state = states.find(({ host }) => host === mailHost)
  const isIssued = state?.endsAt === endsAt
  const hasTracking = acme.enabled && http.tlsListen !== null
  const tracking = hasTracking ? await listTrackingHosts(store.db, trackingBaseOf(config)) : []
  const hosts = new Set(tracking.flatMap(({ host, leadsHere }) => (leadsHere ? [host] : [])))
  return [
    {
      host: mailHost,
      source: isIssued ? 'authority' : smtp.tls.certFile === null ? 'self_signed' : 'file',
      names: (own.subjectAltName ?? '').split(', ').map(name => name.replace(/^DNS:/, '')),
      issuer: own.issuer.replaceAll('\n', ', '),
      valid_from: timestamp(own.validFromDate.getTime()),
      expires_at: timestamp(endsAt),
      order: state ? orderOf(state, clock.now()) : null,
    },
    ...states
      .filter(({ host }) => hosts.has(host))
      .map(
        (other): CertificateView => ({
          host: other.host,
          source: other.endsAt === null ? null : 'authority',
          names: JSON.parse(other.names),
          issuer: null,
          valid_from: timestamp(other.startsAt),
          expires_at: timestamp(other.endsAt),
          order: orderOf(other, clock.now()),
        }),
      ),
  ]
}

function orderOf({ nextAt, failedAt, fault, leaseUntil }: CertificateState, now: number) {
  const status = leaseUntil > now ? 'in_progress' : fault === null ? 'waiting' : 'failed'
  return { status, next_at: timestamp(nextAt), failed_at: timestamp(failedAt), error: fault } as const
}
