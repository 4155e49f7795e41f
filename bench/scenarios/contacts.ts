/**
 * A large audience: contacts imported from CSV, segments counted, contacts listed, searched and exported,
 * over HTTP.
 */
import { request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type Call, signedIn } from '../kit/api.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { median, percentile } from '../kit/numbers.ts'
import { watchPeakRss } from '../kit/process.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'

export const contacts: Scenario = {
  what: 'import, segments, search and export of many contacts',
  rounds: 1,
  count: 1_000_000,
  domainCount: 1,
  run,
}

/** Number of requests per query. */
const ASKED = 20
const WARM_UP_ASKED = 2
const PIECE_ROWS = 1_000

const COLUMNS: Column[] = [
  { figure: 'rowsPerSecond', title: 'rows/s', digits: 0 },
  { figure: 'rssBeforeMb', title: 'RSS before, MB', digits: 0 },
  { figure: 'rssAtTenthMb', title: 'at a tenth, MB', digits: 0 },
  { figure: 'rssAtHalfMb', title: 'at half, MB', digits: 0 },
  { figure: 'rssAtEndMb', title: 'at the end, MB', digits: 0 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
  { figure: 'bytesPerRow', title: 'database, bytes a row', digits: 0 },
  { figure: 'medianMs', title: 'median, ms', digits: 1 },
  { figure: 'p95Ms', title: 'p95, ms', digits: 1 },
  { figure: 'found', title: 'found', digits: 0 },
]

const PLANS = ['free', 'free', 'free', 'pro', 'scale']
const CITIES = Array.from({ length: 1_000 }, (_, i) => `City ${i}`)
const NAMES = ['Ann', 'Bob', 'Cid', 'Dan', 'Eva', 'Fay', 'Gil', 'Kim']

/** Some 70 bytes. */
function rowOf(i: number): string {
  const name = NAMES[i % NAMES.length]!
  const [plan, city] = [PLANS[i % PLANS.length]!, CITIES[(i * 7) % CITIES.length]!]
  return `${name.toLowerCase()}.${i}@contacts${i % 50}.example,${name},Number ${i},${plan},${city},${i % 365}\n`
}

export function* fileOf(count: number): Generator<string> {
  yield 'email,first_name,last_name,plan,city,days\n'
  for (let i = 0; i < count; i += PIECE_ROWS) {
    let piece = ''
    for (let n = i; n < Math.min(count, i + PIECE_ROWS); n++) piece += rowOf(n)
    yield piece
  }
}

type Question = [name: string, path: (i: number) => string]

async function run({ folder, count, rounds, only, profiles }: ScenarioOptions): Promise<Findings> {
  const unbound = await prepareNetwork(folder, 1)
  const ours = mailhorn(folder, { signingSlots: [], profiles })
  const measurements: Measurement[] = []
  const note = (contender: string, figures: Measurement['figures']) => {
    measurements.push({ contender, figures })
    console.log(JSON.stringify({ contender, ...figures }))
  }
  await withStarted(ours, { held: false }, async () => {
    const call = await signedIn(ours)
    const { id } = await call('POST', '/audiences', { name: 'All' })
    const path = `/audiences/${id}`
    note('import', await measuredImport(ours, call, path, count))
    for (let round = 1; round <= rounds; round++) {
      note('import, nothing new', await measuredImport(ours, call, path, count))
      for (const [name, pathOf] of [...(await segmentsOf(call, path)), ...listsOf(path)])
        if (!only || name.includes(only)) note(name, await measuredQuestion(call, pathOf))
      note('export', await measuredExport(ours, call, path, count))
    }
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** @throws when not every row was taken in */
async function measuredImport(ours: MailhornContender, { headers }: Call, path: string, count: number) {
  const { rssBytes } = ours.weigh()
  const bytesBefore = ours.databaseBytes()
  const rss = watchPeakRss(ours.roots)
  const beganAt = performance.now()
  const upload = httpRequest(`${ours.access().url}${path}/contacts/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/csv' },
  })
  const answered = new Promise<{ created: number; unchanged: number }>((resolve, reject) => {
    upload.on('error', reject)
    upload.on('response', response => resolve(json(response) as ReturnType<typeof JSON.parse>))
  })
  const rssMbAt: number[] = []
  const sent = function* () {
    let rows = 0
    for (const piece of fileOf(count)) {
      yield piece
      rows += PIECE_ROWS
      if (rows >= ((rssMbAt.length + 1) * count) / 10) rssMbAt.push(ours.weigh().rssBytes / 2 ** 20)
    }
  }
  await pipeline(Readable.from(sent()), upload)
  const report = await answered
  if (report.created + report.unchanged !== count) throw new Error(JSON.stringify(report))
  const seconds = (performance.now() - beganAt) / 1_000
  console.log(`RSS at each tenth, MB: ${rssMbAt.map(Math.round).join(' ')}`)
  return {
    rowsPerSecond: count / seconds,
    rssBeforeMb: rssBytes / 2 ** 20,
    rssAtTenthMb: rssMbAt[0] ?? NaN,
    rssAtHalfMb: rssMbAt[4] ?? NaN,
    rssAtEndMb: ours.weigh().rssBytes / 2 ** 20,
    peakRssMb: rss.stop() / 2 ** 20,
    bytesPerRow: (ours.databaseBytes() - bytesBefore) / count,
  }
}

async function segmentsOf(call: Call, path: string): Promise<Question[]> {
  const plan = (op: string, value?: string) => ({ field: 'properties.plan', op, value })
  const segments = [
    ['segment: plan eq', [plan('eq', 'PRO')]],
    ['segment: city eq', [{ field: 'properties.city', op: 'eq', value: 'city 7' }]],
    ['segment: plan neq', [plan('neq', 'free')]],
    ['segment: plan exists', [plan('exists')]],
    [
      'segment: plan neq, city neq',
      [plan('neq', 'free'), { field: 'properties.city', op: 'neq', value: 'city 7' }],
    ],
    ['segment: plan contains', [plan('contains', 're')]],
    [
      'segment: plan and city eq',
      [plan('eq', 'pro'), { field: 'properties.city', op: 'eq', value: 'city 21' }],
    ],
    ['segment: plan eq, first name', [plan('eq', 'pro'), { field: 'first_name', op: 'eq', value: 'ann' }]],
    ['segment: email contains', [{ field: 'email', op: 'contains', value: '@contacts7.' }]],
  ] as const
  const questions: Question[] = []
  for (const [name, filters] of segments) {
    const { id } = await call('POST', `${path}/segments`, { name, filters })
    questions.push([name, () => `${path}/segments/${id}`])
  }
  return questions
}

function listsOf(path: string): Question[] {
  return [
    ['first page', () => `${path}/contacts`],
    ['a page far down', i => `${path}/contacts?offset=${i * 1_000}`],
    ['q, in many', i => `${path}/contacts?q=${NAMES[i % NAMES.length]}`],
    ['q, in one', i => `${path}/contacts?q=.${i}@`],
    ['q, in none', i => `${path}/contacts?q=nowhere${i}`],
  ]
}

/** One client that asks one after the other. */
async function measuredQuestion(call: Call, pathOf: (i: number) => string) {
  const times: number[] = []
  let found = 0
  for (let i = -WARM_UP_ASKED; i < ASKED; i++) {
    const beganAt = performance.now()
    const answer = await call('GET', pathOf(i < 0 ? ASKED - i : i))
    if (i >= 0) times.push(performance.now() - beganAt)
    found = answer.total ?? answer.contact_count
  }
  return { medianMs: median(times), p95Ms: percentile(times, 0.95), found }
}

/** @throws when it has not one line for each contact */
async function measuredExport(ours: MailhornContender, { headers }: Call, path: string, count: number) {
  const rssBeforeMb = ours.weigh().rssBytes / 2 ** 20
  const rss = watchPeakRss(ours.roots)
  const beganAt = performance.now()
  const response = await fetch(`${ours.access().url}${path}/contacts/export`, { headers })
  let lineCount = 0
  for await (const chunk of response.body!) for (const byte of chunk) if (byte === 0x0a) lineCount++
  if (lineCount !== count + 1) throw new Error(`the export of ${count} contacts has ${lineCount} lines`)
  const rowsPerSecond = (count * 1_000) / (performance.now() - beganAt)
  return { rowsPerSecond, rssBeforeMb, peakRssMb: rss.stop() / 2 ** 20 }
}
