import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { printedApiKey } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { firstStart, openScene, PASSWORD } from './scene.ts'

const test = suite('webhooks over kill -9', { limitMs: 240_000 })
const CYCLES = 3
const EMAILS_A_CYCLE = 100

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

test.run()
