/**
 * Memory on small machines: idle, with large messages at once by each door, and under a mix of everyday mail,
 * in control groups of 512 MB and 1 GB.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type MemoryCgroup, makeMemoryCgroup } from '../../test/kit/memory-cgroup.ts'
import { draftTo, signedIn } from '../kit/api.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import type { Door, LargeResult } from '../kit/send-large.ts'
import { type Sink, withSink } from '../kit/sink.ts'

export const memory: Scenario = {
  what: 'memory in 512 MB and 1 GB: idle, six messages of 20 MB at once by each door',
  rounds: 1,
  count: 6,
  domainCount: 1,
  run,
}

export const mix: Scenario = {
  what: 'memory in 512 MB and 1 GB under everyday mail for --n seconds',
  rounds: 1,
  count: 1_800,
  domainCount: 1,
  run: runMix,
}

const MIB = 2 ** 20
const MACHINES_MIB = [512, 1024]
const FILE_BYTES = 20 * MIB
const IDLE_MS = 45_000
const LOOK_EVERY_MS = 100
const DELIVERED_MS_MAX = 90_000
const PORTS = { api: 3990, '25': 2590, '465': 4690 }
const DOORS: readonly Door[] = ['api', '465', '25']
const SENDER = fileURLToPath(new URL('../kit/send-large.ts', import.meta.url))
const MIX_SENDER = fileURLToPath(new URL('../kit/send-mix.ts', import.meta.url))
const BROADCAST_EVERY_S = 180
const BROADCAST_COUNT = 500
const WEBHOOK_EVENTS = ['email.sent', 'email.delivered', 'email.received']
const FAILURES_SHOWN = 20
const ENV = {
  MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: `127.0.0.1:${PORTS['465']}`,
  MAILHORN_SMTP_INBOUND_CONNECTIONS_PER_MINUTE: '0',
  MAILHORN_SMTP_INBOUND_MTA_STS: 'off',
  MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK: 'true',
}
const COLUMNS: Column[] = [
  { figure: 'anonMb', title: 'anonymous memory, at most, MB', digits: 0 },
  { figure: 'rssMb', title: 'RSS, at most, MB', digits: 0 },
  { figure: 'accepted', title: 'accepted', digits: 0 },
  { figure: 'refused', title: 'told to come back', digits: 0 },
  { figure: 'failed', title: 'failed', digits: 0 },
  { figure: 'lost', title: 'accepted and lost', digits: 0 },
  { figure: 'kills', title: 'processes killed', digits: 0 },
  { figure: 'isAlive', title: 'service lives', digits: 0 },
]

type Measure = (
  part: string,
  ours: MailhornContender,
  machine: MemoryCgroup,
) => Promise<Measurement['figures']>

function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count } = options
  return onMachines(options, ['idle', ...DOORS, 'all'], (part, ours, machine) => {
    if (part === 'idle') return idle(ours, machine)
    const doors = part === 'all' ? DOORS : [part as Door]
    return withSink(folder, sink => burst({ ours, machine, sink, doors, count }))
  })
}

function runMix(options: ScenarioOptions): Promise<Findings> {
  return onMachines(options, ['mix'], (_, ours, machine) =>
    withSink(options.folder, () => everydayMail(ours, machine, options.count)),
  )
}

async function onMachines(
  options: ScenarioOptions,
  parts: readonly string[],
  measure: Measure,
): Promise<Findings> {
  const { folder, rounds, only } = options
  const unbound = await prepareNetwork(folder, 1)
  const measurements: Measurement[] = []
  for (let round = 1; round <= rounds; round++)
    for (const machineMib of MACHINES_MIB)
      for (const part of parts) {
        const contender = `${machineMib} MB, ${part}`
        if (only && !contender.includes(only)) continue
        const figures = await onMachine(options, machineMib, (ours, machine) => measure(part, ours, machine))
        measurements.push({ contender, figures })
        console.log(JSON.stringify({ contender, ...figures }))
      }
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function onMachine(
  { folder, signingSlots, profiles, before }: ScenarioOptions,
  machineMib: number,
  measure: (ours: MailhornContender, machine: MemoryCgroup) => Promise<Measurement['figures']>,
) {
  const machine = makeMemoryCgroup(machineMib * MIB)
  if (!machine) throw new Error('this needs control groups for memory, and root')
  const { launcher } = machine
  const ours = mailhorn(folder, { signingSlots, profiles, env: ENV, root: before, launcher })
  try {
    return await withStarted(ours, { held: false }, () => measure(ours, machine))
  } finally {
    machine.close()
  }
}

async function idle(ours: MailhornContender, machine: MemoryCgroup) {
  await pause(IDLE_MS)
  return {
    anonMb: machine.anonymousBytes() / MIB,
    rssMb: ours.weigh().rssBytes / MIB,
    ...fate(ours, machine),
  }
}

interface Burst {
  ours: MailhornContender
  machine: MemoryCgroup
  sink: Sink
  doors: readonly Door[]
  /** Messages by each door. */
  count: number
}

