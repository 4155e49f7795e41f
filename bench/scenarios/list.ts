/**
 * Lists, searches and the export over very many emails of one account, over HTTP, while nothing else is
 * asked.
 */
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { BLOCK_EMAILS } from '../../src/store/model/search-index.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { addManyEmails, type ManyEmails } from '../kit/many-emails.ts'
import { prepareNetwork } from '../kit/namespace.ts'
import { median, percentile } from '../kit/numbers.ts'
import { watchPeakRss } from '../kit/process.ts'
import type { Column, Findings, Measurement } from '../kit/report.ts'
import { type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'

export const list: Scenario = {
  what: 'list, search and export many emails',
  rounds: 1,
  count: 1_000_000,
  domainCount: 1,
  run,
}

/** Number of requests per query. */
const ASKED = 200
const WARM_UP_ASKED = 10
/** The newest, which are not sealed yet. */
const UNSEALED_MAX = 2 * BLOCK_EMAILS

const COLUMNS: Column[] = [
  { figure: 'medianMs', title: 'median, ms', digits: 1 },
  { figure: 'p95Ms', title: 'p95, ms', digits: 1 },
  { figure: 'maxMs', title: 'most, ms', digits: 1 },
  { figure: 'cpuMs', title: 'CPU, ms', digits: 1 },
  { figure: 'found', title: 'found, median', digits: 0 },
  { figure: 'rowsPerSecond', title: 'rows/s', digits: 0 },
  { figure: 'rssBeforeMb', title: 'RSS before, MB', digits: 0 },
  { figure: 'peakRssMb', title: 'peak RSS, MB', digits: 0 },
]

type Query = Record<string, string>
type Question = [name: string, query: (i: number) => Query]

function questionsAbout(emails: ManyEmails): Question[] {
  const { statuses } = emails
  const status = (i: number) => ({ status: statuses[i % statuses.length]! })
  const since = (i: number) => ({ created_after: emails.time(i % 100) })
  const between = (i: number) => ({
    created_after: emails.time(i % 80),
    created_before: emails.time((i % 80) + 10),
  })
  return [
    ['first page', () => ({})],
    ['a page far down', i => ({ offset: String((i % 10) * 10_000) })],
    ['status', status],
    ['q, in many subjects', i => ({ q: emails.frequentWord(i) })],
    ['q, in few subjects', i => ({ q: emails.rareWord(i) })],
    ['q, in no subject', i => ({ q: `nowhere ${i}` })],
    ['search, part of an address', i => ({ search: emails.recipient(i).split('@')[0]! })],
    ['search, a domain', i => ({ search: `@${emails.domain(i)}` })],
    ['search, two words', i => ({ search: `${emails.frequentWord(i)} ${emails.recipient(i)}` })],
    ['search, in no email', i => ({ search: `nowhere-${i}@` })],
    ['from', i => ({ from: emails.sender(i) })],
    ['to', i => ({ to: emails.recipient(i) })],
    ['tag', i => ({ tag: emails.tag(i) })],
    ['domain', i => ({ domain: emails.domain(i) })],
    ['broadcast_id', i => ({ broadcast_id: emails.broadcastId(i) })],
    ['created_after', since],
    ['created_before', i => ({ created_before: emails.time(i % 100) })],
    ['combined: status, domain', i => ({ ...status(i), domain: emails.domain(i) })],
    ['combined: q, status, times', i => ({ q: emails.frequentWord(i), ...status(i), ...between(i) })],
    ['combined: from, tag, since', i => ({ from: emails.sender(i), tag: emails.tag(i), ...since(i) })],
    ['combined: to, q', i => ({ to: emails.recipient(i), q: emails.frequentWord(i) })],
    [
      'combined: q, status, domain, tag, times',
      i => ({
        q: emails.frequentWord(i),
        ...status(i),
        domain: emails.domain(i),
        tag: emails.tag(i),
        ...between(i),
      }),
    ],
  ]
}

async function run({ folder, count, rounds, only, profiles }: ScenarioOptions): Promise<Findings> {
  const unbound = await prepareNetwork(folder, 1)
  const ours = mailhorn(folder, { signingSlots: [], profiles })
  const measurements: Measurement[] = []
  const note = (contender: string, figures: Measurement['figures']) => {
    measurements.push({ contender, figures })
    console.log(JSON.stringify({ contender, ...figures }))
  }
  await withStarted(ours, { held: true }, async () => {
    const emails = addManyEmails(ours.databaseFile(), count)
    const { at } = await ours.release()
    await ours.get('/emails') // starts the query worker, which seals
    await sealed(ours, count)
    console.log(`sealed within ${Math.round((Date.now() - at) / 1_000)} s`)
    for (let round = 1; round <= rounds; round++) {
      for (const [name, query] of questionsAbout(emails))
        if (!only || name.includes(only)) note(name, await measuredQuestion(ours, query))
      if (!only || 'export'.includes(only)) note('export', await measuredExport(ours, count))
    }
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

/** Resolves when the query worker has sealed all emails but the newest. */
async function sealed(ours: MailhornContender, count: number): Promise<void> {
  const database = new Database(ours.databaseFile(), { readonly: true })
  const segmentCount = database.prepare('select count(*) from email_segments').pluck()
  while ((segmentCount.get() as number) * BLOCK_EMAILS < count - UNSEALED_MAX) await pause(200)
  database.close()
}

/** One client that asks one after the other. */
async function measuredQuestion(ours: MailhornContender, query: (i: number) => Query) {
  const times: number[] = []
  const found: number[] = []
  let cpuBefore = 0
  for (let i = -WARM_UP_ASKED; i < ASKED; i++) {
    if (i === 0) cpuBefore = ours.weigh().cpuSeconds
    const path = `/emails?${new URLSearchParams(query(i < 0 ? ASKED - i : i))}`
    const beganAt = performance.now()
    const response = await ours.get(path)
    const { total } = (await response.json()) as { total: number }
    if (i < 0) continue
    times.push(performance.now() - beganAt)
    found.push(total)
  }
  return {
    medianMs: median(times),
    p95Ms: percentile(times, 0.95),
    maxMs: Math.max(...times),
    cpuMs: ((ours.weigh().cpuSeconds - cpuBefore) * 1_000) / ASKED,
    found: median(found),
  }
}

/** @throws when it has not one line for each email */
async function measuredExport(ours: MailhornContender, count: number) {
  const rssBeforeMb = ours.weigh().rssBytes / 2 ** 20
  const rss = watchPeakRss(ours.roots)
  const beganAt = performance.now()
  const response = await ours.get('/emails/export')
  let lineCount = 0
  for await (const chunk of response.body!) for (const byte of chunk) if (byte === 0x0a) lineCount++
  const seconds = (performance.now() - beganAt) / 1_000
  if (lineCount !== count + 1) throw new Error(`the export of ${count} emails has ${lineCount} lines`)
  return { rowsPerSecond: count / seconds, rssBeforeMb, peakRssMb: rss.stop() / 2 ** 20 }
}
