/**
 * The start of a newer version, which migrates the database, and the way back. The version that the tests run
 * is the former one; the newer one has one more migration.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { commandsFor, folder, sendEmail, startScene } from '../kit/backups.ts'
import { mailhornCommand } from '../kit/command-line.ts'
import { createDatabase, databaseOf, POSTGRES_ONLY, SQLITE_ONLY } from '../kit/database.ts'
import { NEXT_MIGRATION, nextVersion } from '../kit/next-version.ts'
import { type ProgramOptions, runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('upgrade', { limitMs: 300_000 })

/**
 * A data folder of the former version with two emails that are due, and the newer version.
 * @param signal ends the former version; after a kill, a part of the database is in its log
 */
async function upgradable(t: TestContext, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') {
  const scene = await startScene(t, { ROLES: 'api' })
  const { dataDir, program, send } = scene
  const due = [await send(), await send()]
  await program.end(signal)
  const next = nextVersion(t)
  const snapshots = join(dataDir, 'snapshots')
  const startNext = (settings: ProgramOptions['settings'] = {}) =>
    t.using(startProgram({ dataDir, entry: next.entry, settings: { DELIVERY_THREADS: '1', ...settings } }))
  return { ...scene, due, next, snapshots, startNext }
}

/** Names of the migrations of a database file, and what its complete check says. */
function examined(file: string): { migrations: string[]; faults: unknown[] } {
  const raw = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const names = raw.prepare('select name from migrations order by name').pluck().all() as string[]
    const found = raw.pragma('integrity_check') as { integrity_check: string }[]
    return { migrations: names, faults: found.filter(({ integrity_check: line }) => line !== 'ok') }
  } finally {
    raw.close()
  }
}

const isComplete = (name: string) => name.endsWith('.db') && !name.startsWith('incomplete-')

test(
  'a newer version makes a snapshot and sends; the way back has the former schema, and the mail is held',
  async t => {
    const { dataDir, due, token, snapshots, startNext, next } = await upgradable(t, 'SIGKILL')
    assert.ok(statSync(join(dataDir, 'mailhorn.db-wal')).size > 0)
    const former = examined(join(dataDir, 'mailhorn.db')).migrations
    mkdirSync(snapshots)
    writeFileSync(join(snapshots, `incomplete-${former.at(-1)}-20261127T000000Z.db`), 'half')

    const newer = await startNext()
    const statusOf = async (program: typeof newer, id: string) =>
      (await program.call('GET', `/emails/${id}`, { token })).body.last_event as string | undefined
    const areAll = async (program: typeof newer, ids: readonly string[], status: string) =>
      (await Promise.all(ids.map(id => statusOf(program, id)))).every(each => each === status)
    await until(() => areAll(newer, due, 'delivered'))
    const since = await sendEmail(newer, token, Buffer.from('small'))
    await until(() => areAll(newer, [since], 'delivered'))
    await newer.end('SIGKILL')
    const made = newer.logs.find(({ event }) => event === 'snapshot_made')!
    const order = newer.logs.map(({ event }) => event)
    assert.ok(order.indexOf('snapshot_made') < order.indexOf('database_migrated'), order.join())
    assert.equal(readdirSync(snapshots), [(made.path as string).slice(snapshots.length + 1)])
    assert.match(made.path as string, new RegExp(`/${former.at(-1)}-\\d{8}T\\d{6}Z\\.db$`))
    assert.equal(
      [statSync(snapshots).mode & 0o777, statSync(made.path as string).mode & 0o777],
      [0o700, 0o600],
    )
    assert.equal(examined(made.path as string), { migrations: former, faults: [] })
    assert.ok(statSync(join(dataDir, 'mailhorn.db-wal')).size > 0)

    const refused = await runProgram({ dataDir })
    assert.match(refused.output, /^mailhorn: the database was made by a newer version \(997-next-version\); /)
    assert.ok(refused.output.includes(`\`mailhorn restore ${made.path}\``), refused.output)
    const tooNew = await mailhornCommand(['restore', snapshots], { dataDir, program: next.program })
    assert.match(tooNew.err, /has no snapshot of the schema 997-next-version of this version, only of /)

    const { done, type } = commandsFor(dataDir)
    const restored = await done(['restore', snapshots])
    assert.equal([restored.held.deliveries, restored.held.emails, restored.missing_blobs], [2, 2, 0])
    assert.equal(examined(join(dataDir, 'mailhorn.db')), { migrations: former, faults: [] })
    assert.match(restored.set_aside, /\/snapshots\/997-next-version-\d{8}T\d{6}Z\.db$/)
    assert.equal(examined(restored.set_aside), { migrations: [...former, NEXT_MIGRATION], faults: [] })
    assert.equal(
      readdirSync(dataDir).filter(name => name.includes('returning')),
      [],
    )
    const again = await t.using(startProgram({ dataDir }))
    const fresh = await sendEmail(again, token, Buffer.from('small'))
    await until(() => areAll(again, [fresh], 'delivered'))
    await until(async () => (await done(['queue'])).held === 2)
    assert.equal(await Promise.all(due.map(id => statusOf(again, id))), ['queued', 'queued'])
    assert.is((await again.call('GET', `/emails/${since}`, { token })).status, 404)
    const holds = await type(['queue', 'holds'])
    assert.match(holds.out, /restored from the snapshot of \S+; may have been sent since/)
    await done(['queue', 'release', '--entered-before', restored.held.entered_before])
    await until(() => areAll(again, due, 'delivered'))

    const running = await type(['restore', made.path as string])
    assert.match(running.err, /^mailhorn: the data folder \S+ is in use by another process/)
    await again.end('SIGTERM')
    const twice = await type(['restore', snapshots])
    assert.match(twice.err, /has the schema \S+ of the snapshot already, so that there is nothing to go back/)
    const forward = await mailhornCommand(['restore', snapshots], { dataDir, program: next.program })
    assert.match(forward.out, /^The snapshot of \S+ is the database of \S+ again\.\n/, forward.err)
    const newerAgain = await startNext()
    assert.ok(await areAll(newerAgain, [...due, since], 'delivered'))
  },
  SQLITE_ONLY,
)

