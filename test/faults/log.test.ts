import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type SilentProgram, startSilently } from '../kit/process.ts'
import { tempFolder } from '../kit/store.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

/** The service goes on where its log cannot be written. */
const test = suite('a log that cannot be written', { limitMs: 120_000 })

const ADMIN = { email: 'admin@mailhorn.test', password: 'a chosen password' }
const METRICS_TOKEN = 'figures'
const settings = { ADMIN_PASSWORD: ADMIN.password, METRICS_TOKEN, LOG_LEVEL: 'debug' }

function openFile(t: TestContext, path: string, flags: string): number {
  const file = openSync(path, flags)
  t.after(() => closeSync(file))
  return file
}

async function dropped(program: SilentProgram): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const text = await (await fetch(`${program.baseUrl}/metrics`, { headers })).text()
  return Number(/^mailhorn_log_lines_dropped_total (\d+)$/m.exec(text)![1])
}

/** @returns a session's token */
async function signIn(program: SilentProgram): Promise<string> {
  const { status, body } = await program.call('POST', '/auth/login', { body: ADMIN })
  assert.is(status, 200)
  return body.token as string
}

const email = (text: string) => ({
  from: 'ann@simulator.test',
  to: 'delivered@simulator.test',
  subject: 's',
  text,
})

test('on a full device it starts, says what it has dropped, delivers and stops', async t => {
  const { path: dataDir } = await t.using(tempFolder())
  const program = await t.using(startSilently({ dataDir, settings }, openFile(t, '/dev/full', 'w')))
  assert.ok((await dropped(program)) > 1, 'the first lines and the first password were for nobody')
  const token = await signIn(program)
  const before = await dropped(program)
  const { status, body } = await program.call('POST', '/emails', { token, body: email('t') })
  assert.is(status, 200, JSON.stringify(body))
  await until(async () => {
    const { body: shown } = await program.call('GET', `/emails/${body.id}`, { token })
    return shown.status === 'delivered'
  })
  await until(async () => (await dropped(program)) > before)
  assert.is((await program.end('SIGTERM')).code, 0)
})

test('without a reader it goes on', async t => {
  const { path: dataDir } = await t.using(tempFolder())
  const program = await t.using(startSilently({ dataDir, settings }, 'pipe'))
  program.stdout!.destroy()
  await until(async () => (await dropped(program)) > 0)
  await signIn(program)
  assert.is((await program.end('SIGTERM')).code, 0)
})

test('with a reader that stands still it goes on, and tells the reader later what is missing', async t => {
  const { path: dataDir } = await t.using(tempFolder())
  const program = await t.using(startSilently({ dataDir, settings }, 'pipe'))
  const path = `/nowhere/${'x'.repeat(4_000)}`
  await until(async () => {
    await program.call('GET', path)
    return (await dropped(program)) > 5
  })
  await signIn(program)
  let output = ''
  program.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await until(async () => {
    await program.call('GET', path)
    return output.includes('"event":"log_lines_dropped"')
  })
  assert.is((await program.end('SIGTERM')).code, 0)
  const lines = output.split('\n')
  const told = lines
    .filter(line => line.includes('"event":"log_lines_dropped"'))
    .map(line => JSON.parse(line))
  assert.ok(told.every(({ count }) => count > 0))
})

test('on the same full disk as the data it refuses what it cannot store, and serves what it can', async t => {
  const { path: folder } = await t.using(tempFolder())
  const limitBlocks = 6_000
  const logFile = join(folder, 'service.log')
  writeFileSync(logFile, `${'x'.repeat(limitBlocks * 512 - 2_000)}\n`)
  const program = await t.using(
    startSilently(
      { dataDir: join(folder, 'data'), settings, fileSizeLimit: limitBlocks },
      openFile(t, logFile, 'a'),
    ),
  )
  const token = await signIn(program)
  await until(async () => {
    const body = email(randomBytes(30_000).toString('hex'))
    return (await program.call('POST', '/emails', { token, body })).status === 503
  })
  await until(async () => (await dropped(program)) > 0)
  assert.is((await program.call('GET', '/healthz')).status, 200)
  assert.is((await program.call('GET', '/emails', { token })).status, 200)
  assert.is((await program.end('SIGTERM')).code, 0)
  assert.is(readFileSync(logFile).length, limitBlocks * 512, 'the log is as full as it can be')
})

test.run()
