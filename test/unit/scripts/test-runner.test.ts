import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('test runner')
const root = join(import.meta.dirname, '../../..')
const KIT = pathToFileURL(join(root, 'test/kit/suite.ts')).href
const FRUIT = `
import { suite } from '${KIT}'
const test = suite('fruit')
test('an apple is ripe', () => {})
test('a pear is ripe', () => { throw new Error('unripe') })
test.run()
`
const STONES = `
import { suite } from '${KIT}'
const test = suite('stones')
test.before(() => { throw new Error('not selected') })
test('a stone is hard', () => {})
test.run()
`

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'fruit.test.ts'), FRUIT)
  writeFileSync(join(folder, 'stones.test.ts'), STONES)
  return folder
}

function run(...args: string[]) {
  const env = { ...process.env, TEST_INSIDE: '1' }
  return spawnSync(process.execPath, ['scripts/test.ts', ...args], { cwd: root, env, encoding: 'utf8' })
}

test('--grep runs only the tests whose title contains the text, in any case', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'APPLE')
  assert.is(status, 0, stdout)
  assert.match(stdout, /fruit\.test\.ts \(1\)/)
  assert.not.match(stdout, /stones/)
  assert.match(stdout, /^1 passed, 0 failed$/m)
})

test('--grep matches the name of the suite before the title', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'fruit: an apple')
  assert.is(status, 0, stdout)
  assert.match(stdout, /^1 passed, 0 failed$/m)
})

test('--grep fails when a selected test fails', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'a pear')
  assert.is(status, 1)
  assert.match(stdout, /unripe/)
  assert.match(stdout, /^0 passed, 1 failed$/m)
})

test('--grep that matches no test is an error', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'a plum')
  assert.is(status, 1)
  assert.match(stdout, /^no test title contains "a plum"$/m)
})

test('a path that does not exist is an error that names it', () => {
  const { status, stderr } = run('test/unit/no-such-folder')
  assert.is(status, 1)
  assert.match(stderr, /there is no file or folder test\/unit\/no-such-folder/)
})

test.run()
