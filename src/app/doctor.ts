/**
 * Selects the examinations of `mailhorn doctor` and `GET /doctor` by the configuration, and runs them. Part
 * of the composition root.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/config.ts'
import { isServiceRunning } from '../interfaces/cli/installation.ts'
import { backups } from '../interfaces/doctor/backup.ts'
import { baseUrl } from '../interfaces/doctor/base-url.ts'
import { blocklists } from '../interfaces/doctor/blocklists.ts'
import { certificate, givenCertificate } from '../interfaces/doctor/certificate.ts'
import { mailFilters } from '../interfaces/doctor/filters.ts'
import { type DoctorReport, type Examination, examineAll } from '../interfaces/doctor/finding.ts'
import { inboundMail } from '../interfaces/doctor/inbound.ts'
import {
  diskSpace,
  diskSync,
  filePermissions,
  openFiles,
  serviceState,
} from '../interfaces/doctor/machine.ts'
import { mtaSts } from '../interfaces/doctor/mta-sts.ts'
import { reverseNames, type SendingAddress } from '../interfaces/doctor/names.ts'
import { outboundPort } from '../interfaces/doctor/outbound-port.ts'
import { providerZone } from '../interfaces/doctor/provider-zone.ts'
import { databaseSchema } from '../interfaces/doctor/schema.ts'
import { backgroundTasks } from '../interfaces/doctor/tasks.ts'
import { wallClock } from '../interfaces/doctor/wall-clock.ts'
import {
  freePorts,
  ownAddresses,
  type PlannedListener,
  parentDelegation,
  pointers,
  reservedName,
} from '../interfaces/setup/host-checks.ts'
import type { Clock } from '../lib/clock.ts'
import { hostPort } from '../lib/host-port.ts'
import { openFileLimit } from '../lib/open-files.ts'
import { readServiceMode } from '../pipeline/queue/service-mode.ts'
import { isGlobalUnicast } from '../protocols/dns/address-safety.ts'
import { createResolver, type Resolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { findCertificate } from '../resources/certificates/certificate-rows.ts'
import { createCheckSessions } from '../resources/domains/check-session.ts'
import { isLaboratory } from '../resources/domains/checker.ts'
import { listZone } from '../resources/domains/zone-list.ts'
import { readRecord } from '../store/backup/record.ts'
import { migrations } from '../store/migrations/index.ts'
import type { Db } from '../store/model/schema.ts'
import { databaseFile, locate } from '../store/opening/dialect.ts'
import { listSnapshots, snapshotFolder } from '../store/opening/snapshots.ts'
import { appliedMigrations } from '../store/opening/start-check.ts'
import { publishedPolicy } from '../store/reading/settings.ts'
import { parkedTasks } from './crashes.ts'
import { interfaceAddresses, policyOf, zoneRecords } from './dns.ts'
import { fdBudget } from './fd-budget.ts'
import { mxFaultOf } from './mta-sts.ts'
import { listenersOf } from './start-faults.ts'
import { version } from './version.ts'

const SAMPLE_KEYS = 3

/**
 * @param db null when there is no database yet
 * @param isRunning whether the service runs, and is this process
 */
export async function runDoctor(
  config: Config,
  db: Db | null,
  clock: Clock,
  isRunning: boolean,
): Promise<DoctorReport> {
  const { mailHost, dns } = config
  await using stack = new AsyncDisposableStack()
  const network = openNetwork(config, clock, stack)
  const { resolver, inquiries } = network
  const policyId = db ? await publishedPolicy(db) : undefined
  const records = zoneRecords(config, 0, policyId)
  const addresses = sendingAddresses(config, records)
  const examinations = [
    serviceState({
      ...{ isRunning, version, folder: config.dataDir },
      mode: db ? await readServiceMode(db) : undefined,
    }),
    outboundOf(config, network),
    reverseNames({ resolver, addresses }),
    ...providerZone({
      mailHost,
      inquiries,
      records,
      reportsTo: dns.reportsTo,
      laboratory: isLaboratory(mailHost),
      sampleKeys: async () =>
        db === null ? [] : (await listZone(db, [], mailHost, { limit: SAMPLE_KEYS, offset: 0 })).rows,
    }),
    baseUrlOf(config),
    ...inboundOf(config, network),
    ...mtaStsOf(config, { records, resolver, policyId, clock }),
    mailFilters({ filters: { ...config.spam, ...config.virus }, clock }),
    blocklists({
      resolver,
      addresses: addresses.map(({ address }) => address),
      lists: config.doctor.blocklists,
    }),
    ...certificateOf(config, db, clock),
    ...clockOf(config, network),
    diskSpace({ folder: existingFolder(config.dataDir) }),
    ...(existsSync(config.dataDir) ? [diskSync({ folder: config.dataDir, clock })] : []),
    filePermissions(storedFilesOf(config)),
    openFiles(filesOf(config)),
    schemaOf(config, db),
    ...backupsOf(config, db, clock),
    backgroundTasks(() => parkedTasks(config.dataDir, clock.now()), isRunning),
  ]
  return await examineAll(examinations, clock)
}

