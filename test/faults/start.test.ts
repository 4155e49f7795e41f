import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isOnPostgres } from '../kit/database.ts'
import { freePort } from '../kit/free-port.ts'
import { printedApiKey, runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'

const test = suite('starting', { limitMs: 60_000 })

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'posthorn-start-'))
  t.after(() => rmSync(path, { recursive: true }))
  return join(path, 'data')
}

/** A data folder in which the program has run. */
async function usedFolder(t: TestContext, settings: Record<string, string> = {}) {
  const dataDir = folder(t)
  const program = await startProgram({ dataDir, settings })
  assert.is((await program.end('SIGTERM')).code, 0)
  return { dataDir, apiKey: printedApiKey(program) }
}

test('the first time prints user, password and key, which work, and a line to try', async t => {
  const program = await t.using(startProgram({ dataDir: folder(t) }))
  const [, email] = /User +(\S+)/.exec(program.output)!
  const [, password] = /Password +(\S+)/.exec(program.output)!
  const key = printedApiKey(program)
  assert.is(email, 'admin@posthorn.test')
  const login = await program.call('POST', '/auth/login', { body: { email, password } })
  assert.is(login.status, 200)
  assert.match(program.output, new RegExp(`${program.baseUrl}`))
  const [, curl] = /^ *(curl .*)$/m.exec(program.output)!
  assert.ok(curl!.includes(key) && curl!.includes(`${program.baseUrl}/emails`))
  const body = JSON.parse(/-d '(.*)'/.exec(curl!)![1]!)
  const sent = await program.call('POST', '/emails', { token: key, body })
  assert.is(sent.status, 200, 'the line works as it stands')
})

test('the second time prints neither, and the key still works', async t => {
  const { dataDir, apiKey } = await usedFolder(t)
  const program = await t.using(startProgram({ dataDir }))
  assert.not.match(program.output, /Password|API key|re_\w/)
  assert.is((await program.call('POST', '/emails', { token: apiKey, body: {} })).status, 422)
})

test('a password from the configuration is not printed', async t => {
  const settings = { ADMIN_PASSWORD: 'a chosen password', ADMIN_EMAIL: 'Me@Here.example' }
  const program = await t.using(startProgram({ dataDir: folder(t), settings }))
  assert.not(program.output.includes(settings.ADMIN_PASSWORD))
  const body = { email: 'me@here.example', password: settings.ADMIN_PASSWORD }
  assert.is((await program.call('POST', '/auth/login', { body })).status, 200)
})

test('what it stores is for its owner alone', async t => {
  const { dataDir } = await usedFolder(t)
  assert.is(statSync(dataDir).mode & 0o777, 0o700)
  assert.is(statSync(join(dataDir, 'secret.key')).mode & 0o777, 0o600)
})

/** Every file and folder below a folder that the group or others may do something with. */
function looseBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => (statSync(join(folder, name)).mode & 0o077) !== 0,
  )
}

/** Large enough for a file of its own. */
const attachment = { filename: 'a.bin', content: Buffer.alloc(100_000, 'x').toString('base64') }

test('in a folder that others may look into, all that it stores is for its owner alone', async t => {
  const dataDir = folder(t)
  mkdirSync(dataDir)
  chmodSync(dataDir, 0o755)
  const program = await t.using(startProgram({ dataDir }))
  const body = {
    ...{ from: 'ann@simulator.test', to: 'delivered@simulator.test', subject: 's', text: 't' },
    attachments: [attachment],
  }
  const sent = await program.call('POST', '/emails', { token: printedApiKey(program), body })
  assert.is(sent.status, 200)
  const names = readdirSync(dataDir)
  for (const name of [
    'secret.key',
    'lock',
    'blobs',
    ...(isOnPostgres ? [] : ['posthorn.db', 'posthorn.db-wal']),
  ])
    assert.ok(names.includes(name), `${name} is among ${names}`)
  assert.equal(looseBelow(dataDir), [])
  assert.is(statSync(dataDir).mode & 0o777, 0o755, 'the folder stays as it was made')
})

test('files that others may read are made private by the next start', async t => {
  const { dataDir } = await usedFolder(t)
  mkdirSync(join(dataDir, 'blobs'), { recursive: true })
  const loose = ['secret.key', 'blobs', ...(isOnPostgres ? [] : ['posthorn.db'])]
  for (const name of loose) chmodSync(join(dataDir, name), 0o755)
  const program = await startProgram({ dataDir })
  assert.is((await program.end('SIGKILL')).signal, 'SIGKILL')
  assert.equal(looseBelow(dataDir), [], 'also what a killed service leaves')
})

