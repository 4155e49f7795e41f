import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { isOnPostgres, SQLITE_ONLY } from '../kit/database.ts'
import { freePort } from '../kit/free-port.ts'
import { printedApiKey, runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'

const test = suite('starting', { limitMs: 60_000 })

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-start-'))
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
  assert.is(email, 'admin@mailhorn.test')
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

test('with a file for the first credentials, these are in it, work, and are printed nowhere', async t => {
  const dataDir = folder(t)
  const settings = { ADMIN_CREDENTIALS_FILE: 'first-credentials' }
  const program = await t.using(startProgram({ dataDir, settings }))
  const file = join(dataDir, 'first-credentials')
  assert.is(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  const [, email, password, token] = /^User: (\S+)\nPassword: (\S+)\nAPI key: (\S+)\n$/.exec(text)!
  assert.not(program.output.includes(password!) || program.output.includes(token!))
  assert.match(program.output, `(in ${file})`)
  assert.is((await program.call('POST', '/auth/login', { body: { email, password } })).status, 200)
  assert.is((await program.call('POST', '/emails', { token: token!, body: {} })).status, 422)
  assert.is((await program.end('SIGTERM')).code, 0)
  const again = await t.using(startProgram({ dataDir, settings }))
  assert.is(readFileSync(file, 'utf8'), text, 'a later start leaves it as it is')
  assert.is((await again.call('GET', '/readyz')).status, 200)
})

test('a file for the first credentials that is there already is left as it is, and the first start can be tried again', async t => {
  const dataDir = folder(t)
  const settings = { ADMIN_CREDENTIALS_FILE: join(dataDir, '..', 'taken') }
  writeFileSync(settings.ADMIN_CREDENTIALS_FILE, 'of somebody else')
  const refused = await runProgram({ dataDir, settings })
  assert.match(lastLine(refused), `${settings.ADMIN_CREDENTIALS_FILE} is there already`)
  assert.is(readFileSync(settings.ADMIN_CREDENTIALS_FILE, 'utf8'), 'of somebody else')
  rmSync(settings.ADMIN_CREDENTIALS_FILE)
  await t.using(startProgram({ dataDir, settings }))
  assert.match(readFileSync(settings.ADMIN_CREDENTIALS_FILE, 'utf8'), /^API key: re_/m)
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
    ...(isOnPostgres ? [] : ['mailhorn.db', 'mailhorn.db-wal']),
  ])
    assert.ok(names.includes(name), `${name} is among ${names}`)
  assert.equal(looseBelow(dataDir), [])
  assert.is(statSync(dataDir).mode & 0o777, 0o755, 'the folder stays as it was made')
})

