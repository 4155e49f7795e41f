import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createLog } from '../../../../src/lib/log.ts'
import { createApiKeys } from '../../../../src/resources/accounts/api-keys.ts'
import { prepareFirstRun } from '../../../../src/resources/accounts/first-run.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { quickPasswords } from '../../../kit/quick-passwords.ts'
import { openLocalStore, tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accounts/first-run')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const passwords = quickPasswords()
  const prepare = (
    password: string | null,
    email = 'Admin@Here.test',
    credentialsFile: string | null = null,
  ) =>
    prepareFirstRun({
      ...{ ...store, clock, newId, passwords, email, password, credentialsFile },
      apiKeyPrefix: 're_',
    })
  return { ...store, clock, passwords, prepare }
}

test('first start: it creates account, operator and API key and returns the secrets', async t => {
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

test('first start: the secrets go to the file; a later start leaves none', async t => {
  const { prepare } = await open(t)
  const { path } = await t.using(tempFolder())
  const file = join(path, 'credentials')
  const missing = join(path, 'nowhere', 'credentials')
  await prepare(null, 'a@here.test', missing).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /^admin\.credentials_file: cannot be written \(ENOENT/),
  )
  const first = await prepare('chosen', 'a@here.test', file)
  assert.is(first!.credentialsFile, file)
  assert.is(readFileSync(file, 'utf8'), `User: a@here.test\nAPI key: ${first!.apiKey}\n`)
  assert.is(statSync(file).mode & 0o777, 0o600)
  rmSync(file)
  assert.is(await prepare(null, 'a@here.test', file), undefined)
  assert.not(existsSync(file))
})

test('first start: of two concurrent ones, one leaves its file', async t => {
  const { prepare } = await open(t)
  const { path } = await t.using(tempFolder())
  const names = ['one', 'other']
  const first = await Promise.all(names.map(name => prepare(null, 'a@here.test', join(path, name))))
  assert.is(first.filter(made => made !== undefined).length, 1)
  assert.equal(
    readdirSync(path),
    names.filter((_, at) => first[at] !== undefined),
  )
})

test('first start: a configured password is used and not shown', async t => {
  const { prepare, rows, passwords } = await open(t)
  const first = await prepare('from the configuration')
  assert.is(first!.generatedPassword, null)
  const [user] = rows<{ password_hash: string }>('select password_hash from users')
  assert.is(await passwords.verify('from the configuration', user!.password_hash), true)
})

test('first start: a later start changes nothing', async t => {
  const { prepare, rows } = await open(t)
  await prepare('one')
  const before = [rows('select * from users'), rows('select * from accounts'), rows('select * from api_keys')]
  assert.is(await prepare('two', 'other@here.test'), undefined)
  assert.equal(
    [rows('select * from users'), rows('select * from accounts'), rows('select * from api_keys')],
    before,
  )
})

test('first start: of two concurrent ones, one creates the account', async t => {
  const { prepare, rows } = await open(t)
  const results = await Promise.all([prepare('one', 'one@here.test'), prepare('two', 'two@here.test')])
  const made = results.filter(result => result !== undefined)
  assert.is(made.length, 1)
  assert.equal(rows('select email from users'), [{ email: made[0]!.email }])
  assert.equal(rows('select count(*) as n from accounts'), [{ n: 1 }])
  assert.equal(rows('select count(*) as n from api_keys'), [{ n: 1 }])
})

test.run()
