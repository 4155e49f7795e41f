/** For how long large request bodies hold the thread that serves everybody, and what they take of memory. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Delays } from '../kit/delay-probe.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { watchPeakRss } from '../kit/process.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'

export const bodies: Scenario = {
  what: 'large request bodies, eight at once: how long they hold the main thread',
  rounds: 3,
  count: 8,
  domainCount: 1,
  run,
}

const COLUMNS: Column[] = [
  { figure: 'maxMs', title: 'longest hold, ms', digits: 0 },
  { figure: 'p99Ms', title: 'p99, ms', digits: 1 },
  { figure: 'maxCpuMs', title: 'longest hold, ms of CPU', digits: 0 },
  { figure: 'mainCpuMs', title: 'CPU of the main thread, ms', digits: 0 },
  { figure: 'cpuSeconds', title: 'CPU of all, s', digits: 1 },
  { figure: 'seconds', title: 'until all are answered, s', digits: 1 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
  { figure: 'restRssMb', title: '12 s later, MB', digits: 0 },
]

const BODY_BYTES = 36 * 1024 * 1024
const KINDS = ['base64', 'html', 'integers', 'wrong', 'wrong-small']
const REST_MS = 12_000
const SENDER = fileURLToPath(new URL('../kit/send-bodies.ts', import.meta.url))

/** Runs the scenario. With `--before`, another checkout is measured in each round, too. */
async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, rounds, count, signingSlots, before } = options
  const unbound = await prepareNetwork(folder, 1)
  const delaysFile = join(folder, 'delays.json')
  const start = (root?: string) => mailhorn(folder, { signingSlots, root, delaysFile })
  const contenders = [...(before ? [['before', start(before)] as const] : []), ['now', start()] as const]
  const measurements: Measurement[] = []
  for (let round = 1; round <= rounds; round++)
    for (const kind of KINDS)
      for (const [name, contender] of contenders)
        await withStarted(contender, { held: true }, async () => {
          const figures = await measured(contender, delaysFile, kind, count)
          measurements.push({ contender: `${kind}, ${name}`, figures })
          console.log(JSON.stringify({ round, kind, name, ...figures }))
        })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function measured(contender: MailhornContender, delaysFile: string, kind: string, count: number) {
  const pid = contender.roots()[0]!
  await delaysSince(pid, delaysFile)
  const cpuBefore = contender.weigh().cpuSeconds
  const rss = watchPeakRss(contender.roots)
  const { url, apiKey } = contender.access()
  const args = [SENDER, kind, String(count), String(BODY_BYTES), url, apiKey]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { statuses, elapsedMs } = JSON.parse(stdout) as { statuses: number[]; elapsedMs: number }
  const { p99Ms, maxMs, maxCpuMs, cpuMs } = await delaysSince(pid, delaysFile)
  const cpuSeconds = contender.weigh().cpuSeconds - cpuBefore
  const peakRssMb = rss.stop() / 2 ** 20
  const expected = kind.startsWith('wrong')
    ? (status: number) => status >= 400
    : (status: number) => status === 200
  if (!statuses.every(expected)) throw new Error(`${kind}: answered ${statuses}`)
  await pause(REST_MS)
  return {
    maxMs,
    p99Ms,
    maxCpuMs,
    mainCpuMs: cpuMs,
    cpuSeconds,
    seconds: elapsedMs / 1_000,
    peakRssMb,
    restRssMb: contender.weigh().rssBytes / 2 ** 20,
  }
}

async function delaysSince(pid: number, file: string): Promise<Delays> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await pause(20)
  return JSON.parse(readFileSync(file, 'utf8')) as Delays
}