test(
  'a damaged snapshot, and one of another schema, leave the database of the newer version in its place',
  async t => {
    const { dataDir, snapshots, startNext } = await upgradable(t)
    await (await startNext({ ROLES: 'api' })).end('SIGTERM')
    const [name] = readdirSync(snapshots)
    const path = join(snapshots, name!)
    const migrated = examined(join(dataDir, 'mailhorn.db')).migrations
    const { type } = commandsFor(dataDir)
    const other = join(snapshots, '001-schema-20261101T000000Z.db')
    cpSync(path, other)
    const refused = await type(['restore', other])
    assert.match(refused.err, /has the schema 001-schema, and this version has \S+: install the version/)
    const option = await type(['restore', path, '--skip-damaged'])
    assert.match(option.err, /are for backups, not for snapshots/)
    const bytes = readFileSync(path)
    bytes.fill(0xff, 8_192, 40_000)
    writeFileSync(path, bytes)
    const damaged = await type(['restore', path])
    assert.is(damaged.code, 1)
    assert.match(damaged.err, /^mailhorn: [^\n]*damaged[^\n]*\n$/)
    assert.not(existsSync(join(dataDir, 'mailhorn.db.returning')))
    assert.equal(examined(join(dataDir, 'mailhorn.db')).migrations, migrated)
    await (await startNext({ ROLES: 'api' })).end('SIGTERM')
  },
  SQLITE_ONLY,
)

test(
  'a start that is killed leaves complete snapshots alone, and a database of the former or the newer schema',
  async t => {
    const { dataDir, due, snapshots, startNext, token, next } = await upgradable(t)
    const former = examined(join(dataDir, 'mailhorn.db')).migrations
    const untouched = join(dataDir, '../untouched')
    cpSync(dataDir, untouched, { recursive: true })
    const moments = ['snapshot_started', 'snapshot_made', 'database_migrated'].map(event => `event=${event}`)
    for (const moment of [...moments, 'rename=1&when=before', 'rename=1&when=after']) {
      const killed = join(dataDir, `../killed at ${moment}`)
      cpSync(untouched, killed, { recursive: true })
      const end = await runProgram({ dataDir: killed, entry: next.entry, preload: killing(moment) })
      assert.is(end.signal, 'SIGKILL', end.output)
      const folder = join(killed, 'snapshots')
      const left = existsSync(folder) ? readdirSync(folder) : []
      assert.is(left.length, moment === moments[0] ? 0 : 1, `${moment}: ${left}`)
      for (const name of left.filter(isComplete))
        assert.equal(examined(join(folder, name)), { migrations: former, faults: [] }, moment)
      const { migrations, faults } = examined(join(killed, 'mailhorn.db'))
      assert.equal([migrations.length - former.length, faults], [moment === moments[2] ? 1 : 0, []], moment)
      if (left.every(isComplete)) continue
      await (await t.using(startProgram({ dataDir: killed, entry: next.entry }))).end('SIGTERM')
      assert.equal(readdirSync(folder).map(isComplete), [true], moment)
    }
    const program = await startNext()
    await until(async () => {
      const { body } = await program.call('GET', `/emails/${due[0]}`, { token })
      return body.last_event === 'delivered'
    })
    assert.is(readdirSync(snapshots).length, 1)
  },
  SQLITE_ONLY,
)

