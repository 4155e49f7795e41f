import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { KEYS_DELETED } from '../../../../src/resources/accounts/api-key-rows.ts'
import { createApiKeys } from '../../../../src/resources/accounts/api-keys.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { settled } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('accounts/api-keys')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const lines: string[] = []
  const log = createLog('info', { write: line => void lines.push(line) })
  let broken = false
  const run: typeof store.run = (name, input) =>
    broken ? Promise.reject(new StorageUnavailable('disk full')) : store.run(name, input)
  const keys = createApiKeys({ ...store, run, clock: post.clock, newId, log, prefix: 're_' })
  store.on(KEYS_DELETED, keys.forget)
  return {
    ...store,
    ...post,
    keys,
    create: async (accountId: Id, name: string) => (await keys.create(accountId, { name, domainId: null }))!,
    lines,
    breakStore() {
      broken = true
    },
    lastUsed: () => store.rows('select name, last_used_at as at from api_keys order by name'),
  }
}

test('API key: it is shown once; hash and first characters are stored', async t => {
  const { create, account, rows } = await open(t)
  const accountId = account()
  const { id, token } = await create(accountId, 'Server')
  assert.match(token, /^re_[0-9A-Za-z]{40}$/)
  const [row] = rows<Record<string, unknown>>('select * from api_keys')
  assert.equal(row!.token_hash, createHash('sha256').update(token).digest())
  assert.is(row!.token_start, token.slice(0, 8))
  for (const value of Object.values(row!)) assert.not(String(value).includes(token))
  assert.equal(idText(row!.id as Uint8Array), idText(id))
})

test('API key: only the exact token finds it', async t => {
  const { keys, create, account } = await open(t)
  const accountId = account()
  const { id, token } = await create(accountId, 'Server')
  const found = await keys.find(token)
  assert.is(idText(found!.id), idText(id))
  assert.is(idText(found!.accountId), idText(accountId))
  for (const text of ['', token.slice(0, 8), token.slice(3), `${token} `, token.toLowerCase()])
    assert.is(await keys.find(text), undefined)
})

test('API key: an account lists and deletes its own keys only', async t => {
  const { keys, create, account } = await open(t)
  const [one, other] = [account('One'), account('Other')]
  const first = await create(one, 'first')
  const second = await create(one, 'second')
  await create(other, 'foreign')
  assert.equal(
    (await keys.list(one)).map(({ name }) => name),
    ['second', 'first'],
  )
  assert.is(await keys.delete(other, first.id), false)
  assert.is(await keys.delete(one, newId(1)), false)
  assert.ok(await keys.find(first.token))
  assert.is(await keys.delete(one, first.id), true)
  assert.is(await keys.find(first.token), undefined)
  assert.ok(await keys.find(second.token))
})

test('API key: a key bound to a domain is deleted with it', async t => {
  const { keys, create, account, domain, run, rows } = await open(t)
  const [one, other] = [account('One'), account('Other')]
  const domainId = domain(one, 'here.example')
  const bound = (await keys.create(one, { name: 'bound', domainId }))!
  const free = await create(one, 'free')
  assert.is((await keys.find(bound.token))!.domain, 'here.example')
  assert.is((await keys.find(free.token))!.domain, null)
  assert.is(await keys.create(other, { name: 'foreign', domainId }), undefined)
  assert.is(await run('deleteDomain', { accountId: other, id: domainId, at: 1 }), false)
  assert.ok(await keys.find(bound.token))
  assert.is(await run('deleteDomain', { accountId: one, id: domainId, at: 1 }), true)
  assert.is(await keys.find(bound.token), undefined)
  assert.equal(rows('select name from api_keys'), [{ name: 'free' }])
  assert.is(await keys.create(one, { name: 'late', domainId }), undefined)
})

test('API key: a key with a missing domain does not authenticate', async t => {
  const { keys, account, domain, change } = await open(t)
  const accountId = account()
  const domainId = domain(accountId, 'here.example')
  const { token } = (await keys.create(accountId, { name: 'bound', domainId }))!
  change('delete from domains')
  assert.is(await keys.find(token), undefined)
})

test('API key: last use is recorded within a minute for all used keys', async t => {
  const { keys, create, account, clock, lastUsed } = await open(t)
  const accountId = account()
  const tokens = []
  for (const name of ['a', 'b', 'c']) tokens.push((await create(accountId, name)).token)
  await keys.find(tokens[0]!)
  clock.advance(30_000)
  await keys.find(tokens[1]!)
  await keys.find(tokens[1]!)
  assert.equal(lastUsed(), [
    { name: 'a', at: null },
    { name: 'b', at: null },
    { name: 'c', at: null },
  ])
  clock.advance(30_000)
  await until(() => lastUsed()[0]!.at !== null)
  assert.equal(lastUsed(), [
    { name: 'a', at: clock.now() },
    { name: 'b', at: clock.now() },
    { name: 'c', at: null },
  ])
  assert.is(clock.timerCount, 0)
})

test('API key: closing records pending uses and stops the timer', async t => {
  const { keys, create, account, clock, lastUsed } = await open(t)
  const { token } = await create(account(), 'a')
  await keys.find(token)
  await keys.close()
  assert.equal(lastUsed(), [{ name: 'a', at: clock.now() }])
  assert.is(clock.timerCount, 0)
  await keys.close()
})

test('API key: a failing store is logged', async t => {
  const { keys, create, account, clock, lines, breakStore } = await open(t)
  const { token } = await create(account(), 'a')
  breakStore()
  await keys.find(token)
  clock.advance(60_000)
  await settled()
  assert.is(lines.length, 1)
  await keys.find(token)
  await keys.close()
  assert.is(lines.length, 2)
  for (const line of lines) assert.match(line, /The last use of API keys could not be recorded/)
})

test.run()
