import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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

/**
 * A folder of test files that run in one process. @param bodies of one test a file, in the order of running
 */
function filesOf(t: TestContext, ...bodies: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const [at, body] of bodies.entries())
    writeFileSync(
      join(folder, `${at + 1}.test.ts`),
      `import { suite } from '${KIT}'\nconst test = suite('file')\ntest('a test', async () => { ${body} })\ntest.run()\n`,
    )
  return folder
}

const run = (...args: string[]) => runWith({}, ...args)

function runWith(more: NodeJS.ProcessEnv, ...args: string[]) {
  const env = { ...process.env, TEST_INSIDE: '1', TEST_EXIT_GRACE_MS: '2000', ...more }
  return spawnSync(process.execPath, ['scripts/test.ts', ...args], { cwd: root, env, encoding: 'utf8' })
}

test('--grep runs only the tests whose title contains the text, in any case', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'APPLE')
  assert.is(status, 0, stdout)
  assert.match(stdout, /fruit\.test\.ts \(1\)/)
  assert.not.match(stdout, /stones/)
  assert.match(stdout, /^1 passed, 0 failed$/m)
})

const SKIPPED = `
import { suite } from '${KIT}'
const test = suite('trees')
test('an oak needs root', () => {}, { skip: 'it needs root' })
test('a fir is green', () => {})
test.run()
`

test('a skipped test is named with its reason and counted apart', t => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'trees.test.ts'), SKIPPED)
  const { status, stdout } = run(folder)
  assert.is(status, 0, stdout)
  assert.match(stdout, /^ +skipped: trees: an oak needs root: it needs root$/m)
  assert.match(stdout, /^1 passed, 0 failed, 1 skipped$/m)
})

test('a failed test beside a skipped one is a failure', t => {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'trees.test.ts'),
    SKIPPED.replace('() => {})\ntest.run', '() => { throw new Error() })\ntest.run'),
  )
  const { status, stdout } = run(folder)
  assert.is(status, 1, stdout)
  assert.match(stdout, /^0 passed, 1 failed, 1 skipped$/m)
})

test('--grep matches the name of the suite before the title', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'fruit: an apple')
  assert.is(status, 0, stdout)
  assert.match(stdout, /^1 passed, 0 failed$/m)
})

test('--grep does not load a file of the folder that lacks a word of it, and counts it', t => {
  const folder = filesOf(t, '', '')
  writeFileSync(join(folder, '1.test.ts'), 'throw new Error("loaded")')
  const { status, stdout } = run(folder, '--grep', 'file: A TEST')
  assert.is(status, 0, stdout)
  assert.match(stdout, /^1 files of \S+ do not contain the words of "file: A TEST"$/m)
  assert.match(run(join(folder, '1.test.ts'), '--grep', 'file: A TEST').stdout, /loaded/)
})

test('--grep fails when a selected test fails', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'a pear')
  assert.is(status, 1)
  assert.match(stdout, /unripe/)
  assert.match(stdout, /^0 passed, 1 failed$/m)
})

test('--except leaves a folder out, and no other whose name begins likewise', t => {
  const folder = filesOf(t, '')
  for (const name of ['slow', 'slowest']) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'fruit.test.ts'), FRUIT)
  }
  const { stdout } = run(folder, '--except', join(folder, 'slow'))
  assert.match(stdout, /^2 passed, 1 failed$/m)
})

test('--grep that matches no test is an error', t => {
  const { status, stdout } = run(folderOf(t), '--grep', 'a plum')
  assert.is(status, 1)
  assert.match(stdout, /^no test title contains "a plum"$/m)
})

test('files share a process, in which one finds the environment as it was before the other', t => {
  const { status, stdout } = run(
    filesOf(
      t,
      'process.env.LEFT = String(process.pid)',
      'console.log(process.pid); if (process.env.LEFT) throw new Error("left")',
      'throw new Error("third")',
    ),
  )
  assert.is(status, 1)
  assert.match(
    stdout,
    /FAIL \S+3\.test\.ts \(1\): 1 failed\n {5}in one process after \S+1\.test\.ts, \S+2\.test\.ts\n/,
  )
  assert.match(stdout, /^2 passed, 1 failed$/m)
})

test('a file in which the process dies fails, and those after it run', t => {
  const { status, stdout } = run(filesOf(t, '', 'console.log("last words"); process.exit(3)', ''))
  assert.is(status, 1)
  assert.match(stdout, /FAIL \S+2\.test\.ts \(0\): ran no test \(exit 3\)/)
  assert.match(stdout, /last words/)
  assert.match(stdout, /^2 passed, 1 failed$/m)
})

test('a file that keeps a handle open fails, and those after it run', t => {
  const { status, stdout } = run(filesOf(t, 'setInterval(() => {}, 1e6)', ''))
  assert.is(status, 1)
  assert.match(stdout, /FAIL \S+1\.test\.ts \(1\): keeps handles open after its last test/)
  assert.match(stdout, /still open: .*Timeout/)
  assert.match(stdout, /^2 passed, 1 failed$/m)
})

const LIMITS = { TEST_LIMIT_MS: '240000', TEST_LIMIT_FACTOR: '0.004' }
const HANGS = '() => new Promise(() => {})'
for (const [what, lines, name] of [
  ['before the tests', `test.before(${HANGS})\ntest('a test', () => {})`, 'before the tests of "file"'],
  ['after the tests', `test.after(${HANGS})\ntest('a test', () => {})`, 'after the tests of "file"'],
  ['in a test', `test('a test', ${HANGS})`, 'file: a test'],
  ['while a test is cleaned up', `test('a test', t => t.after(${HANGS}))`, 'file: a test'],
] as const)
  test(`what hangs ${what} is named while it does, and ended`, t => {
    const folder = filesOf(t, '')
    const head = `import { suite } from '${KIT}'\nconst test = suite('file')`
    writeFileSync(join(folder, '1.test.ts'), `${head}\n${lines}\ntest.run()\n`)
    const { status, stdout } = runWith({ ...LIMITS, TEST_LONG_MS: '50' }, folder)
    assert.is(status, 1)
    assert.ok(stdout.includes(`....  "${name}" has been running for `), stdout)
    assert.match(stdout, /took longer than 960 ms/)
    assert.match(stdout, /^0 passed, 1 failed$|^1 passed, 1 failed$/m)
  })

test('a file that reaches outside loopback fails even when it ignores the error', t => {
  const connect = 'const { connect } = await import("node:net"); try { connect(25, "192.0.2.1") } catch {}'
  const { status, stdout } = run(filesOf(t, connect, ''))
  assert.is(status, 1)
  assert.match(stdout, /FAIL \S+1\.test\.ts \(1\): reached outside loopback/)
  assert.match(stdout, /^2 passed, 1 failed$/m)
})

test('a suite that was never run fails its file alone', t => {
  const { status, stdout } = run(filesOf(t, 'suite("idle")', ''))
  assert.is(status, 1)
  assert.match(stdout, /suites declared but never run: idle/)
  assert.match(stdout, /ok {3}\S+2\.test\.ts/)
})

test('a path that does not exist is an error that names it', () => {
  const { status, stderr } = run('test/unit/no-such-folder')
  assert.is(status, 1)
  assert.match(stderr, /there is no file or folder test\/unit\/no-such-folder/)
})

test.run()
