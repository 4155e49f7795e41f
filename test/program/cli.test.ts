import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type CommandLineOptions, mailhornCommand } from '../kit/command-line.ts'
import { createDatabase, databaseOf, isOnPostgres } from '../kit/database.ts'
import { startFakeApi } from '../kit/fake-api.ts'
import { type FakeMx, startFakeMx } from '../kit/fake-mx.ts'
import { freePort } from '../kit/free-port.ts'
import { zoneText } from '../kit/mailhorn.ts'
import { type Program, printedApiKey, startProgram, verifyDomain } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { type ScriptedZone, startZone } from '../kit/zone.ts'

const test = suite('bin/mailhorn')
const PASSWORD = 'correct horse battery staple'
const NOBODY_ID = 65_534
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-cli-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

/** One service that runs all the while, and one folder in which another has run and stopped. */
let service: Scene
let used: string
test.before(async () => {
  service = await startScene()
  const parent = mkdtempSync(join(tmpdir(), 'mailhorn-cli-'))
  used = join(parent, 'data')
  if (!isOnPostgres) await runOnce(used)
})
test.after(async () => {
  await service.close()
  rmSync(join(used, '..'), { recursive: true })
})

async function runOnce(dataDir: string) {
  const program = await startProgram({ dataDir, settings: { ADMIN_PASSWORD: PASSWORD } })
  await program.end('SIGTERM')
}

interface Scene {
  program: Program
  dataDir: string
  zone: ScriptedZone
  close(): Promise<void>
}

/** A service that can send to `there.example`. */
async function startScene(): Promise<Scene> {
  const parent = mkdtempSync(join(tmpdir(), 'mailhorn-cli-'))
  const dataDir = join(parent, 'data')
  const zone: ScriptedZone = await startZone(ZONE)
  const mx: FakeMx = await startFakeMx({ host: '127.0.0.2' })
  const delivery = { DNS_RESOLVERS: zone.server, DELIVERY_PORT: String(mx.port), DELIVERY_THREADS: '1' }
  const program = await startProgram({ dataDir, settings: { ADMIN_PASSWORD: PASSWORD, ...delivery } })
  await verifyDomain(program, zone, { name: 'here.example', password: PASSWORD })
  return {
    program,
    dataDir,
    zone,
    async close() {
      await program.close()
      await mx.close()
      await zone.close()
      databaseOf(dataDir).drop()
      rmSync(parent, { recursive: true })
    },
  }
}

/**
 * The data of a service that has run and stopped, or was killed; a database that is no file is made by it,
 * and not copied.
 */
async function stopped(t: TestContext, how: 'stopped' | 'killed' = 'stopped') {
  const dataDir = join(folder(t), 'data')
  if (isOnPostgres) {
    t.after(databaseOf(dataDir).drop)
    await runOnce(dataDir)
  } else cpSync(used, dataDir, { recursive: true })
  if (how === 'killed') writeFileSync(join(dataDir, 'control.sock'), '')
  const start = () => t.using(startProgram({ dataDir, settings: { ADMIN_PASSWORD: PASSWORD } }))
  return { dataDir, start, ...typed({ dataDir }) }
}