test('a second process on the same folder is refused, and the first goes on', async t => {
  const dataDir = folder(t)
  const first = await t.using(startProgram({ dataDir }))
  const second = await runProgram({ dataDir })
  assert.is(second.code, 1)
  assert.match(second.output, /data folder .* is in use by another process/)
  assert.not.match(second.output, /Password|API key/)
  assert.equal((await first.call('GET', '/readyz')).body, { status: 'ready' })
})

for (const [what, damage, says] of [
  ['cut off', (text: string) => text.slice(0, 20), /secret\.key is damaged; restore it/],
  ['emptied', () => '', /secret\.key is damaged; restore it/],
  ['overwritten', () => 'not a key at all', /secret\.key is damaged; restore it/],
  [
    'replaced by another',
    () => `${'ab'.repeat(32)}\n`,
    /secret key is not the one this database was written with/,
  ],
  [
    'altered by one digit',
    (text: string) => `${text[0] === '0' ? '1' : '0'}${text.slice(1)}`,
    /secret key is not/,
  ],
] as const)
  test(`is refused with a secret.key that was ${what}, and possible again with the former one`, async t => {
    const { dataDir } = await usedFolder(t)
    const file = join(dataDir, 'secret.key')
    const former = readFileSync(file, 'utf8')
    writeFileSync(file, damage(former))
    const refused = await runProgram({ dataDir })
    assert.is(refused.code, 1)
    assert.match(refused.output, says)
    writeFileSync(file, former)
    const program = await t.using(startProgram({ dataDir }))
    assert.is((await program.call('GET', '/readyz')).status, 200)
  })

test('is refused when secret.key is gone', async t => {
  const { dataDir } = await usedFolder(t)
  rmSync(join(dataDir, 'secret.key'))
  const refused = await runProgram({ dataDir })
  assert.is(refused.code, 1)
  assert.match(refused.output, /secret key is not the one this database was written with/)
})

test('is refused with another POSTHORN_SECRET_KEY than the one it began with', async t => {
  const settings = { SECRET_KEY: 'the first secret of all' }
  const { dataDir } = await usedFolder(t, settings)
  for (const other of [{ SECRET_KEY: 'another secret altogether' }, {}]) {
    const refused = await runProgram({ dataDir, settings: other })
    assert.is(refused.code, 1)
    assert.match(refused.output, /secret key is not the one/)
    assert.not.match(refused.output, /another secret altogether/)
  }
  const program = await t.using(startProgram({ dataDir, settings }))
  assert.is((await program.call('GET', '/readyz')).status, 200)
})

test('is refused over a database that is none, with its name', async t => {
  const { dataDir } = await usedFolder(t)
  writeFileSync(join(dataDir, 'posthorn.db'), Buffer.alloc(8_192, 'this is no database '))
  const refused = await runProgram({ dataDir })
  assert.is(refused.code, 1)
  assert.match(refused.output, /not a database/)
})

test('is refused with a setting that cannot be, which is named', async t => {
  const refused = await runProgram({ dataDir: folder(t), settings: { DELIVERY_THREADS: 'many' } })
  assert.is(refused.code, 1)
  assert.match(refused.output, /delivery\.threads \(environment\): must be a whole number/)
})

test('is refused where the folder cannot be written', async t => {
  const dataDir = folder(t)
  writeFileSync(dataDir, 'a file in its place')
  chmodSync(dataDir, 0o400)
  const refused = await runProgram({ dataDir })
  assert.is(refused.code, 1)
  assert.match(refused.output, /EEXIST|ENOTDIR/)
})

test('is refused on a port that is taken, which is named', async t => {
  const port = await freePort()
  const taken = createServer().listen(port, '127.0.0.1')
  t.after(() => taken.close())
  const refused = await runProgram({ dataDir: folder(t), settings: { HTTP_LISTEN: `127.0.0.1:${port}` } })
  assert.is(refused.code, 1)
  assert.match(refused.output, new RegExp(`EADDRINUSE.*${port}`))
})

test('what goes wrong is told by the lines of the sources', async t => {
  const dataDir = folder(t)
  writeFileSync(dataDir, 'a file')
  const { code, output } = await runProgram({ dataDir })
  assert.is(code, 1)
  const [, path, line] = /at openStore \(file:\/\/(\S+\/src\/store\/open\.ts):(\d+)\)/.exec(output)!
  assert.match(readFileSync(path!, 'utf8').split('\n')[Number(line) - 1]!, 'mkdirSync(options.dataDir')
})

test.run()
