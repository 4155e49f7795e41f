/** The installation of dependencies at a first start, with a program in place of npm. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('scripts/setup')
const root = join(import.meta.dirname, '../../..')

/** A fresh checkout. Its npm notes its beginning and end, and fails when another one runs. */
async function checkout(t: TestContext) {
  const { path } = await t.using(tempFolder())
  mkdirSync(join(path, 'scripts'))
  mkdirSync(join(path, 'bin'))
  copyFileSync(join(root, 'scripts/setup.js'), join(path, 'scripts/setup.js'))
  for (const part of ['service', 'dashboard']) writeFileSync(join(path, `scripts/build-${part}.js`), '')
  writeFileSync(join(path, 'package.json'), '{"type":"module"}')
  writeFileSync(join(path, 'package-lock.json'), '{}')
  const npm = join(path, 'bin/npm')
  writeFileSync(
    npm,
    '#!/bin/sh\nmkdir busy || exit 7\necho run >> npm.log\nsleep 0.5\nmkdir -p node_modules\nrmdir busy\n',
  )
  chmodSync(npm, 0o755)
  const env = { ...process.env, PATH: `${join(path, 'bin')}:${process.env.PATH}` }
  const start = () => spawn(process.execPath, [join(path, 'scripts/setup.js')], { env, stdio: 'ignore' })
  return {
    path,
    start,
    run: async () => (await once(start(), 'exit'))[0] as number,
    installs: () => readFileSync(join(path, 'npm.log'), 'utf8').split('\n').length - 1,
  }
}

test('setup: several first starts at once install the dependencies once', async t => {
  const { run, installs, path } = await checkout(t)
  assert.equal(await Promise.all([run(), run(), run()]), [0, 0, 0])
  assert.is(installs(), 1)
  assert.not(existsSync(join(path, '.setup-lock')))
})

for (const [whose, holder] of [
  ['a process that has ended', '4194303'],
  ['another program', `${process.pid}`],
  ['nobody, since it is empty', ''],
] as const)
  test(`setup: a lock of ${whose} is not in the way`, async t => {
    const { run, installs, path } = await checkout(t)
    writeFileSync(join(path, '.setup-lock'), holder)
    assert.equal(await Promise.all([run(), run()]), [0, 0])
    assert.is(installs(), 1)
  })

test('setup: an installation that was killed is done again by the next start', async t => {
  const { start, run, path } = await checkout(t)
  const killed = start()
  while (!existsSync(join(path, 'busy'))) await new Promise(setImmediate)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  while (existsSync(join(path, 'busy'))) await new Promise(setImmediate)
  assert.ok(existsSync(join(path, '.setup-lock')))
  assert.is(await run(), 0)
  assert.not(existsSync(join(path, '.setup-lock')))
})

test.run()
