/**
 * Our name server beside our mail: what it answers, and what it costs mail to be asked without end from one
 * network.
 */
import Database from 'better-sqlite3'
import { type DnsperfResult, startDnsperf } from '../kit/dnsperf.ts'
import { HTTP_CONNECTIONS, WARM_UP_COUNT } from '../kit/load.ts'
import { DNS, type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'

export const dns: Scenario = {
  what: 'answers of the name server, and mail while one network asks it 20,000 times a second',
  rounds: 3,
  count: 10_000,
  domainCount: 1,
  run,
}

const FLOOD_PER_SECOND = 20_000
const ANSWER_SECONDS = 10
/** Longer than any feed takes; it is ended before. */
const FLOOD_SECONDS = 300
const QUIET = 'mail alone'
const ELSEWHERE = 'mail while unbound is asked'
/**
 * Our resolver, which denies all of it: what the asking alone costs the machine, and a name server of others.
 */
const UNBOUND = { host: '127.0.0.1', port: 53 }
const MAIL_HOST = 'mailhorn.test'

const COLUMNS: Column[] = [
  { figure: 'answeredPerSecond', title: 'answers/s', digits: 0 },
  { figure: 'answersPerCpuSecond', title: 'answers/CPU s', digits: 0 },
  { figure: 'deliveredPerSecond', title: 'mail delivered/s', digits: 0, against: [QUIET, ELSEWHERE] },
  { figure: 'acceptedPerSecond', title: 'accepted/s meanwhile', digits: 0 },
  { figure: 'cpuSecondsPer1000', title: 'CPU s/1,000', digits: 2 },
  { figure: 'askedPerSecond', title: 'asked/s meanwhile', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, signingSlots, profiles, before } = options
  const unbound = await prepareNetwork(folder, 1)
  const ours = (name: string, env: Record<string, string> = {}, root?: string) => ({
    ...mailhorn(folder, { signingSlots, profiles, env, root }),
    name,
  })
  const unlimited = ours('answers', { MAILHORN_DNS_RESPONSES_PER_SECOND: '0' })
  const scenes: { contender: MailhornContender; requests?: typeof DNS }[] = [
    { contender: ours(QUIET) },
    { contender: ours(ELSEWHERE), requests: UNBOUND },
    { contender: ours('mail while asked'), requests: DNS },
    ...(before === undefined
      ? []
      : [{ contender: ours('mail while asked, before', {}, before), requests: DNS }]),
  ]
  const contenders = [unlimited, ...scenes.map(({ contender }) => contender)]
  const measurements = await inTurns(options, contenders, contender => {
    const scene = scenes.find(candidate => candidate.contender === contender)
    return scene ? mail(scene.contender, folder, count, scene.requests) : answers(unlimited, folder)
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** Accepted and delivered to one domain. */
function mail(contender: MailhornContender, folder: string, count: number, requests?: typeof DNS) {
  return withSink(folder, sink =>
    withStarted(contender, { held: false }, async () => {
      const load = { connections: HTTP_CONNECTIONS, domainCount: 1 }
      await contender.feed({ ...load, count: WARM_UP_COUNT })
      await sink.reached(WARM_UP_COUNT)
      const flood = requests && startFlood(contender, folder, requests)
      const cpuBefore = contender.weigh().cpuSeconds
      const [{ beganAt, elapsedMs }, deliveredAt] = await Promise.all([
        contender.feed({ ...load, count }),
        sink.reached(WARM_UP_COUNT + count),
      ])
      const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
      flood?.end()
      const result = await flood?.result
      return {
        deliveredPerSecond: (count * 1_000) / (deliveredAt - beganAt),
        acceptedPerSecond: (count * 1_000) / elapsedMs,
        cpuSecondsPer1000: (cpuSeconds * 1_000) / count,
        ...(result && { askedPerSecond: result.sentPerSecond }),
      }
    }),
  )
}

/** Measures answers per second of an otherwise idle service without rate limits. */
function answers(contender: MailhornContender, folder: string): Promise<Measurement['figures']> {
  return withStarted(contender, { held: true }, async () => {
    const queries = queriesOf(contender)
    const cpuBefore = contender.weigh().cpuSeconds
    const asking = startDnsperf({ folder, server: DNS, queries, seconds: ANSWER_SECONDS })
    const { answeredPerSecond }: DnsperfResult = await asking.result
    const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
    return { answeredPerSecond, answersPerCpuSecond: (answeredPerSecond * ANSWER_SECONDS) / cpuSeconds }
  })
}

/** From one network, without end. */
function startFlood(contender: MailhornContender, folder: string, server: typeof DNS) {
  const queries = queriesOf(contender)
  return startDnsperf({ folder, server, queries, seconds: FLOOD_SECONDS, rate: FLOOD_PER_SECOND })
}

/**
 * Returns typical queries of resolvers: mostly keys, the records beside them, and some names that do not
 * exist.
 */
function queriesOf(contender: MailhornContender): string[] {
  const database = new Database(contender.databaseFile(), { readonly: true })
  const keys = database.prepare('select token from dkim_keys').all() as { token: string }[]
  database.close()
  return [
    ...keys.map(({ token }) => `${token}.dkim.${MAIL_HOST} TXT`),
    ...['TXT', 'MX', 'A', 'NS', 'SOA'].map(type => `${MAIL_HOST} ${type}`),
    `feedback-smtp.us-west-2.${MAIL_HOST} A`,
    `${'a'.repeat(32)}.dkim.${MAIL_HOST} TXT`,
    `nowhere.${MAIL_HOST} A`,
  ]
}
