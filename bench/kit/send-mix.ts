/**
 * Everyday mail of a small installation, from a process of its own: seven messages a second by API, port 465
 * and port 25, some with attachments, a broadcast now and then, and a dashboard that is looked at. Arguments:
 * seconds, ports of API, 465 and 25, key, token, and the ids of the broadcasts, which are sent in turn.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type LargeResult, sender, untilAccepted } from './send-large.ts'

const SECOND_MS = 1_000
const LOOK_EVERY_MS = 1_600
const PAGES = ['/emails?limit=50', '/emails/metrics', '/broadcasts', '/inbound?limit=50']

const [seconds = '', api = '', submission = '', inbound = '', key = '', token = '', ...broadcasts] =
  process.argv.slice(2)
const result: LargeResult = { accepted: 0, refused: 0, failures: [] }
const small = sender('api', 3_000, Number(api), key)
const file = sender('api', 99_000, Number(api), key)
const submitted = sender('465', 300_000, Number(submission), key)
const received = sender('25', 99_000, Number(inbound), key)
const everySecond = [small, small, small, small, file, submitted, received]

const endsAt = performance.now() + Number(seconds) * SECOND_MS
const broadcastEveryMs = (Number(seconds) * SECOND_MS) / (broadcasts.length + 1)
await Promise.all([sendMail(), pollDashboard(), sendBroadcasts()])
console.log(JSON.stringify(result))

async function sendMail() {
  const sent: Promise<void>[] = []
  for (let at = performance.now(); at < endsAt; at += SECOND_MS) {
    await pause(Math.max(0, at - performance.now()))
    for (const send of everySecond) sent.push(untilAccepted(send, result))
  }
  await Promise.all(sent)
}

async function pollDashboard() {
  while (performance.now() < endsAt) {
    for (const path of PAGES) await ask('GET', path)
    await pause(LOOK_EVERY_MS)
  }
}

async function sendBroadcasts() {
  for (const id of broadcasts) {
    await pause(broadcastEveryMs)
    await ask('POST', `/broadcasts/${id}/send`)
  }
}

async function ask(method: string, path: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = method === 'POST' ? { body: '{}' } : {}
  try {
    const response = await fetch(`http://127.0.0.1:${api}${path}`, { method, headers, ...body })
    await response.arrayBuffer()
    if (response.status >= 400 && response.status !== 503)
      result.failures.push(`${path}: HTTP ${response.status}`)
  } catch (error) {
    result.failures.push(`${path}: ${(error as Error).message}`)
  }
}
