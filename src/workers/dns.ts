/**
 * Entry of the DNS worker, which answers queries for the provider zone. Anyone can cause it unlimited work by
 * datagrams, so it runs apart from the main thread and at a lower priority than all other threads.
 */
import { workerData } from 'node:worker_threads'
import { stepBack } from '../lib/thread-priority.ts'
import { createKeyTexts } from '../protocols/dns/key-texts.ts'
import { createResponseRate } from '../protocols/dns/response-rate.ts'
import { createDnsServer } from '../protocols/dns/server.ts'
import type { DnsRecord } from '../protocols/dns/wire.ts'
import { createZone, type Zone } from '../protocols/dns/zone.ts'
import { listDnsAnswers } from '../resources/certificates/certificate-rows.ts'
import { DKIM_KEYS_CHANGED, findPublishedKey } from '../resources/domains/domain-rows.ts'
import { keyText } from '../resources/domains/key-text.ts'
import { MISSED } from '../store/model/command.ts'
import { openStoreThread, type StoreThreadData } from '../store/opening/store-thread.ts'
import { findZoneSerial, publishedPolicy, SETTING_PUT } from '../store/reading/settings.ts'
import { invalidateOn } from '../store/writer/invalidation.ts'

export interface DnsThreadData extends StoreThreadData {
  listen: readonly { host: string; port: number }[]
  /** Apex of the zone. */
  mailHost: string
  records: readonly DnsRecord[]
  /** Records while the MTA-STS policy with this id is published. */
  policies: readonly { id: string; records: readonly DnsRecord[] }[]
  /** Host names of ACME challenges that are answered by a TXT record at `_acme-challenge.<host>`. */
  provenNames: readonly string[]
  /** Responses per second; 0 for no limit. */
  responsesPerSecond: number
}

/**
 * First message of the worker: the bound ports, in the order of `listen`. If a listener cannot be bound, the
 * worker dies of the error.
 */
export interface DnsReady {
  ports: number[]
}

const NICENESS = 10

const data = workerData as DnsThreadData
const { clock, log, writer, db, find, stack, ready } = openStoreThread('dns', data)
if (!stepBack(NICENESS))
  log.debug(
    { event: 'thread_priority_not_supported' },
    'The priority of a thread cannot be set on this system',
  )

const keys = createKeyTexts({
  clock,
  async find(token) {
    const key = await findPublishedKey(find, token)
    return key && keyText(key)
  },
})
writer.on(DKIM_KEYS_CHANGED, keys.forget)
writer.on(MISSED, keys.forget)

const { mailHost, policies, provenNames, responsesPerSecond: perSecond } = data
const zoneOf = (records: readonly DnsRecord[]) =>
  createZone({
    apex: mailHost,
    records,
    provenNames,
    dkim: keys.textOf,
    proofs: name => listDnsAnswers(db, name, clock.now()),
  })
const publishedZone = async () => {
  const published = await publishedPolicy(db)
  const serial = (await findZoneSerial(db)) ?? 0
  const records = policies.find(({ id }) => id === published)?.records ?? data.records
  return zoneOf(records.map(record => (record.type === 'SOA' ? { ...record, serial } : record)))
}
let served = await publishedZone()
const refresh = async () => {
  served = await publishedZone()
}
invalidateOn(SETTING_PUT, writer, refresh, error =>
  log.error(
    { event: 'dns_zone_not_read', err: error },
    'The provider zone could not be read from the database; the previous records are served',
  ),
)
const zone: Zone = {
  get soa() {
    return served.soa
  },
  lookUp: (name, type) => served.lookUp(name, type),
}
const rate = perSecond === 0 ? undefined : createResponseRate({ clock, perSecond })
const ports: number[] = []
for (const listen of data.listen) {
  const server = createDnsServer({ listen, zone, rate, log, clock })
  ports.push((await server.listen()).port)
  stack.defer(server.close)
}
ready({ ports } satisfies DnsReady)