test('files that others may read are made private by the next start', async t => {
  const { dataDir } = await usedFolder(t)
  mkdirSync(join(dataDir, 'blobs'), { recursive: true })
  const loose = ['secret.key', 'blobs', ...(isOnPostgres ? [] : ['mailhorn.db'])]
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
  assert.match(
    second.output,
    new RegExp(
      `data folder .* is in use by another process \\(process ${first.pid}\\); stop it, or set another data_dir`,
    ),
  )
  assert.not.match(second.output, /Password|API key/)
  assert.equal((await first.call('GET', '/readyz')).body, { status: 'ready', mode: 'normal' })
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

test('is refused with another MAILHORN_SECRET_KEY than the one it began with', async t => {
  const settings = { SECRET_KEY: 'the first secret of all' }
  const { dataDir } = await usedFolder(t, settings)
  for (const other of [{ SECRET_KEY: 'another secret altogether' }, {}]) {
    const refused = await runProgram({ dataDir, settings: other })
    assert.is(refused.code, 1)
    assert.match(refused.output, /secret key is not the one .*MAILHORN_SECRET_KEY/)
    assert.not.match(refused.output, /another secret altogether/)
  }
  const program = await t.using(startProgram({ dataDir, settings }))
  assert.is((await program.call('GET', '/readyz')).status, 200)
})

/** Requires that the program printed one line, without a stack trace or log lines, and returns it. */
function onlyLine({ code, output }: { code: number | null; output: string }): string {
  assert.is(code, 1, output)
  assert.match(output, /^mailhorn: [^\n]+\n$/)
  return output
}

const HALF = (file: string) => truncateSync(file, Math.floor(statSync(file).size / 8_192) * 4_096)

for (const [how, damage, says] of [
  [
    'overwritten',
    (file: string) => writeFileSync(file, Buffer.alloc(8_192, 'this is no database ')),
    /file is not a database/,
  ],
  [
    'of zeros at its beginning',
    (file: string) => overwrite(file, 0, Buffer.alloc(100)),
    /file is not a database/,
  ],
  ['cut in half', HALF, /malformed/],
  ['full of other bytes', (file: string) => overwrite(file, 4_096, randomBytes(100_000)), /malformed/],
] as const)
  test(
    `a database that is ${how} is one line that names the file and the backup`,
    async t => {
      const { dataDir } = await usedFolder(t)
      const file = join(dataDir, 'mailhorn.db')
      damage(file)
      const line = onlyLine(await runProgram({ dataDir }))
      assert.match(line, `the database ${file} is damaged`)
      assert.match(line, says)
      assert.match(line, 'restore a backup, see "Restore" in docs/backup.md')
    },
    SQLITE_ONLY,
  )

/** From a position on. */
function overwrite(path: string, position: number, bytes: Uint8Array) {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, position)
  closeSync(file)
}

for (const [how, lose] of [
  ['gone', (file: string) => rmSync(file)],
  ['empty', (file: string) => truncateSync(file, 0)],
  [
    'a new one without tables',
    (file: string) => {
      rmSync(file)
      new Database(file).pragma('user_version = 1')
    },
  ],
] as const)
  test(
    `with a database that is ${how} beside its secret.key it does not begin anew unasked`,
    async t => {
      const { dataDir } = await usedFolder(t)
      const file = join(dataDir, 'mailhorn.db')
      const whole = readFileSync(file)
      lose(file)
      for (let i = 0; i < 2; i++) {
        const line = onlyLine(await runProgram({ dataDir }))
        assert.match(line, 'the database is empty')
        assert.match(line, 'Restore a backup')
        assert.match(line, 'MAILHORN_DATABASE_START_NEW=true')
      }
      writeFileSync(file, whole)
      const restored = await startProgram({ dataDir })
      assert.is((await restored.end('SIGTERM')).code, 0)
      lose(file)
      const program = await t.using(startProgram({ dataDir, settings: { DATABASE_START_NEW: 'true' } }))
      assert.match(program.output, /API key +re_/)
    },
    SQLITE_ONLY,
  )

test(
  'a secret from the configuration does not hide a lost database: stored files tell',
  async t => {
    const settings = { SECRET_KEY: 'a secret of the configuration' }
    const { dataDir } = await usedFolder(t, settings)
    rmSync(join(dataDir, 'mailhorn.db'))
    mkdirSync(join(dataDir, 'blobs', 'ab'), { recursive: true })
    assert.match(onlyLine(await runProgram({ dataDir, settings })), 'the database is empty')
  },
  SQLITE_ONLY,
)

test('is refused with a lock that is damaged, in one line', async t => {
  const { dataDir } = await usedFolder(t)
  writeFileSync(join(dataDir, 'lock'), Buffer.alloc(8_192, 'x'))
  assert.match(onlyLine(await runProgram({ dataDir })), 'it holds no data: remove it')
})

test('is refused with a setting that cannot be, which is named', async t => {
  const refused = await runProgram({ dataDir: folder(t), settings: { DELIVERY_THREADS: 'many' } })
  assert.is(refused.code, 1)
  assert.match(refused.output, /delivery\.threads \(environment\): must be an integer/)
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
  for (const [variable, key] of Object.entries(LISTENERS)) {
    const dataDir = folder(t)
    const refused = await runProgram({ dataDir, settings: { [variable]: `127.0.0.1:${port}` } })
    assert.not(existsSync(dataDir), 'nothing was written')
    const line = lastLine(refused)
    assert.match(line, `cannot listen on 127.0.0.1:${port} (${key}): another program uses the port`)
  }
})

const LISTENERS = {
  HTTP_LISTEN: 'http.listen',
  DNS_LISTEN: 'dns.listen',
  SMTP_INBOUND_LISTEN: 'smtp.inbound.listen',
  SMTP_SUBMISSION_LISTEN: 'smtp.submission.listen',
}

/**
 * Returns the error line of a start that logged before it failed, and requires that the log has no other
 * error.
 */
function lastLine({ code, output }: { code: number | null; output: string }): string {
  assert.is(code, 1, output)
  assert.not.match(output, /^\s+at /m)
  assert.not.match(output, /"level":"(?:error|fatal)"/)
  return /^mailhorn: .*$/m.exec(output)![0]
}

for (const [variable, key] of Object.entries(LISTENERS))
  test(`${key}: an address that no interface has is one line with advice`, async t => {
    const settings = { [variable]: '192.0.2.53:10053' }
    const line = lastLine(await runProgram({ dataDir: folder(t), settings }))
    assert.match(
      line,
      `cannot listen on 192.0.2.53:10053 (${key}): no interface of this machine has that address`,
    )
    assert.match(line, 'listen on 0.0.0.0:10053')
    assert.is(line.includes('dns.addresses'), key === 'dns.listen')
  })

test('an error that nobody foresaw is told by the lines of the sources', async t => {
  const preload = new URL('./unforeseen-mkdir.ts', import.meta.url)
  const { code, output } = await runProgram({ dataDir: folder(t), preload })
  assert.is(code, 1)
  const [, path, line] = /at openStore \(file:\/\/(\S+\/src\/store\/opening\/open\.ts):(\d+)\)/.exec(output)!
  assert.match(readFileSync(path!, 'utf8').split('\n')[Number(line) - 1]!, 'mkdirSync(options.dataDir')
})

test.run()
