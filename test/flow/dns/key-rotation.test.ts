/** Keys that change while mail is sent: every message verifies for as long as it may be on its way, and is proven ever after. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import * as assert from 'uvu/assert'
import { generateDkimKey } from '../../../src/protocols/dkim/keys.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { type Posthorn, startPosthorn, zoneText } from '../../kit/posthorn.ts'
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

async function keysOf(posthorn: Posthorn, id: string): Promise<KeyView[]> {
  const { status, body } = await posthorn.call('GET', `/domains/${id}/keys`, {
    session: await posthorn.signIn(),
  })
  assert.is(status, 200)
  return body.keys
}

const statesOf = async (posthorn: Posthorn, id: string) =>
  (await keysOf(posthorn, id)).map(({ state }) => state).join(' ')

/** Lets time pass until the job has brought the keys there. */
async function untilStates(posthorn: Posthorn, id: string, wanted: string) {
  await until(async () => {
    posthorn.clock.advance(6 * HOUR_MS)
    return (await statesOf(posthorn, id)) === wanted
  })
}

/** What a receiver finds that looks the keys up now, through the domain's CNAMEs and our server. */
async function verdicts(posthorn: Posthorn, message: Buffer): Promise<string[]> {
  const resolver = async (name: string) => {
    const token = name.split('.')[0]!
    const server = `127.0.0.1:${posthorn.app.dnsAddress!.port}`
    const { answers } = await askServer(server, `${token}.dkim.posthorn.test`, 'TXT', { transport: 'tcp' })
    return answers.map(record => [record.type === 'TXT' ? record.text : ''])
  }
  const { results } = await dkimVerify(message, { resolver })
  return results.map(({ status }: { status: { result: string } }) => status.result)
}

test('mail sent before, while and after a key changes verifies, also after a restart between the steps', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'rotation-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const options = { zone: ZONE, mxPort: mx.port, dataDir, generateKey: generateDkimKey }
  let posthorn = await startPosthorn(options)
  t.after(() => posthorn.close())
  const { id, records } = await posthorn.verifiedDomain('here.example')
  const sendTo = async (to: string) => {
    const email = await posthorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hello' })
    await posthorn.emailWhen(email, 'delivered')
    return { email, message: mx.messages.findLast(({ rcptTo }) => rcptTo.includes(to))!.data }
  }
  const before = await sendTo('ok-before@there.example')
  assert.is(await statesOf(posthorn, id), 'signing published signing')

  const asked = await posthorn.call('POST', `/domains/${id}/rotate-keys`, {
    session: await posthorn.signIn(),
  })
  assert.is(asked.status, 200)
  assert.is(asked.body.rotation_due_at, asked.body.rotation_requested_at)
  const started = posthorn.clock.now()
  await untilStates(posthorn, id, 'retired signing retired')
  assert.ok(posthorn.clock.now() - started >= 2 * DAY_MS)
  const after = await sendTo('ok-after@there.example')
  const selector = /s=(\w+);/.exec(`${after.message}`)![1]
  assert.is(selector, records.find(({ record }) => record === 'DKIM 2')!.value.split('.')[0])
  assert.equal(await verdicts(posthorn, before.message), ['pass', 'pass'])
  assert.equal(await verdicts(posthorn, after.message), ['pass'])

  const { apiKey } = posthorn
  const passed = posthorn.clock.now() - Date.now()
  await posthorn.app.stop()
  await posthorn.zone.close()
  posthorn.clock.close()
  posthorn = await startPosthorn(options)
  posthorn.apiKey = apiKey
  posthorn.zone.add(zoneText(records))
  posthorn.clock.advance(passed)
  await untilStates(posthorn, id, 'revoked signing revoked')
  assert.ok(posthorn.clock.now() - started >= 9 * DAY_MS)
  await until(async () => !(await verdicts(posthorn, before.message)).includes('pass'))
  await untilStates(posthorn, id, 'published signing published')
  await untilStates(posthorn, id, 'published signing signing')
  const later = await sendTo('ok-later@there.example')
  await until(async () => (await verdicts(posthorn, later.message)).join() === 'pass,pass')
  assert.equal(await verdicts(posthorn, after.message), ['pass'])

  for (const { email, message } of [before, after, later]) {
    const response = await fetch(`${posthorn.baseUrl}/emails/${email}/raw`, {
      headers: { authorization: `Bearer ${posthorn.apiKey}` },
    })
    assert.is(response.headers.get('x-posthorn-raw'), 'exact')
    assert.ok(Buffer.from(await response.arrayBuffer()).equals(message))
  }
})

test('keys are shown with what becomes of them, and never with their private half', async t => {
  const posthorn = await t.using(startPosthorn())
  const { id } = await posthorn.verifiedDomain('here.example')
  const { body } = await posthorn.call('GET', `/domains/${id}/keys`, { session: await posthorn.signIn() })
  const [first, second, third] = body.keys
  assert.equal([first.state, second.state, third.state], ['signing', 'published', 'signing'])
  assert.is(Date.parse(body.rotation_due_at) - Date.parse(first.active_from), 180 * DAY_MS)
  assert.is(body.rotation_requested_at, null)
  assert.is(Date.parse(second.next_step.at) - Date.parse(second.created_at), 2 * DAY_MS)
  assert.is(first.next_step, null)
  assert.not.match(JSON.stringify(body), /private/i)
})

test('a domain that has not been verified has no key to change', async t => {
  const posthorn = await t.using(startPosthorn())
  const session = await posthorn.signIn()
  const { body: domain } = await posthorn.call('POST', '/domains', {
    session,
    body: { name: 'here.example' },
  })
  assertRefusal(await posthorn.call('POST', `/domains/${domain.id}/rotate-keys`, { session }), {
    status: 422,
    name: 'validation_error',
  })
  assert.is(await statesOf(posthorn, domain.id), 'published published published')
})

test.run()
