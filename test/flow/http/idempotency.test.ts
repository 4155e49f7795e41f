import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, storedIn } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('Idempotency-Key')
const DAY_MS = 86_400_000
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const MISMATCH = { status: 409, name: 'invalid_idempotent_request' }
let keys = 0
const newKey = () => `key-${++keys}`

function send(key: string, body: unknown = GOOD, to: Mailhorn = mailhorn): Promise<ApiAnswer> {
  return to.call('POST', '/emails', { key: to.apiKey, body, headers: { 'idempotency-key': key } })
}

function sendRaw(key: string, raw: string): Promise<ApiAnswer> {
  return mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw, headers: { 'Idempotency-Key': key } })
}

function emailCount(to: Mailhorn = mailhorn): number {
  return to.rows<{ count: number }>('select count(*) as count from emails')[0]!.count
}

async function idOf(answer: Promise<ApiAnswer>): Promise<string> {
  const { status, body } = await answer
  assert.is(status, 200, JSON.stringify(body))
  return body.id
}

test('a repeated request gets the id of the first and sends nothing', async () => {
  const key = newKey()
  const first = await idOf(send(key))
  const before = emailCount()
  for (let i = 0; i < 3; i++) assert.is(await idOf(send(key)), first)
  assert.is(emailCount(), before)
})

test('requests without a key or with different keys are separate emails', async () => {
  const before = emailCount()
  const ids = await Promise.all([
    idOf(send(newKey())),
    idOf(send(newKey())),
    mailhorn.send(GOOD),
    mailhorn.send(GOOD),
  ])
  assert.is(new Set(ids).size, 4)
  assert.is(emailCount(), before + 4)
})

test('50 concurrent requests are one email', async () => {
  for (let round = 0; round < 5; round++) {
    const key = newKey()
    const before = emailCount()
    const ids = await Promise.all(Array.from({ length: 50 }, () => idOf(send(key))))
    assert.is(new Set(ids).size, 1)
    assert.is(emailCount(), before + 1)
  }
})

test('of 20 concurrent requests with different bodies one is accepted', async () => {
  const key = newKey()
  const before = emailCount()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => send(key, { ...GOOD, subject: `${i}` })),
  )
  const taken = answers.filter(({ status }) => status === 200)
  assert.is(taken.length, 1)
  for (const answer of answers) if (answer !== taken[0]) assertRefusal(answer, MISMATCH)
  assert.is(emailCount(), before + 1)
})

test('concurrent large requests are one email', async () => {
  const key = newKey()
  const attachments = [{ filename: 'a.bin', content: Buffer.alloc(300_000, 'z').toString('base64') }]
  const before = storedIn(mailhorn)
  const ids = await Promise.all(Array.from({ length: 8 }, () => idOf(send(key, { ...GOOD, attachments }))))
  assert.is(new Set(ids).size, 1)
  const after = storedIn(mailhorn)
  assert.is(after.emails, before.emails! + 1)
  assert.is(after.files, before.files! + 1)
})

test('a long list of integers is compared by value, not by spacing', async () => {
  const key = newKey()
  const content = Array.from({ length: 100_000 }, (_, i) => i % 256)
  const body = { ...GOOD, attachments: [{ filename: 'a.bin', content }] }
  const first = await idOf(send(key, body))
  assert.is(await idOf(sendRaw(key, JSON.stringify(body, null, 1))), first)
  const other = { ...body, attachments: [{ filename: 'a.bin', content: content.with(99_999, 7) }] }
  assertRefusal(await send(key, other), MISMATCH)
})

for (const [what, change] of Object.entries({
  subject: { subject: 'other' },
  recipient: { to: 'delivered+1@simulator.test' },
  'further recipient': { cc: 'delivered+1@simulator.test' },
  'unknown key': { other: 1 },
  tag: { tags: [{ name: 'a', value: 'b' }] },
}))
  test(`the same key with another ${what} is refused and the first answer stays`, async () => {
    const key = newKey()
    const first = await idOf(send(key))
    const before = emailCount()
    assertRefusal(await send(key, { ...GOOD, ...change }), MISMATCH)
    assert.is(emailCount(), before)
    assert.is(await idOf(send(key)), first)
  })