async function burst({ ours, machine, sink, doors, count }: Burst) {
  const watch = watchPeaks(ours, machine)
  const { apiKey } = ours.access()
  const results = await Promise.all(doors.map(door => send(door, count, apiKey)))
  const sum = (figure: 'accepted' | 'refused') => results.reduce((all, result) => all + result[figure], 0)
  const failures = results.flatMap(result => result.failures)
  if (failures.length > 0) console.log(failures.join('\n'))
  const sent = results.filter((_, i) => doors[i] !== '25').reduce((all, { accepted }) => all + accepted, 0)
  const stored = countOf(ours, 'emails') + countOf(ours, 'inbound_messages')
  const isDelivered = () => sink.count() >= sent || ours.weigh().rssBytes === 0
  const until = performance.now() + DELIVERED_MS_MAX
  while (!isDelivered() && performance.now() < until) await pause(LOOK_EVERY_MS)
  const peaks = watch.stop()
  return {
    ...peaks,
    accepted: sum('accepted'),
    refused: sum('refused'),
    failed: failures.length,
    lost: Math.max(0, sum('accepted') - stored),
    undelivered: sent - sink.count(),
    ...fate(ours, machine),
  }
}

/** Sends the mix with a broadcast to 500 about every three minutes, while a webhook hears of all events. */
async function everydayMail(ours: MailhornContender, machine: MemoryCgroup, seconds: number) {
  const hooks = new Worker(new URL('../kit/hook-sink.ts', import.meta.url))
  const [port] = (await once(hooks, 'message')) as [number]
  const call = await signedIn(ours)
  await call('POST', '/webhooks', { url: `http://127.0.0.1:${port}/`, events: WEBHOOK_EVENTS })
  const broadcasts: string[] = []
  for (let at = BROADCAST_EVERY_S; at < seconds; at += BROADCAST_EVERY_S)
    broadcasts.push((await draftTo(call, { name: `${at}`, count: BROADCAST_COUNT, domainCount: 1 })).id)
  const watch = watchPeaks(ours, machine)
  const { apiKey } = ours.access()
  const ports = [PORTS.api, PORTS['465'], PORTS['25']]
  const token = call.headers.authorization.replace('Bearer ', '')
  const args = [MIX_SENDER, seconds, ...ports, apiKey, token, ...broadcasts].map(String)
  const result = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as LargeResult
  const peaks = watch.stop()
  await hooks.terminate()
  if (result.failures.length > 0) console.log(result.failures.slice(0, FAILURES_SHOWN).join('\n'))
  const stored = countOf(ours, 'emails where broadcast_id is null') + countOf(ours, 'inbound_messages')
  return {
    ...peaks,
    accepted: result.accepted,
    refused: result.refused,
    failed: result.failures.length,
    lost: Math.max(0, result.accepted - stored),
    ...fate(ours, machine),
  }
}

async function send(door: Door, count: number, apiKey: string): Promise<LargeResult> {
  const args = [SENDER, door, count, FILE_BYTES, PORTS[door], apiKey].map(String)
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as LargeResult
}

function fate(ours: MailhornContender, machine: MemoryCgroup) {
  return { kills: machine.killCount(), isAlive: Number(ours.weigh().rssBytes > 0) }
}

/** @param rows a table, with the condition of its rows if not all count */
function countOf(ours: MailhornContender, rows: string): number {
  const database = new Database(ours.databaseFile(), { readonly: true })
  const row = database.prepare(`select count(*) as count from ${rows}`).get()
  database.close()
  return (row as { count: number }).count
}

function watchPeaks(ours: MailhornContender, machine: MemoryCgroup) {
  const peaks = { anonMb: 0, rssMb: 0 }
  const sample = () => {
    peaks.anonMb = Math.max(peaks.anonMb, machine.anonymousBytes() / MIB)
    peaks.rssMb = Math.max(peaks.rssMb, ours.weigh().rssBytes / MIB)
  }
  const timer = setInterval(sample, LOOK_EVERY_MS)
  return {
    stop() {
      clearInterval(timer)
      sample()
      return peaks
    },
  }
}
