/**
 * Entry of the thread that answers for the provider zone. Anybody can have it work without end, by datagrams alone: it
 * is apart from the thread that takes requests, and behind all others when there is not enough for everybody.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createKeyTexts } from './dns/key-texts.ts'
import type { DnsListener } from './dns/listener.ts'
import { createResponseRate } from './dns/response-rate.ts'
import { createDnsServer } from './dns/server.ts'
import type { DnsRecord } from './dns/wire.ts'
import { createZone } from './dns/zone.ts'
import { keyText } from './domains/key-text.ts'
import { type ClockSeat, createAdjustableClock } from './lib/adjustable-clock.ts'
import { systemClock } from './lib/clock.ts'
import { createLog, type LogLevel } from './lib/log.ts'
import { stepBack } from './lib/thread-priority.ts'
import { MISSED } from './store/command.ts'
import { openReader, type StoreLocation } from './store/dialect.ts'
import { DKIM_KEYS_CHANGED, findPublishedKey } from './store/domains.ts'
import { createWriterClient } from './store/writer/client.ts'

export interface DnsThreadData {
  listen: readonly { host: string; port: number }[]
  /** The apex. */
  mailHost: string
  records: readonly DnsRecord[]
  /** Any number when 0. */
  responsesPerSecond: number
  location: StoreLocation
  writer: MessagePort
  clockSeat: ClockSeat | null
  logLevel: LogLevel
}

/** The ports bound, in the order of what was to be listened on. Where one cannot be, the thread dies of the error. */
export interface DnsReady {
  ports: number[]
}

const NICENESS = 10

const data = workerData as DnsThreadData
const adjustable = data.clockSeat ? createAdjustableClock(data.clockSeat) : undefined
const clock = adjustable ?? systemClock
const log = createLog(data.logLevel).child({ thread: 'dns' })
const writer = createWriterClient(data.writer, { clock })
const { db, find } = openReader(data.location)
if (!stepBack(NICENESS)) log.debug('threads cannot be told apart by priority here')

const keys = createKeyTexts({
  clock,
  async find(token) {
    const key = await findPublishedKey(find, token)
    return key && keyText(key)
  },
})
writer.on(DKIM_KEYS_CHANGED, keys.forget)
writer.on(MISSED, keys.forget)

const { mailHost, records, responsesPerSecond: perSecond } = data
const zone = createZone({ apex: mailHost, records, dkim: keys.textOf })
const rate = perSecond === 0 ? undefined : createResponseRate({ clock, perSecond })
const servers: DnsListener[] = []
const ports: number[] = []
for (const listen of data.listen) {
  const server = createDnsServer({ listen, zone, rate, log, clock })
  ports.push((await server.listen()).port)
  servers.push(server)
}
parentPort!.once('message', async () => {
  await Promise.all(servers.map(server => server.close()))
  writer.close()
  await db.destroy()
  adjustable?.close()
  parentPort!.close()
})
parentPort!.postMessage({ ports } satisfies DnsReady)