/**
 * Checks a host on which the service does not run yet, for `mailhorn init`, or not with these settings.
 * @param addresses public addresses of the host
 * @param running configuration of this process, if it is the service
 */
export async function examineHost(
  config: Config,
  addresses: readonly string[],
  clock: Clock,
  running?: Config,
): Promise<DoctorReport> {
  const { mailHost, doctor } = config
  await using stack = new AsyncDisposableStack()
  const network = openNetwork(config, clock, stack)
  const { resolver, inquiries } = network
  const examinations = [
    ownAddresses(addresses, interfaceAddresses()),
    ...(running
      ? newPorts(config, running)
      : [freePorts(plannedListeners(config), await isServiceRunning(config.dataDir))]),
    outboundOf(config, network),
    pointers({ resolver, addresses, mailHost }),
    isLaboratory(mailHost) ? reservedName(mailHost) : parentDelegation({ mailHost, addresses, inquiries }),
    blocklists({ resolver, addresses, lists: doctor.blocklists }),
    ...clockOf(config, network),
    diskSpace({ folder: existingFolder(config.dataDir) }),
  ]
  return await examineAll(examinations, clock)
}

/** Opens what the checks reach other hosts with. The stack closes it. */
function openNetwork({ dns, delivery, fetch }: Config, clock: Clock, stack: AsyncDisposableStack) {
  const { authorityPort, verifyResolvers: servers } = dns
  const { allowPrivateAddresses } = delivery
  const resolver = createResolver({ servers: dns.resolvers, clock })
  stack.defer(resolver.close)
  const outbound = createOutbound({ resolver, clock, allowLoopback: fetch.allowLoopback })
  stack.defer(outbound.close)
  const inquiries = createCheckSessions({ servers, clock, authorityPort, allowPrivateAddresses })
  stack.defer(inquiries.close)
  const isAllowed = (address: string) => allowPrivateAddresses || isGlobalUnicast(address)
  return { resolver, outbound, inquiries, clock, isAllowed }
}

type Network = ReturnType<typeof openNetwork>

function outboundOf(
  { delivery: { port, smartHost }, doctor: { probes } }: Config,
  { resolver, clock, isAllowed }: Network,
): Examination {
  return outboundPort({ resolver, clock, isAllowed, port, probes, smartHost })
}

/** Checks the clock against the web server of the configuration; none without one. */
export function clockOf(
  { doctor: { clockUrl: url } }: Config,
  { outbound, clock }: Pick<Network, 'outbound' | 'clock'>,
): Examination[] {
  return url === '' ? [] : [wallClock({ outbound, clock, url })]
}

function plannedListeners(config: Config): PlannedListener[] {
  return listenersOf(config).flatMap(({ key, place }) => {
    const tcp = { ...place, transport: 'tcp' as const }
    return key === 'dns.listen' ? [tcp, { ...place, transport: 'udp' as const }] : [tcp]
  })
}

/** Checks the ports that the service does not listen on yet; none if it listens on all. */
function newPorts(config: Config, running: Config): Examination[] {
  const own = plannedListeners(running)
  const others = plannedListeners(config).filter(
    ({ port, transport }) => !own.some(used => used.port === port && used.transport === transport),
  )
  return others.length === 0 ? [] : [freePorts(others)]
}

/** The data folder, or the nearest folder above it that exists. */
function existingFolder(folder: string): string {
  return existsSync(folder) ? folder : existingFolder(dirname(folder))
}

function baseUrlOf({ http, tracking, mailHost }: Config): Examination {
  const { host, port } = http.listen ?? { host: '127.0.0.1', port: 0 }
  return baseUrl({
    mailHost,
    laboratory: isLaboratory(mailHost),
    baseUrl: http.baseUrl,
    trackingBaseUrl: tracking.baseUrl,
    listensAt: hostPort(host, port),
  })
}

