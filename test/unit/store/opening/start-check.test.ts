import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { checkBeforeStart } from '../../../../src/store/opening/start-check.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('store/start-check')

/** A data folder that has been used, whose database is elsewhere. */
async function setUp(t: TestContext) {
  const { path } = await t.using(tempFolder())
  writeFileSync(join(path, 'secret.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 })
  const check = (startNew: boolean) =>
    checkBeforeStart({ dataDir: path, url: 'sqlite:test.db', secretKey: null, startNew }).then(
      () => 'may start',
      (error: Error) => error.message,
    )
  return { path, file: join(path, 'test.db'), check }
}

const EMPTY = /^the database is empty \(.*\), but .* it holds secret\.key/

test('start check: a missing database is refused beside a key, and is not created', async t => {
  const { file, check } = await setUp(t)
  assert.match(await check(false), EMPTY)
  assert.not(existsSync(file))
  assert.is(await check(true), 'may start')
  assert.not(existsSync(file))
})

test('start check: an empty file is refused unchanged, and so is the log that is left beside it', async t => {
  const { file, check } = await setUp(t)
  writeFileSync(file, '')
  assert.match(await check(false), EMPTY)
  writeFileSync(`${file}-wal`, 'what may be left of it')
  assert.match(await check(false), EMPTY)
  assert.equal([statSync(file).size, readFileSync(`${file}-wal`, 'utf8')], [0, 'what may be left of it'])
})

test('start check: a folder that nothing has used may begin', async t => {
  const { path, check } = await setUp(t)
  rmSync(join(path, 'secret.key'))
  assert.is(await check(false), 'may start')
})

test.run()