function typed(options: CommandLineOptions) {
  const type = (line: string, more: Partial<CommandLineOptions> = {}) =>
    mailhornCommand(line.split(' '), { ...options, ...more })
  /** Runs a command with --json and returns the parsed output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into outputs of every shape
  const done = async (line: string, more: Partial<CommandLineOptions> = {}): Promise<any> => {
    const { code, out, err } = await type(`${line} --json`, more)
    if (code !== 0) throw new Error(`"${line}" ended with ${code}: ${err}`)
    return JSON.parse(out)
  }
  return { type, done }
}

async function signIn(program: Program, email: string, password: string) {
  return program.call('POST', '/auth/login', { body: { email, password } })
}

test('an account of another service is imported through the listener of the configuration', async t => {
  const { program, dataDir } = service
  const { type, done } = typed({ dataDir })
  const { id, token } = await done('token create import --scopes full')
  const fake = await t.using(
    startFakeApi({
      credentials: { authorization: 'Bearer re_there' },
      denied: { status: 401, body: {} },
      answer: ({ path }) =>
        path === '/suppressions'
          ? { body: { data: [{ id: '1', email: 'gone@there.example', origin: 'bounce' }], has_more: false } }
          : undefined,
    }),
  )
  const env = { MAILHORN_HTTP_LISTEN: new URL(program.baseUrl).host, MAILHORN_ACCESS_TOKEN: token }
  const line = `import resend --only suppressions --from ${fake.url}`
  const { code, out, err } = await type(line, { env, input: 're_there\n' })
  assert.equal([code, err], [0, 'Importing suppressions …\n'])
  assert.match(out, /^suppressions +1 +0 +0$/m)
  const found = await program.call('GET', '/suppressions/gone@there.example', { token })
  assert.is(found.body.reason, 'bounce')
  await done(`token delete ${id}`)
})

test('while the service runs, users and keys are made, shown, changed and deleted at once', async () => {
  const { program, dataDir } = service
  const { type, done } = typed({ dataDir })
  const made = await done('user create Ann@Here.example --operator')
  const login = await signIn(program, 'ann@here.example', made.password)
  assert.equal([login.status, login.body.user.operator], [200, true])
  const { users } = await done('user list')
  assert.equal(
    users.map(({ address }: { address: string }) => address),
    ['admin@mailhorn.test', 'ann@here.example'],
  )
  const again = await type('user create ann@here.example')
  assert.equal([again.code, again.out], [1, ''])
  assert.match(again.err, /^mailhorn: User ann@here\.example already exists\.\n$/)

  const reset = await done('user password ann@here.example --password-stdin', { input: 'another one\n' })
  assert.equal([reset.password, reset.ended_sessions], [null, 1])
  assert.is((await program.call('GET', '/auth/session', { token: login.body.token })).status, 401)
  assert.is((await signIn(program, 'ann@here.example', made.password)).status, 401)
  assert.is((await signIn(program, 'ann@here.example', 'another one')).status, 200)

  const key = await done('key create CI')
  assert.is((await program.call('POST', '/emails', { token: key.token, body: {} })).status, 422)
  assert.equal(
    (await done('key list')).keys.map(({ name }: { name: string }) => name),
    ['First key', 'CI'],
  )
  const robot = await done('token create Robot --scopes domains:read')
  assert.is((await program.call('GET', '/domains', { token: robot.token })).status, 200)
  assert.is((await program.call('POST', '/emails', { token: robot.token, body: {} })).status, 403)
  await done(`token delete ${robot.id}`)
  assert.is((await program.call('GET', '/domains', { token: robot.token })).status, 401)
  assert.equal((await done('token list')).tokens, [])
  await done(`key delete ${key.id}`)
  assert.is((await program.call('POST', '/emails', { token: key.token, body: {} })).status, 401)
  assert.not(program.output.includes(key.token) || program.output.includes(made.password))
})

for (const how of ['stopped', 'killed'] as const)
  test(`with the service ${how} the same is done without it, and it finds that at its next start`, async t => {
    const { dataDir, start, done, type } = await stopped(t, how)
    const made = await done('user create ann@here.example --new-account Second')
    await done('user password admin@mailhorn.test --password-stdin', { input: 'another one' })
    const key = await done(`key create CI --account ${made.account_id}`)
    assert.equal(
      (await done('user list')).users.map(({ account }: { account: string }) => account),
      ['Main', 'Second'],
    )
    const { err } = await type('key create CI')
    assert.match(err, /more than one account/)
    assert.ok(err.includes(`${made.account_id}  Second`), err)
    assert.match((await type('token create CI --scopes full')).err, /acc_\S+ {2}Main/)
    assert.is((await type('queue')).out, 'The queue is empty.\n')
    assert.equal(await done('queue retry there.example far.example'), { deliveries: 0 })
    assert.equal(await done('queue retry --all'), { deliveries: 0 })
    assert.is((await done('queue hold --domain there.example')).is_new, true)
    const program = await start()
    assert.is((await done('queue holds')).length, 1)
    assert.is((await signIn(program, 'ann@here.example', made.password)).status, 200)
    assert.is((await signIn(program, 'admin@mailhorn.test', PASSWORD)).status, 401)
    assert.is((await signIn(program, 'admin@mailhorn.test', 'another one')).status, 200)
    assert.is((await program.call('POST', '/emails', { token: key.token, body: {} })).status, 422)
    assert.is((await done('key list')).keys.length, 2)
    assert.is(statSync(join(dataDir, 'control.sock')).mode & 0o777, 0o600)
  })

test('changes made at once without the service wait for each other', async t => {
  const { done } = await stopped(t)
  const made = await Promise.all([1, 2, 3].map(i => done(`key create CI-${i}`)))
  assert.is(new Set(made.map(({ id }) => id)).size, 3)
  assert.is((await done('key list')).keys.length, 4)
})

test('a service that is just starting is waited for', async t => {
  const { start, done } = await stopped(t)
  const [program, key] = await Promise.all([start(), done('key create CI')])
  assert.is((await program.call('POST', '/emails', { token: key.token, body: {} })).status, 422)
})

test('the queue shows what is deferred and why, and retry sends it now', async () => {
  const { program, dataDir } = service
  const { type, done } = typed({ dataDir })
  const token = printedApiKey(program)
  const body = { from: 'ann@here.example', to: 'grey-1@there.example', subject: 'hi', text: 'hi' }
  const { body: sent } = await program.call('POST', '/emails', { token, body })
  const email = async () => (await program.call('GET', `/emails/${sent.id}`, { token })).body
  await until(async () => (await email()).status === 'delivery_delayed')
  const shown = await done('queue')
  assert.equal([shown.fresh, shown.deferred, shown.domain_count], [0, 1, 1])
  assert.is(shown.domains[0].domain, 'there.example')
  assert.match(shown.domains[0].last_reply, /^mx\.there\.example: 4/)
  assert.match((await type('queue')).out, /there\.example +0 +1 +0 +0 +\d+ s +in \d+ \w+ +\S.*there\.example/)
  assert.equal(await done('queue retry elsewhere.example'), { deliveries: 0 })
  assert.equal(await done('queue retry THERE.example'), { deliveries: 1 })
  await until(async () => (await email()).status === 'delivered')
  assert.is((await type('queue')).out, 'The queue is empty.\n')
  const [{ transcripts }] = (await email()).recipients
  assert.equal(
    (await done(`email ${sent.id}`)).recipients[0].transcripts,
    transcripts,
    'as the API shows them',
  )
  const { out } = await type(`email ${sent.id}`)
  assert.match(out, /^grey-1@there\.example \(to\): delivered, 2 attempts\n[\s\S]* Attempt 2, /m)
  assert.match(out, /^ {6}final-dot +\d+ ms {2}250 /m)
})

test('a domain is added, its records are asked for, and a test email shows the reply of each MX host', async () => {
  const { dataDir, zone } = service
  const { type, done } = typed({ dataDir })
  const added = await done('domains add New.Example')
  assert.equal([added.name, added.status, added.records.length], ['new.example', 'pending', 6])
  assert.is((await done('domains add new.example')).id, added.id)
  const { out: lines } = await type('domains add new.example')
  assert.match(lines, /^send\.new\.example\. {2}MX {2}10 feedback-smtp\.us-west-2\.mailhorn\.test\.$/m)
  assert.match(lines, /^_dmarc\.new\.example\. {2}TXT {2}"v=DMARC1; p=none"$/m)
  assert.match((await type('domains add gmail.com')).err, /^mailhorn: .*gmail\.com/)

  const early = await type('email test ok@there.example --from ann@new.example')
  assert.is(early.code, 1)
  assert.match(
    early.err,
    /^ {2}_svc\.new\.example: Add a TXT record at _svc\.new\.example with the value svc-verify=/m,
  )
  assert.match(
    (await type('email test ok@there.example --from ann@far.example')).err,
    /mailhorn domains add far\.example/,
  )
  assert.match((await type('email test nobody')).err, /^mailhorn: The address "nobody" has no "@"\.\n$/)

  const both = await type('email test ok@there.example perm-550-511@there.example')
  assert.is(both.code, 1)
  assert.match(both.err, /^Sent eml_[\w-]+ from mailhorn@here\.example\.$/m)
  assert.match(both.out, /^ok@there\.example \(to\): delivered, 1 attempt\n.*: 250 /m)
  assert.match(both.out, /^perm-550-511@there\.example \(to\): bounced, 1 attempt\n(?:.*\n)+?.*550 5\.1\.1/m)

  zone.add(zoneText(added.records))
  const sent = await done('email test ok@there.example --from ann@new.example')
  assert.equal([sent.from, sent.recipients[0].status], ['ann@new.example', 'delivered'])
  assert.match((await type('email test ok@there.example')).err, /several domains.*--from/)
})

test('without the service no domain is added and no test email is sent', async t => {
  const { type } = await stopped(t)
  for (const line of ['domains add new.example', 'email test ok@there.example']) {
    const { code, err } = await type(line)
    assert.is(code, 1)
    assert.match(err, /^mailhorn: The service is not running\. Start it first/)
  }
})

test('where there is no data, nothing is made', async t => {
  if (isOnPostgres) return requireEmptiness(t)
  const dataDir = join(folder(t), 'data')
  for (const line of ['user list', 'key create CI', 'queue']) {
    const { code, out, err } = await typed({ dataDir }).type(line)
    assert.equal([code, out], [1, ''])
    assert.match(err, /^mailhorn: no database in .*--data-dir\)\n$/)
  }
  assert.not(existsSync(dataDir))
  mkdirSync(dataDir)
  assert.is((await typed({ dataDir }).type('key create CI')).code, 1)
  assert.equal(readdirSync(dataDir), [])
})

/** A database without tables, which stays so, as does the folder. */
async function requireEmptiness(t: TestContext) {
  const dataDir = join(folder(t), 'data')
  const database = createDatabase('')
  t.after(database.drop)
  const { type } = typed({ dataDir, env: { MAILHORN_DATABASE_URL: database.url } })
  for (const line of ['user list', 'key create CI', 'queue']) {
    const { code, out, err } = await type(line)
    assert.equal([code, out], [1, ''])
    assert.match(err, /^mailhorn: database "\w+" at .* is empty: start the service once.*\n$/)
  }
  assert.equal(database.rows("select 1 from information_schema.tables where table_schema = 'public'"), [])
  assert.not(existsSync(dataDir))
}

test('a database of another version is left as it is', async t => {
  const { dataDir, type } = await stopped(t)
  databaseOf(dataDir).change("insert into migrations (name, applied_at) values ('999-later', 0)")
  for (const line of ['key list', 'key create CI']) {
    const { code, err } = await type(line)
    assert.is(code, 1)
    assert.match(err, /another version/)
  }
})

if (isOnPostgres)
  test('a database that cannot be reached is named, without its password', async t => {
    const env = { MAILHORN_DATABASE_URL: `postgres://ann:secret@127.0.0.1:${await freePort()}/mail` }
    const { code, err } = await typed({ dataDir: folder(t), env }).type('key list')
    assert.is(code, 1)
    assert.match(
      err,
      /^mailhorn: database "mail" at 127\.0\.0\.1:\d+ as user "ann" cannot be read: .*ECONNREFUSED.*\n$/,
    )
    assert.not.match(err, 'secret')
  })
else
  test('a file that is no database is left as it is', async t => {
    const { dataDir, type } = await stopped(t)
    writeFileSync(join(dataDir, 'mailhorn.db'), 'this is no database at all')
    const { code, err } = await type('key list')
    assert.is(code, 1)
    assert.match(
      err,
      /^mailhorn: the database .*mailhorn\.db is damaged \(file is not a database\): restore a backup.*\n$/,
    )
  })

test('a wrong configuration is named, and a wrong line needs none', async t => {
  const env = { MAILHORN_DELIVERY_THREADS: 'many' }
  const { type } = typed({ dataDir: folder(t), env })
  const { code, err } = await type('user list')
  assert.is(code, 1)
  assert.match(err, /configuration is wrong:\ndelivery\.threads/)
  assert.is((await type('user lst')).code, 2)
  assert.is((await type('version')).code, 0)
})

test('a folder can be named from anywhere, and is the program’s own when it is not', async t => {
  const { dataDir } = await stopped(t)
  const env = { MAILHORN_DATA_DIR: 'no/such/folder' }
  const there = typed({ dataDir, env, cwd: join(dataDir, '..') })
  assert.is((await there.done('key list --data-dir data')).keys.length, 1)
  if (isOnPostgres) return
  const { err } = await there.type('key list')
  assert.match(err, new RegExp(`no database in ${join(import.meta.dirname, '../..', 'no/such/folder')}`))
})

test('it runs on the runtime of the lockfile, whatever Node the path has, also by a link', async t => {
  const path = folder(t)
  writeFileSync(join(path, 'node'), '#!/bin/sh\nexit 99\n')
  chmodSync(join(path, 'node'), 0o755)
  const link = join(path, 'mailhorn')
  symlinkSync(join(import.meta.dirname, '../../bin/mailhorn'), link)
  const env = { PATH: `${path}:${process.env.PATH}` }
  const { code, out } = await mailhornCommand(['version'], { dataDir: path, env, program: link })
  assert.equal([code, /^\d+\.\d+\.\d+\n$/.test(out)], [0, true])
})

test('without that runtime the path’s Node must be recent enough', async t => {
  const path = folder(t)
  const bin = join(path, 'app', 'bin')
  mkdirSync(join(path, 'app', 'node_modules'), { recursive: true })
  cpSync(join(import.meta.dirname, '../../bin'), bin, { recursive: true })
  mkdirSync(join(path, 'tools'))
  const node = (script: string) => {
    writeFileSync(join(path, 'tools', 'node'), `#!/bin/sh\n${script}\n`)
    chmodSync(join(path, 'tools', 'node'), 0o755)
  }
  const env = { PATH: `${join(path, 'tools')}:/usr/bin:/bin`, NODE_OPTIONS: '' }
  const run = () => mailhornCommand(['version'], { dataDir: path, env, program: join(bin, 'mailhorn') })
  node('case "$1" in -e) exit 1;; -p) echo 20.1.0;; *) exit 99;; esac')
  const old = await run()
  assert.is(old.code, 1)
  assert.match(old.err, /Node 20\.1\.0 is too old; please install Node 24/)
  node('case "$1" in -e) exit 0;; *) echo "$@";; esac')
  assert.equal(await run(), { code: 0, out: `${join(path, 'app')}/src/cli.ts version\n`, err: '' })
})

test('what was built of the sources is run, unless they have changed since', async t => {
  const root = join(folder(t), 'app')
  const place = (path: string, atSeconds: number) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), '')
    for (const name of [path, join(path, '..')]) utimesSync(join(root, name), atSeconds, atSeconds)
  }
  cpSync(join(import.meta.dirname, '../../bin'), join(root, 'bin'), { recursive: true })
  place('node_modules/.bin/node', 1_000)
  writeFileSync(join(root, 'node_modules/.bin/node'), '#!/bin/sh\necho "$@"\n')
  chmodSync(join(root, 'node_modules/.bin/node'), 0o755)
  const program = join(root, 'bin/mailhorn')
  const started = async () => (await mailhornCommand(['version'], { dataDir: root, program })).out
  place('build/cli.js', 2_000)
  place('build/stamp', 2_000)
  assert.is(await started(), `${root}/build/cli.js version\n`, 'there are no sources, as in the image')
  place('src/cli.ts', 1_000)
  assert.is(await started(), `${root}/build/cli.js version\n`)
  place('src/lib/clock.ts', 3_000)
  assert.is(await started(), `${root}/src/cli.ts version\n`)
})

