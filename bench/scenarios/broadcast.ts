/**
 * A broadcast to many contacts, each with words of its own: from the order to send it to the last message
 * delivered. Postfix gets its messages as a list program would hand them over, and signs and delivers them
 * while they come; besides, it is timed as it empties a queue that was filled and signed before, which is no
 * whole broadcast.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { draftTo, signedIn } from '../kit/api.ts'
import type { Contender } from '../kit/contender.ts'
import { LONG_WARM_UP_COUNT, SMTP_CONNECTIONS, WARM_UP_COUNT } from '../kit/load.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { BY_SMTP_SOURCE, postfix } from '../kit/postfix.ts'
import { watchPeakRss, weighThreads } from '../kit/process.ts'
import { type Column, cpuSplit, type Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { type Sink, withSink } from '../kit/sink.ts'
import { epochNow } from '../kit/time.ts'

export const broadcast: Scenario = {
  what: 'a broadcast, signed: from the order to the last message delivered',
  rounds: 3,
  count: 20_000,
  domainCount: 1,
  run,
}

const SIGNED_BEFORE = 'Postfix + OpenDKIM, signed before'

const COLUMNS: Column[] = [
  {
    figure: 'drainedPerSecond',
    title: 'delivered/s',
    digits: 0,
    against: ['Postfix + OpenDKIM', `Postfix + OpenDKIM${BY_SMTP_SOURCE}`, SIGNED_BEFORE],
  },
  { figure: 'drainSeconds', title: 's', digits: 1 },
  { figure: 'expandedPerSecond', title: 'made into emails/s', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000', digits: 2 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
  { figure: 'bytesPerRecipient', title: 'database, bytes a recipient', digits: 0 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

const LOOK_EVERY_MS = 50

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, options.domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const handed = postfix(folder, { signing: true })
  const handedSlowly = postfix(folder, { signing: true, bySmtpSource: true })
  const queued = { ...postfix(folder, { signing: true }), name: SIGNED_BEFORE }
  const measurements = await inTurns(options, [handed, handedSlowly, queued, ours], contender =>
    withSink(folder, sink =>
      withStarted(contender, { held: contender === queued }, () => {
        if (contender === ours) return sendBroadcast(ours, sink, options)
        return (contender === queued ? letGo : handOver)(contender, sink, options)
      }),
    ),
  )
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** The time begins with the first message after the warm-up. */
async function handOver(contender: Contender, sink: Sink, { count, domainCount }: ScenarioOptions) {
  await contender.feed({ count: WARM_UP_COUNT, domainCount, connections: SMTP_CONNECTIONS })
  await sink.reached(WARM_UP_COUNT)
  const threadsBefore = weighThreads(contender.roots())
  const cpuBefore = contender.weigh().cpuSeconds
  const rss = watchPeakRss(contender.roots)
  const at = epochNow()
  await contender.feed({ count, domainCount, connections: SMTP_CONNECTIONS })
  const sentCount = WARM_UP_COUNT + count
  const drainSeconds = ((await sink.reached(sentCount)) - at) / 1_000
  const extraCount = sink.count() - sentCount
  return figures(contender, {
    ...{ count, drainSeconds, extraCount, threadsBefore, cpuBefore, peakRss: rss.stop() },
  })
}

/** Its queue is full when the time begins. */
async function letGo(contender: Contender, sink: Sink, { count, domainCount }: ScenarioOptions) {
  await contender.feed({ count, domainCount, connections: SMTP_CONNECTIONS })
  const threadsBefore = weighThreads(contender.roots())
  const { at, cpuSeconds: cpuBefore } = await contender.release()
  const rss = watchPeakRss(contender.roots)
  const drainSeconds = ((await sink.reached(count)) - at) / 1_000
  const extraCount = sink.count() - count
  return figures(contender, {
    ...{ count, drainSeconds, extraCount, threadsBefore, cpuBefore, peakRss: rss.stop() },
  })
}

/**
 * The time begins with the order, after another broadcast: emails are made of contacts while they are
 * delivered.
 */
async function sendBroadcast(ours: MailhornContender, sink: Sink, { count, domainCount }: ScenarioOptions) {
  const call = await signedIn(ours)
  const warmUp = await draftTo(call, { name: 'some', count: LONG_WARM_UP_COUNT, domainCount })
  await call('POST', `/broadcasts/${warmUp.id}/send`, {})
  await sink.reached(LONG_WARM_UP_COUNT)
  const draft = await draftTo(call, { name: 'all', count, domainCount })
  const bytesBefore = bytesOf(ours)
  const threadsBefore = weighThreads(ours.roots())
  const cpuBefore = ours.weigh().cpuSeconds
  const rss = watchPeakRss(ours.roots)
  const at = epochNow()
  await call('POST', `/broadcasts/${draft.id}/send`, {})
  let expandSeconds = 0
  const expanding = (async () => {
    while ((await call('GET', `/broadcasts/${draft.id}`)).progress.expanded < count)
      await pause(LOOK_EVERY_MS)
    expandSeconds = (epochNow() - at) / 1_000
  })()
  const sentCount = LONG_WARM_UP_COUNT + count
  const drainSeconds = ((await sink.reached(sentCount)) - at) / 1_000
  await expanding
  const extraCount = sink.count() - sentCount
  return {
    ...figures(ours, { count, drainSeconds, extraCount, threadsBefore, cpuBefore, peakRss: rss.stop() }),
    expandedPerSecond: count / expandSeconds,
    bytesPerRecipient: (bytesOf(ours) - bytesBefore) / count,
  }
}

/** Returns the size of the database's pages in use, including pages that are still in the WAL. */
function bytesOf(ours: MailhornContender): number {
  const database = new Database(ours.databaseFile(), { readonly: true })
  const [pages, free, size] = ['page_count', 'freelist_count', 'page_size'].map(
    name => database.pragma(name, { simple: true }) as number,
  ) as [number, number, number]
  database.close()
  return (pages - free) * size
}

interface Run {
  count: number
  drainSeconds: number
  /** Messages that the sink got twice. */
  extraCount: number
  threadsBefore: ReadonlyMap<string, number>
  cpuBefore: number
  peakRss: number
}

function figures(
  contender: Contender,
  { count, drainSeconds, extraCount, threadsBefore, cpuBefore, peakRss }: Run,
) {
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  return {
    drainedPerSecond: count / drainSeconds,
    drainSeconds,
    cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
    peakRssMb: peakRss / 2 ** 20,
    extraCount,
    ...cpuSplit(threadsBefore, weighThreads(contender.roots()), { total: cpuSeconds, count }),
  }
}
