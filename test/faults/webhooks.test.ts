import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { wireId } from '../../src/lib/ids.ts'
import { type Program, printedApiKey } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { startWebHost } from '../kit/web-host.ts'
import { CA_FILE } from '../kit/webhook-sink.ts'
import type { BadEndpointCount } from './bad-endpoints.ts'
import { firstStart, openScene, PASSWORD } from './scene.ts'

const test = suite('webhooks: kills and bad endpoints', { limitMs: 240_000 })
const CYCLES = 3
const EMAILS_A_CYCLE = 100
/** Told to the endpoint that is well, half of them `email.sent`. */
const EVENTS = 10_000
const BATCH = 100
const BAD = 50
/** For the endpoints that are not, with every tenth batch; as many more events for the one that is. */
const BOUNCES = 20
const MEMORY_MB_MAX = 900

test(`${CYCLES} times under load: every event that is in the timeline is told`, async t => {
  const told = new Map<string, number>()
  const sink = createServer((request, response) => {
    const id = String(request.headers['svc-id'])
    request.resume().on('end', () => {
      told.set(id, (told.get(id) ?? 0) + 1)
      response.end()
    })
  })
  await new Promise<void>(resolve => sink.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    sink.closeAllConnections()
    sink.close()
  })
  const scene = await openScene(t)
  scene.settings.WEBHOOKS_ALLOW_INSECURE_LOOPBACK = 'true'
  let program = await firstStart(scene)
  const apiKey = printedApiKey(program)
  const post = async (path: string, body: object, token?: string) => {
    const response = await fetch(program.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { token: string; id: string }
  }
  const [user] = scene.rows<{ email: string }>('select email from users')
  const { token } = await post('/auth/login', { email: user!.email, password: PASSWORD })
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`
  await post('/webhooks', { url, events: ['email.sent', 'email.delivered'] }, token)

  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const before = told.size
    const mail = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
    await Promise.all(Array.from({ length: EMAILS_A_CYCLE }, () => post('/emails', mail, apiKey)))
    await until(() => told.size > before)
    process.kill(program.pid, 'SIGKILL')
    await program.ended
    program = await scene.start()
  }
  await until(() => told.size === CYCLES * EMAILS_A_CYCLE * 2)
  await until(() => scene.rows('select 1 from webhook_deliveries where state = 0').length === 0)
  const events = scene.rows<{ id: Uint8Array }>(
    "select id from events where type in ('email.sent', 'email.delivered')",
  )
  assert.is(events.length, told.size)
  const doubles = [...told.values()].filter(count => count > 1).length
  console.log(`${told.size} events, ${doubles} told twice`)
})

test(`${EVENTS} events beside ${BAD} endpoints that do what they can to be in the way`, async t => {
  const scene = await openScene(t)
  scene.zone.add('hooks.example.test A 127.0.0.1')
  Object.assign(scene.settings, { FETCH_ALLOW_LOOPBACK: 'true', DELIVERY_CA_FILE: CA_FILE })
  const waits: number[] = []
  const told = new Set<string>()
  const healthy = await t.using(
    startWebHost({
      answer({ headers, body }, response) {
        waits.push(Date.now() - Date.parse(JSON.parse(`${body}`).created_at))
        told.add(String(headers['svc-id']))
        response.end('ok')
      },
    }),
  )
  const urlOf = (port: number) => `https://hooks.example.test:${port}/`
  const bad = await startBadEndpoints(t)
  const program = await firstStart(scene)
  const token = await signIn(program)
  const make = async (url: string, ...events: string[]) => {
    const { status, body } = await program.call('POST', '/webhooks', { token, body: { url, events } })
    assert.is(status, 201, JSON.stringify(body))
  }
  await make(urlOf(healthy.port), 'email.sent', 'email.delivered')
  for (let i = 0; i < BAD; i++) await make(urlOf(bad.ports[i % bad.ports.length]!), 'email.bounced')
  const apiKey = printedApiKey(program)
  const send = async (local: string, count: number) => {
    const body = Array.from({ length: count }, (_, i) => ({
      ...{ from: 'ann@here.example', to: `${local}-${i}@simulator.test`, subject: 's', text: 't' },
    }))
    const { status } = await program.call('POST', '/emails/batch', { token: apiKey, body })
    assert.is(status, 200)
  }
  for (let sent = 0; sent < EVENTS / 2; sent += BATCH) {
    if (sent % (10 * BATCH) === 0) await send(`bounced+${sent}`, BOUNCES)
    await send(`delivered+${sent}`, BATCH)
  }
  const bounces = (BOUNCES * EVENTS) / 2 / (10 * BATCH)
  await until(() => told.size === EVENTS + bounces)
  const tries = await bad.counts()
  const events = scene.rows<{ id: Uint8Array }>(
    "select id from events where type in ('email.sent', 'email.delivered')",
  )
  assert.equal(new Set(events.map(({ id }) => wireId('evt', id))), told)
  assert.is(waits.length, told.size, 'none of them twice')
  assert.not(tries.some(({ followed }) => followed))
  const connections = tries.reduce((sum, one) => sum + one.connections, 0)
  assert.ok(connections < (BAD * bounces) / 2, `${connections} connections to those that take nothing`)
  const left = scene.rows<{ count: number; tried: number; taken: number }>(
    `select count(*) as count, max(attempts) as tried, sum(success) as taken from webhook_deliveries
       where event_type = 'email.bounced' group by webhook_id`,
  )
  assert.is(left.length, BAD)
  assert.ok(
    left.every(({ count, tried, taken }) => count === bounces && tried > 0 && taken === 0),
    'all of them were tried, and all that they have not taken waits for them',
  )
  const peakMb = peakMemoryMb(program)
  const [p50, p95] = [0.5, 0.95].map(part => waits.toSorted((a, b) => a - b)[Math.floor(waits.length * part)])
  console.log(
    `${told.size} events told, median ${p50} ms, p95 ${p95} ms after they happened; ${connections} connections to bad endpoints; ${peakMb} MB at most`,
  )
  assert.ok(peakMb < MEMORY_MB_MAX, `${peakMb} MB`)
})

async function startBadEndpoints(t: TestContext) {
  const thread = new Worker(new URL('bad-endpoints.ts', import.meta.url))
  t.after(() => thread.terminate())
  const [ports] = (await once(thread, 'message')) as [number[]]
  return {
    ports,
    async counts() {
      thread.postMessage('count')
      const [counts] = (await once(thread, 'message')) as [BadEndpointCount[]]
      return counts
    },
  }
}

async function signIn(program: Program): Promise<string> {
  const body = { email: 'admin@mailhorn.test', password: PASSWORD }
  return (await program.call('POST', '/auth/login', { body })).body.token as string
}

/** Returns the peak memory of the process (VmHWM of Linux). */
function peakMemoryMb({ pid }: Program): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1_000)
}

test.run()
