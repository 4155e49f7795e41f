import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { IdempotencyToken } from '../../../../src/pipeline/accept/submission.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/idempotency')
const DAY_MS = 86_400_000

const token = (key: string, body = 'body', endpoint = '/emails'): IdempotencyToken => ({
  endpoint,
  key,
  bodyHash: new Uint8Array(Buffer.from(body.padEnd(32))),
})

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const submit = async (idempotency: IdempotencyToken | null, account = accountId) =>
    answerOf(await post.submit(account, {}, idempotency))
  const emailCount = () => store.rows('select id from emails').length
  return { ...store, ...post, accountId, submit, emailCount }
}

/** The id of the email, or the kind of the refusal. */
function answerOf(result: unknown): string {
  return isRefusal(result) ? result.refused : (result as { ids: Id[] }).ids.map(idText).join()
}

test('idempotency: the same key and body get the first answer and no second email', async t => {
  const { submit, emailCount, clock, rows } = await open(t)
  const first = await submit(token('k'))
  clock.advance(1_000)
  assert.is(await submit(token('k')), first)
  assert.is(emailCount(), 1)
  assert.equal(rows("select count from counters where kind = 'recipients'"), [{ count: 1 }, { count: 1 }])
})

test('idempotency: the same key with another body is refused', async t => {
  const { submit, emailCount } = await open(t)
  await submit(token('k', 'one'))
  assert.is(await submit(token('k', 'two')), 'idempotency_mismatch')
  assert.is(await submit(token('k', 'one ')), await submit(token('k', 'one')))
  assert.is(emailCount(), 1)
})

test('idempotency: without a key each request is a new email', async t => {
  const { submit, emailCount } = await open(t)
  await submit(null)
  await submit(null)
  assert.is(emailCount(), 2)
})

test('idempotency: keys are separate per account and endpoint', async t => {
  const { submit, account, domain, emailCount } = await open(t)
  const other = account('Other')
  domain(other, 'here.test', { status: 'pending' })
  const answers = [
    await submit(token('k')),
    await submit(token('k', 'body', '/emails/batch')),
    await submit(token('K')),
    await submit(token('k '), undefined),
  ]
  assert.is(new Set(answers).size, 4)
  assert.is(await submit(token('k'), other), 'domain_not_verified')
  assert.is(emailCount(), 4)
})

test('idempotency: a key expires after 24 h and may be used with another body', async t => {
  const { submit, emailCount, clock } = await open(t)
  const first = await submit(token('k', 'one'))
  clock.advance(DAY_MS - 1)
  assert.is(await submit(token('k', 'one')), first)
  clock.advance(1)
  const second = await submit(token('k', 'two'))
  assert.is.not(second, first)
  assert.is(await submit(token('k', 'two')), second)
  assert.is(await submit(token('k', 'one')), 'idempotency_mismatch')
  assert.is(emailCount(), 2)
})

test('idempotency: a refusal is not stored, so the request may succeed later', async t => {
  const { change, submit } = await open(t)
  change("update domains set status = 'pending'")
  assert.is(await submit(token('k')), 'domain_not_verified')
  change("update domains set status = 'verified'")
  assert.match(await submit(token('k')), /^[0-9a-f-]{36}$/)
})

test('idempotency: a known key is answered before any other check', async t => {
  const { submit, change, suppress, accountId } = await open(t)
  const first = await submit(token('k'))
  change("update domains set status = 'failed'")
  suppress(accountId, 'rcpt@there.test')
  assert.is(await submit(token('k')), first)
  assert.is(await submit(token('other')), 'domain_not_verified')
})

test('idempotency: within a group the first request with a key wins', async t => {
  const { group, request, accountId, emailCount } = await open(t)
  const requests = [
    await request(accountId, {}, token('k', 'one')),
    await request(accountId, {}, token('k', 'two')),
    await request(accountId, {}, token('k', 'one')),
    await request(accountId, {}, token('other', 'one')),
  ]
  const answers = (await group(...requests)).replies.map(reply => answerOf(outputOf(reply)))
  assert.is(answers[2], answers[0])
  assert.is(answers[1], 'idempotency_mismatch')
  assert.is.not(answers[3], answers[0])
  assert.is(emailCount(), 2)
})

test('idempotency: within a group a refused request leaves its key to the next', async t => {
  const { group, request, accountId } = await open(t)
  const requests = [
    await request(accountId, { from: 'x@elsewhere.test' }, token('k', 'one')),
    await request(accountId, {}, token('k', 'two')),
  ]
  const answers = (await group(...requests)).replies.map(reply => answerOf(outputOf(reply)))
  assert.is(answers[0], 'domain_not_verified')
  assert.match(answers[1]!, /^[0-9a-f-]{36}$/)
})

test('idempotency: a key stores all ids of its request', async t => {
  const { run, request, accountId, emailCount } = await open(t)
  const one = await request(accountId, {}, token('k'))
  const two = await request(accountId)
  const batch = { ...one.input, emails: [...one.input.emails, ...two.input.emails] }
  const first = await run('accept', batch)
  const again = await run('accept', { ...batch, emails: [] })
  assert.is(answerOf(again), answerOf(first))
  assert.is(emailCount(), 2)
})

test('idempotency: a key may contain any characters', async t => {
  const { submit } = await open(t)
  const keys = ["'; drop table emails; --", '💌', ' ', '__proto__', 'a b', 'x'.repeat(256)]
  const answers = []
  for (const key of keys) answers.push(await submit(token(key)))
  assert.is(new Set(answers).size, keys.length)
  for (const [i, key] of keys.entries()) assert.is(await submit(token(key)), answers[i])
})

test.run()
