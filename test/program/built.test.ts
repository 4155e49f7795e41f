import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { builtFile } from '../kit/built.ts'
import { startProgram } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'

const test = suite('program/built')

test('what users start is ASCII, so that no thread keeps its text with two bytes a character', () => {
  const folder = dirname(builtFile('main'))
  const files = readdirSync(folder).filter(name => name.endsWith('.js'))
  assert.ok(files.includes('main.js') && files.includes('delivery.js'))
  const beyond = files.filter(name => readFileSync(join(folder, name)).some(byte => byte > 0x7f))
  assert.equal(beyond, [])
})

test('a signal to the shell of `npm start` alone stops the service', async t => {
  const parent = mkdtempSync(join(tmpdir(), 'mailhorn-npm-'))
  t.after(() => rmSync(parent, { recursive: true }))
  const program = await t.using(startProgram({ dataDir: join(parent, 'data'), byScript: true }))
  const { code, signal, output } = await program.end('SIGTERM')
  assert.equal([code, signal], [0, null])
  assert.match(output, /"event":"stopping"/)
  const answers = program.call('GET', '/healthz').then(
    () => true,
    () => false,
  )
  assert.is(await answers, false)
})

test.run()
