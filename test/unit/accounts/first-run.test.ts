import * as assert from 'uvu/assert'
import { createApiKeys } from '../../../src/accounts/api-keys.ts'
import { prepareFirstRun } from '../../../src/accounts/first-run.ts'
import { createLog } from '../../../src/lib/log.ts'
import { newId } from '../../kit/mail.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { quickPasswords } from '../../kit/quick-passwords.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('accounts/first-run')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const passwords = quickPasswords()
  const prepare = (password: string | null, email = 'Admin@Here.test') =>
    prepareFirstRun({ ...store, clock, newId, passwords, email, password, apiKeyPrefix: 're_' })
  return { ...store, clock, passwords, prepare }
}

test('the first start makes an account, its operator and a key, and says their secrets', async t => {
  const { prepare, rows, passwords, db, find, run, clock } = await open(t)
  const first = await prepare(null)
  assert.is(first!.email, 'admin@here.test')
  assert.equal(rows('select name, plan from accounts'), [{ name: 'Main', plan: 'scale' }])
  const [user] = rows<{ email: string; password_hash: string; operator: number }>('select * from users')
  assert.equal([user!.email, user!.operator], ['admin@here.test', 1])
  assert.is(await passwords.verify(first!.generatedPassword!, user!.password_hash), true)
  const keys = createApiKeys({ db, find, run, clock, newId, log: createLog('silent'), prefix: 're_' })
  const holder = await keys.find(first!.apiKey)
  assert.equal(
    (await keys.list(holder!.accountId)).map(({ name }) => name),
    ['First key'],
  )
  await keys.close()
})

test('a password from the configuration is used, and not said', async t => {
  const { prepare, rows, passwords } = await open(t)
  const first = await prepare('from the configuration')
  assert.is(first!.generatedPassword, null)
  const [user] = rows<{ password_hash: string }>('select password_hash from users')
  assert.is(await passwords.verify('from the configuration', user!.password_hash), true)
})

test('a later start changes nothing, also when the configuration has changed', async t => {
  const { prepare, rows } = await open(t)
  await prepare('one')
  const before = [rows('select * from users'), rows('select * from accounts'), rows('select * from api_keys')]
  assert.is(await prepare('two', 'other@here.test'), undefined)
  assert.equal(
    [rows('select * from users'), rows('select * from accounts'), rows('select * from api_keys')],
    before,
  )
})

test('of two first starts at once one makes the account, the other nothing', async t => {
  const { prepare, rows } = await open(t)
  const results = await Promise.all([prepare('one', 'one@here.test'), prepare('two', 'two@here.test')])
  const made = results.filter(result => result !== undefined)
  assert.is(made.length, 1)
  assert.equal(rows('select email from users'), [{ email: made[0]!.email }])
  assert.equal(rows('select count(*) as n from accounts'), [{ n: 1 }])
  assert.equal(rows('select count(*) as n from api_keys'), [{ n: 1 }])
})

test.run()