function killing(moment: string): URL {
  return new URL(`../faults/killed-at.ts?${moment}`, import.meta.url)
}

test(
  'a way back that is killed can be repeated, and the service starts on no other database meanwhile',
  async t => {
    const { dataDir, startNext, next } = await upgradable(t)
    await (await startNext({ ROLES: 'api' })).end('SIGTERM')
    const guard = new URL('../kit/guard.ts', import.meta.url).href
    const outcomes = {
      'rename=1&when=before': 'newer',
      'rename=1&when=after': 'none',
      'rename=2&when=before': 'none',
      'rename=2&when=after': 'former',
    }
    for (const [moment, outcome] of Object.entries(outcomes)) {
      const killed = join(dataDir, `../killed at ${moment}`)
      cpSync(dataDir, killed, { recursive: true })
      const database = join(killed, 'mailhorn.db')
      const snapshots = join(killed, 'snapshots')
      const { type, done } = commandsFor(killed)
      const env = { NODE_OPTIONS: `--import ${guard} --import ${killing(moment).href}` }
      assert.is((await type(['restore', snapshots], { env })).code, null, moment)
      if (outcome === 'none') {
        const refused = await runProgram({ dataDir: killed })
        assert.match(
          refused.output,
          /^mailhorn: the return to a snapshot was interrupted: run `mailhorn restore [^`]+snapshots` again\n$/,
        )
      } else {
        assert.is(examined(database).migrations.includes(NEXT_MIGRATION), outcome === 'newer', moment)
        const entry = outcome === 'newer' ? { entry: next.entry } : {}
        await (await t.using(startProgram({ dataDir: killed, settings: { ROLES: 'api' }, ...entry }))).end(
          'SIGTERM',
        )
      }
      if (outcome !== 'former') {
        const restored = await done(['restore', snapshots])
        assert.equal([restored.held.deliveries, restored.set_aside === null], [2, outcome === 'none'], moment)
      }
      assert.is((await done(['queue', 'holds'])).length, 1, moment)
      assert.is(readdirSync(snapshots).filter(isComplete).length, 2, moment)
    }
  },
  SQLITE_ONLY,
)

test('--no-migrate names the pending migrations, and applies them neither then nor makes a snapshot', async t => {
  const { dataDir, next, snapshots } = await upgradable(t)
  const applied = () => databaseOf(dataDir).rows('select name from migrations order by name').length
  const before = applied()
  const settings = { DATABASE_MIGRATE: 'false' }
  const { code, output } = await runProgram({ dataDir, entry: next.entry, settings })
  assert.is(code, 1)
  assert.match(
    output,
    /^mailhorn: the database has pending migrations \(997-next-version\), which are not applied, because database\.migrate is false \(--no-migrate\): start [^\n]*\n$/,
  )
  const typed = await mailhornCommand(['serve', '--no-migrate'], {
    dataDir,
    program: next.program,
    env: { MAILHORN_HTTP_LISTEN: '127.0.0.1:0' },
  })
  assert.equal([typed.code, typed.err], [1, output])
  const { out } = await mailhornCommand(['doctor', '--json'], { dataDir, program: next.program })
  const { findings } = JSON.parse(out) as { findings: { check: string; status: string; message: string }[] }
  const finding = findings.find(({ check }) => check === 'database_schema')!
  assert.is(finding.status, 'warning')
  assert.match(finding.message, /^The next start applies 997-next-version\./)
  assert.is(applied(), before)
  assert.not(existsSync(snapshots))
  databaseOf(dataDir).release()
  const current = await t.using(startProgram({ dataDir, settings: { ...settings, ROLES: 'api' } }))
  assert.is((await current.call('GET', '/readyz')).status, 200)
})

test('--no-migrate does not keep a new installation from starting', async t => {
  const dataDir = join(folder(t), 'data')
  await t.using(startProgram({ dataDir, settings: { DATABASE_MIGRATE: 'false' } }))
})

test(
  'a disk without room for a snapshot refuses the start before anything is written, and says what is missing',
  async t => {
    const parent = folder(t)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=700', 'tmpfs', parent])
    t.after(() => execFileSync('umount', [parent]))
    const dataDir = join(parent, 'data')
    await (await startProgram({ dataDir })).end('SIGTERM')
    const database = new Database(join(dataDir, 'mailhorn.db'))
    database.exec("insert into settings (key, value) values ('large', hex(randomblob(20000000)))")
    database.close()
    execFileSync('mount', ['-o', 'remount,size=90m', parent])
    const { entry } = nextVersion(t)
    const before = readdirSync(dataDir)
    const { code, output } = await runProgram({ dataDir, entry })
    assert.is(code, 1)
    assert.match(
      output,
      /^mailhorn: the disk of \S+ has \d+ MB free, and the snapshot before the migration of the database needs \d+ MB, \d+ MB more: free some, or enlarge the disk, or back up to another disk by `mailhorn backup`, and start once without a snapshot: MAILHORN_DATABASE_SNAPSHOTS=0\n$/,
    )
    assert.equal(readdirSync(dataDir), before)
    assert.not(examined(join(dataDir, 'mailhorn.db')).migrations.includes(NEXT_MIGRATION))
    execFileSync('mount', ['-o', 'remount,size=200m', parent])
    const program = await t.using(startProgram({ dataDir, entry }))
    assert.ok(program.logs.some(({ event }) => event === 'snapshot_made'))
    await program.end('SIGTERM')
  },
  SQLITE_ONLY,
)

test(
  'with database.snapshots=0 no snapshot is made, and the log says so',
  async t => {
    const { snapshots, startNext } = await upgradable(t)
    const newer = await startNext({ DATABASE_SNAPSHOTS: '0', ROLES: 'api' })
    assert.not(existsSync(snapshots))
    const skipped = newer.logs.find(({ event }) => event === 'snapshot_skipped')!
    assert.equal([skipped.reason, skipped.migrations], ['setting', [NEXT_MIGRATION]])
  },
  SQLITE_ONLY,
)

test(
  'a PostgreSQL database is migrated without a snapshot, and the log says how to go back',
  async t => {
    const { startNext } = await upgradable(t)
    const newer = await startNext({ ROLES: 'api' })
    const skipped = newer.logs.find(({ event }) => event === 'snapshot_skipped')!
    assert.equal([skipped.reason, skipped.migrations], ['postgres', [NEXT_MIGRATION]])
    assert.match(skipped.msg as string, /a backup \(`mailhorn backup`\) from before/)
  },
  POSTGRES_ONLY,
)

test(
  'the former version goes back to a backup of PostgreSQL from before the upgrade, and the mail is held',
  async t => {
    const { dataDir, backups, due, token, startNext, done } = await upgradable(t)
    await done(['backup', backups])
    const newer = await startNext()
    const statusOf = async (program: typeof newer, id: string) =>
      (await program.call('GET', `/emails/${id}`, { token })).body.last_event as string | undefined
    for (const id of due) await until(async () => (await statusOf(newer, id)) === 'delivered')
    await newer.end('SIGTERM')
    const refused = await runProgram({ dataDir })
    assert.match(
      refused.output,
      /was made by a newer version \(997-next-version\); upgrade Mailhorn, or go back by `mailhorn restore` with a backup/,
    )
    const empty = createDatabase('')
    t.after(() => empty.drop())
    const env = { MAILHORN_DATABASE_URL: empty.url }
    const restored = await done(['restore', backups], { env })
    assert.equal([restored.held.deliveries, restored.secret_key_restored], [2, false])
    const settings = { DATABASE_URL: empty.url, DELIVERY_THREADS: '1' }
    const again = await t.using(startProgram({ dataDir, settings }))
    const fresh = await sendEmail(again, token, Buffer.from('small'))
    await until(async () => (await statusOf(again, fresh)) === 'delivered')
    assert.equal(await Promise.all(due.map(id => statusOf(again, id))), ['queued', 'queued'])
    await done(['queue', 'release', '--entered-before', restored.held.entered_before], { env })
    for (const id of due) await until(async () => (await statusOf(again, id)) === 'delivered')
  },
  POSTGRES_ONLY,
)

test.run()