test('serve runs the service, and takes no option but --no-migrate', async t => {
  const program = join(import.meta.dirname, '../../bin/mailhorn')
  const { code, err } = await mailhornCommand(['serve', '--port', '80'], { dataDir: folder(t), program })
  assert.equal(
    [code, err],
    [2, 'mailhorn: serve takes no option but --no-migrate; settings are environment variables\n'],
  )
})

test('output that cannot be written is one line, and not a success', async t => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const { code, err } = await mailhornCommand(['version'], { dataDir: folder(t), stdout: full })
  assert.is(code, 1)
  assert.match(err, /^mailhorn: the output cannot be written: ENOSPC.*\n$/)
})

test(
  'root acts as the folder’s owner, so that the service can go on with it',
  async t => {
    const { dataDir, done } = await stopped(t)
    chmodSync(join(dataDir, '..'), 0o755)
    for (const file of ['', ...readdirSync(dataDir)]) chownSync(join(dataDir, file), NOBODY_ID, NOBODY_ID)
    await done('key create CI')
    assert.is((await done('key list')).keys.length, 2)
    const owners = ['', ...readdirSync(dataDir)].map(file => statSync(join(dataDir, file)).uid)
    assert.equal([...new Set(owners)], [NOBODY_ID])
  },
  { skip: process.getuid!() === 0 ? undefined : 'it needs root' },
)

test('the names of the addresses in the configuration are looked up, without a service', async t => {
  const zone = await t.using(
    startZone('1.2.0.192.in-addr.arpa PTR out.here.example\nout.here.example A 192.0.2.1'),
  )
  const env = {
    MAILHORN_DNS_RESOLVERS: zone.server,
    MAILHORN_DELIVERY_SOURCE_IPS: '192.0.2.1=out.here.example,192.0.2.2',
  }
  const { code, out } = await typed({ dataDir: folder(t), env }).type('source')
  assert.is(code, 0)
  assert.equal(out.split('\n').slice(0, 3), [
    '192.0.2.1 out.here.example: ok',
    '192.0.2.2 mailhorn.test: failed',
    '  192.0.2.2 has no PTR record',
  ])
})

test.run()