test('order of keys and blanks are ignored, order of lists is not', async () => {
  const key = newKey()
  const body = { ...GOOD, tags: [{ name: 'a', value: 'b' }, { x: { y: 1, z: 2 } }] }
  const first = await idOf(send(key, body))
  const turned = `{ "tags" : [ {"value":"b" , "name":"a"}, {"x":{"z":2,"y":1}} ],
    "text":"h\\u0065llo","subject":"hi","to":"delivered@simulator.test","from":"ann@here.example" }`
  assert.is(await idOf(sendRaw(key, turned)), first)
  assertRefusal(await send(key, { ...body, tags: body.tags.toReversed() }), MISMATCH)
})

for (const [what, key] of [
  ['an empty key', ''],
  ['a key of blanks', '   '],
  ['257 characters', 'k'.repeat(257)],
  ['8,000 characters', 'k'.repeat(8_000)],
] as const)
  test(`${what} is refused as a key`, async () => {
    const before = storedIn(mailhorn)
    assertRefusal(await send(key), { status: 400, name: 'invalid_idempotency_key', says: /1 to 256/ })
    assert.equal(storedIn(mailhorn), before)
  })

for (const key of ['k'.repeat(256), '%00', "'; drop table emails; --", 'k\u00e9', '__proto__', '{}'])
  test(`${JSON.stringify(key.slice(0, 20))} is accepted as a key`, async () => {
    assert.is(await idOf(send(key)), await idOf(send(key)))
  })

test('keys are case-sensitive', async () => {
  assert.is.not(await idOf(send('case')), await idOf(send('CASE')))
})

test('a refusal is not stored', async () => {
  const key = newKey()
  assert.is((await send(key, { ...GOOD, to: 'nobody' })).status, 422)
  assert.is((await send(key, { ...GOOD, to: 'ok@there.example' })).status, 403)
  assert.equal(mailhorn.rows('select key from idempotency_keys where key = ?', key), [])
  assert.ok(await idOf(send(key)))
})

test('a repeated request is answered after its domain was deleted', async () => {
  const { id: domain } = await mailhorn.verifiedDomain('here.example')
  const key = newKey()
  const mail = { ...GOOD, to: 'ok@there.example' }
  const first = await idOf(send(key, mail))
  await mailhorn.call('DELETE', `/domains/${domain}`, { session: await mailhorn.signIn() })
  assert.is((await send(newKey(), mail)).status, 403)
  assert.is(await idOf(send(key, mail)), first)
})

test('keys are shared by all API keys of the account', async () => {
  const session = await mailhorn.signIn()
  const { body: second } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'second' } })
  const key = newKey()
  const headers = { 'idempotency-key': key }
  const first = await idOf(send(key))
  for (const who of [{ key: second.token as string }, { session }])
    assert.is(await idOf(mailhorn.call('POST', '/emails', { ...who, body: GOOD, headers })), first)
})

test('a key may be used again after 24 h', async () => {
  const key = newKey()
  const first = await idOf(send(key))
  mailhorn.clock.advance(DAY_MS - 60_000)
  assert.is(await idOf(send(key)), first)
  mailhorn.clock.advance(61_000)
  const second = await idOf(send(key, { ...GOOD, subject: 'another day' }))
  assert.is.not(second, first)
  assert.is(await idOf(send(key, { ...GOOD, subject: 'another day' })), second)
})

test('a key survives a restart', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const before = await startMailhorn({ dataDir })
  const { apiKey } = before
  const first = await idOf(send('kept', GOOD, before))
  await before.close()
  const after = await t.using(startMailhorn({ dataDir }))
  after.apiKey = apiKey
  assert.is(await idOf(send('kept', GOOD, after)), first)
  assert.is(emailCount(after), 1)
})

test.run()
