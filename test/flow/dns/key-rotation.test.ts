/**
 * Keys that change while mail is sent: every message verifies for as long as it may be on its way, and is
 * proven ever after.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import * as assert from 'uvu/assert'
import { generateDkimKey } from '../../../src/protocols/dkim/keys.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { askServer } from '../../kit/zone-client.ts'

const test = suite('dns/key rotation')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

interface KeyView {
  selector: string
  state: string
  next_step: { step: string; at: string } | null
}

async function keysOf(mailhorn: Mailhorn, id: string): Promise<KeyView[]> {
  const { status, body } = await mailhorn.call('GET', `/domains/${id}/keys`, {
    session: await mailhorn.signIn(),
  })
  assert.is(status, 200)
  return body.keys
}

const statesOf = async (mailhorn: Mailhorn, id: string) =>
  (await keysOf(mailhorn, id)).map(({ state }) => state).join(' ')

/** Lets time pass until the job has brought the keys there. */
async function untilStates(mailhorn: Mailhorn, id: string, wanted: string) {
  await until(async () => {
    mailhorn.clock.advance(6 * HOUR_MS)
    return (await statesOf(mailhorn, id)) === wanted
  })
}

/**
 * Verifies a message like a receiver that looks the keys up now, through the domain's CNAMEs and our server.
 */
async function verdicts(mailhorn: Mailhorn, message: Buffer): Promise<string[]> {
  const resolver = async (name: string) => {
    const token = name.split('.')[0]!
    const server = `127.0.0.1:${mailhorn.app.dnsAddress!.port}`
    const { answers } = await askServer(server, `${token}.dkim.mailhorn.test`, 'TXT', { transport: 'tcp' })
    return answers.map(record => [record.type === 'TXT' ? record.text : ''])
  }
  const { results } = await dkimVerify(message, { resolver })
  return results.map(({ status }: { status: { result: string } }) => status.result)
}

test('mail verifies before, during and after a rotation, also with restarts', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rotation-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const options = { zone: ZONE, mxPort: mx.port, dataDir, generateKey: generateDkimKey }
  let mailhorn = await startMailhorn({ dns: true, ...options })
  t.after(() => mailhorn.close())
  const { id, records } = await mailhorn.verifiedDomain('here.example')
  const sendTo = async (to: string) => {
    const email = await mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
    await mailhorn.emailWhen(email, 'delivered')
    return { email, message: mx.messages.findLast(({ rcptTo }) => rcptTo.includes(to))!.data }
  }
  const before = await sendTo('ok-before@there.example')
  assert.is(await statesOf(mailhorn, id), 'signing published signing')

  const requests = await mailhorn.call('POST', `/domains/${id}/rotate-keys`, {
    session: await mailhorn.signIn(),
  })
  assert.is(requests.status, 200)
  assert.is(requests.body.rotation_due_at, requests.body.rotation_requested_at)
  const started = mailhorn.clock.now()
  await untilStates(mailhorn, id, 'retired signing retired')
  assert.ok(mailhorn.clock.now() - started >= 2 * DAY_MS)
  const after = await sendTo('ok-after@there.example')
  const selector = /s=(\w+);/.exec(`${after.message}`)![1]
  assert.is(selector, records.find(({ record }) => record === 'DKIM 2')!.value.split('.')[0])
  assert.equal(await verdicts(mailhorn, before.message), ['pass', 'pass'])
  assert.equal(await verdicts(mailhorn, after.message), ['pass'])

  const { apiKey } = mailhorn
  const passed = mailhorn.clock.now() - Date.now()
  await mailhorn.app.stop()
  await mailhorn.zone.close()
  mailhorn.clock.close()
  mailhorn = await startMailhorn({ dns: true, ...options })
  mailhorn.apiKey = apiKey
  mailhorn.zone.add(zoneText(records))
  mailhorn.clock.advance(passed)
  await untilStates(mailhorn, id, 'revoked signing revoked')
  assert.ok(mailhorn.clock.now() - started >= 9 * DAY_MS)
  await until(async () => !(await verdicts(mailhorn, before.message)).includes('pass'))
  await untilStates(mailhorn, id, 'published signing published')
  await untilStates(mailhorn, id, 'published signing signing')
  const later = await sendTo('ok-later@there.example')
  await until(async () => (await verdicts(mailhorn, later.message)).join() === 'pass,pass')
  assert.equal(await verdicts(mailhorn, after.message), ['pass'])

  for (const { email, message } of [before, after, later]) {
    const response = await fetch(`${mailhorn.baseUrl}/emails/${email}/raw`, {
      headers: { authorization: `Bearer ${mailhorn.apiKey}` },
    })
    assert.is(response.headers.get('x-mailhorn-raw'), 'exact')
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(message))
  }
})

test('keys are shown with their state and never with the private key', async t => {
  const mailhorn = await t.using(startMailhorn({ dns: true }))
  const { id } = await mailhorn.verifiedDomain('here.example')
  const { body } = await mailhorn.call('GET', `/domains/${id}/keys`, { session: await mailhorn.signIn() })
  const [first, second, third] = body.keys
  assert.equal([first.state, second.state, third.state], ['signing', 'published', 'signing'])
  assert.is(Date.parse(body.rotation_due_at) - Date.parse(first.active_from), 180 * DAY_MS)
  assert.is(body.rotation_requested_at, null)
  assert.is(Date.parse(second.next_step.at) - Date.parse(second.created_at), 2 * DAY_MS)
  assert.is(first.next_step, null)
  assert.not.match(JSON.stringify(body), /private/i)
})

test('the key of an unverified domain cannot be rotated', async t => {
  const mailhorn = await t.using(startMailhorn({ dns: true }))
  const session = await mailhorn.signIn()
  const { body: domain } = await mailhorn.call('POST', '/domains', {
    session,
    body: { name: 'here.example' },
  })
  assertRefusal(await mailhorn.call('POST', `/domains/${domain.id}/rotate-keys`, { session }), {
    status: 422,
    name: 'validation_error',
  })
  assert.is(await statesOf(mailhorn, domain.id), 'published published published')
})

test.run()
