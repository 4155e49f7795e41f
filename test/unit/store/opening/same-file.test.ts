import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { watchSameFile } from '../../../../src/store/opening/open.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('store/same-file')
const LOOK_MS = 5_000

async function open(t: TestContext) {
  const folder = await t.using(tempFolder())
  const path = join(folder.path, 'some.db')
  writeFileSync(path, 'one')
  const clock = createManualClock()
  const told: string[] = []
  const watch = watchSameFile(path, clock, ({ message }) => void told.push(message))
  t.after(() => watch.cancel())
  return { path, clock, told }
}

test('same file: a file that is written, or moved away and back, is the same', async t => {
  const { path, clock, told } = await open(t)
  writeFileSync(path, 'two')
  renameSync(path, `${path}.away`)
  renameSync(`${path}.away`, path)
  clock.advance(3 * LOOK_MS)
  assert.equal(told, [])
})

test('same file: a removed file is reported once', async t => {
  const { path, clock, told } = await open(t)
  rmSync(path)
  clock.advance(3 * LOOK_MS)
  assert.equal(told, [`${path} has been removed`])
})

test('same file: a replaced file is reported once', async t => {
  const { path, clock, told } = await open(t)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  clock.advance(3 * LOOK_MS)
  assert.equal(told, [`${path} has been replaced`])
})

test.run()