function inboundOf(
  { mailHost, smtp, delivery }: Config,
  { resolver, clock, isAllowed }: Network,
): Examination[] {
  return smtp.inbound.listen
    ? [inboundMail({ resolver, clock, isAllowed, mailHost, port: delivery.port })]
    : []
}

function mtaStsOf(
  config: Config,
  {
    records,
    policyId,
    ...network
  }: {
    records: ReturnType<typeof zoneRecords>
    resolver: Resolver
    policyId: string | undefined
    clock: Clock
  },
): Examination[] {
  const enforced = policyOf(config, records, 'enforce')
  if (!enforced) return []
  const mode = enforced.id === policyId && config.smtp.inbound.mtaSts === 'enforce' ? 'enforce' : 'testing'
  return [
    mtaSts({
      mailHost: config.mailHost,
      port: config.delivery.port,
      publishedMode: policyId === undefined ? null : mode,
      findFault: () => mxFaultOf(config, records, network),
    }),
  ]
}

/** Checks the certificate of the SMTP listeners, given as files or issued by ACME; none with neither. */
export function certificateOf({ mailHost, smtp, acme }: Config, db: Db | null, clock: Clock): Examination[] {
  const { certFile, keyFile } = smtp.tls
  if (certFile !== null) return [certificate({ certFile, keyFile, mailHost, clock })]
  const find = async () => (db === null ? undefined : findCertificate(db, mailHost))
  return acme.enabled ? [givenCertificate({ find, mailHost, clock })] : []
}

/** Checks the age of the last backup. */
export function backupsOf(
  { dataDir, backup: { folder }, doctor: { backupDays: daysMax } }: Config,
  db: Db | null,
  clock: Clock,
): Examination[] {
  if (daysMax === 0) return []
  const madeAt = async () => {
    const first = await db?.selectFrom('users').select('createdAt').orderBy('id').limit(1).executeTakeFirst()
    return first?.createdAt
  }
  return [backups({ read: () => readRecord(dataDir), folder, daysMax, madeAt, clock })]
}

/** @param db null when there is no database yet, or when it has the schema of another version */
function schemaOf({ dataDir, database }: Config, db: Db | null): Examination {
  const location = locate({ dataDir, url: database.url })
  const file = databaseFile(location)
  const known = migrations.map(({ name }) => name)
  return databaseSchema({
    applied: async () => (db === null ? appliedMigrations(location) : known),
    known,
    snapshots: () => (file === undefined ? null : listSnapshots(snapshotFolder(file))),
    keep: database.snapshots,
  })
}

/** Sending addresses of the configuration; otherwise the addresses of the provider host. */
function sendingAddresses(
  { delivery, mailHost }: Config,
  records: ReturnType<typeof zoneRecords>,
): SendingAddress[] {
  const own = delivery.sourceIps.filter(({ address }) => isGlobalUnicast(address))
  if (own.length > 0) return own.map(({ address, name }) => ({ address, ehlo: name ?? mailHost }))
  return records.flatMap(record =>
    record.name === mailHost && (record.type === 'A' || record.type === 'AAAA')
      ? [{ address: record.address, ehlo: mailHost }]
      : [],
  )
}

/** Shares one run between concurrent callers, and its report for `REPORT_REUSE_MS` afterwards. */
export function sharedDoctorRun(
  examine: () => Promise<DoctorReport>,
  clock: Clock,
): () => Promise<DoctorReport> {
  let cached: { report: Promise<DoctorReport>; until: number } | undefined
  return () => {
    if (cached && clock.monotonic() < cached.until) return cached.report
    const entry = { report: examine(), until: Number.POSITIVE_INFINITY }
    cached = entry
    entry.report.then(
      () => {
        entry.until = clock.monotonic() + REPORT_REUSE_MS
      },
      () => {
        cached = undefined // the callers get the error; the next call runs again
      },
    )
    return entry.report
  }
}

const REPORT_REUSE_MS = 30_000

function storedFilesOf({ dataDir, database: { url } }: Config) {
  const location = locate({ dataDir, url })
  return { dataDir, blobFolder: location.blobFolder, databaseFile: databaseFile(location) }
}

function filesOf(config: Config) {
  const { deliveries: allowed, http: requests } = fdBudget(config)
  return { limit: openFileLimit(), wanted: config.delivery.connections, allowed, requests }
}
