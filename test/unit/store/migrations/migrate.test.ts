import { type Kysely, sql } from 'kysely'
import * as assert from 'uvu/assert'
import { type Migration, migrations } from '../../../../src/store/migrations/index.ts'
import { migrate } from '../../../../src/store/migrations/migrate.ts'
import { columnsOf } from '../../../../src/store/model/columns.ts'
import { openForWriting, type SqliteConnection } from '../../../../src/store/sqlite/connection.ts'
import { kyselyOver } from '../../../../src/store/sqlite/kysely.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('store/migrate')

async function openEmpty(t: TestContext): Promise<SqliteConnection> {
  const folder = await t.using(tempFolder())
  return t.using(openForWriting(`${folder.path}/test.db`))
}

const dbOver = (connection: SqliteConnection) => kyselyOver(connection) as unknown as Kysely<unknown>

const step = (name: string, statement: string): Migration => ({
  name,
  up: async db => void (await sql.raw(statement).execute(db)),
})

function tables({ raw }: SqliteConnection): string[] {
  return raw
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .pluck()
    .all() as string[]
}

test('migrate: an empty database gets all tables of the schema', async t => {
  const connection = await openEmpty(t)
  const applied = await migrate(dbOver(connection), 'sqlite', 4711)
  assert.equal(
    applied,
    migrations.map(({ name }) => name),
  )
  for (const table of ['accounts', 'emails', 'deliveries', 'attempts', 'events', 'counters', 'blobs'])
    assert.ok(tables(connection).includes(table), table)
  assert.equal(connection.raw.prepare('select distinct applied_at from migrations').pluck().all(), [4711])
})

test('migrate: a second migration does nothing', async t => {
  const connection = await openEmpty(t)
  await migrate(dbOver(connection), 'sqlite', 1)
  const schema = connection.raw.prepare('select sql from sqlite_schema').pluck().all()
  assert.equal(await migrate(dbOver(connection), 'sqlite', 2), [])
  assert.equal(connection.raw.prepare('select sql from sqlite_schema').pluck().all(), schema)
  assert.equal(connection.raw.prepare('select distinct applied_at from migrations').pluck().all(), [1])
})

test('migrate: only new migrations are applied, in order', async t => {
  const connection = await openEmpty(t)
  const one = step('001-one', 'create table one (a)')
  const two = step('002-two', 'alter table one add column b')
  const three = step('003-three', 'create index three on one (b)')
  assert.equal(await migrate(dbOver(connection), 'sqlite', 1, [one]), ['001-one'])
  assert.equal(await migrate(dbOver(connection), 'sqlite', 2, [one, two, three]), ['002-two', '003-three'])
})

test('migrate: an unknown migration means a newer version and is refused before any change', async t => {
  const connection = await openEmpty(t)
  const one = step('001-one', 'create table one (a)')
  const two = step('002-two', 'create table two (a)')
  await migrate(dbOver(connection), 'sqlite', 1, [one, two])
  await migrate(dbOver(connection), 'sqlite', 1, [one, step('003-other', 'create table other (a)')]).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /newer version \(002-two\); upgrade Mailhorn/),
  )
  assert.not(tables(connection).includes('other'))
})

test('migrate: a database from before the first release is refused before any change', async t => {
  const connection = await openEmpty(t)
  await migrate(dbOver(connection), 'sqlite', 1, [step('001-main-path', 'create table one (a)')])
  await migrate(dbOver(connection), 'sqlite', 1).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /before 0\.1\.0, which cannot be upgraded/),
  )
  assert.equal(tables(connection), ['migrations', 'one'])
})

test('migrate: a failing migration leaves the former schema', async t => {
  const connection = await openEmpty(t)
  const one = step('001-one', 'create table one (a)')
  const bad = step('003-bad', 'create table nonsense (')
  await migrate(dbOver(connection), 'sqlite', 1, [one])
  connection.raw.exec('begin immediate')
  await migrate(dbOver(connection), 'sqlite', 1, [one, step('002-two', 'create table two (a)'), bad]).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /syntax|incomplete/),
  )
  connection.raw.exec('rollback')
  assert.equal(tables(connection), ['migrations', 'one'])
  assert.equal(connection.raw.prepare('select name from migrations').pluck().all(), ['001-one'])
})

test('migrate: the database returns freed space and enforces foreign keys', async t => {
  const connection = await openEmpty(t)
  await migrate(dbOver(connection), 'sqlite', 1)
  assert.is(connection.raw.pragma('auto_vacuum', { simple: true }), 2)
  assert.is(connection.raw.pragma('foreign_keys', { simple: true }), 1)
  assert.is(connection.raw.pragma('synchronous', { simple: true }), 2)
  assert.throws(
    () =>
      connection.raw.exec(
        "insert into users (id, account_id, email, password_hash, operator, created_at) values (x'01', x'02', '', '', 0, 0)",
      ),
    /FOREIGN KEY/,
  )
})

test('migrate: two accounts can request one domain name, but only one can have it verified', async t => {
  const connection = await openEmpty(t)
  await migrate(dbOver(connection), 'sqlite', 1)
  const { raw } = connection
  const insert = raw.prepare(
    `insert into domains (id, account_id, name, region, status, verification_token, open_tracking,
       click_tracking, receiving, created_at) values (?, ?, 'here.test', 'r', ?, 't', 0, 0, 0, 0)`,
  )
  for (const id of ['a', 'b', 'c'])
    raw
      .prepare("insert into accounts (id, name, plan, created_at) values (?, '', '', 0)")
      .run(Buffer.from(id))
  const claim = (account: string, status: string) =>
    insert.run(Buffer.from(`${account} ${status}`), Buffer.from(account), status)
  claim('a', 'verified')
  claim('b', 'pending')
  assert.throws(() => claim('c', 'temporary_failure'), /UNIQUE constraint failed: domains/)
  assert.throws(() => claim('b', 'failed'), /UNIQUE constraint failed: domains/)
})

test('migrate: contacts begin with the activity that the emails before 020 tell', async t => {
  // given: ann was sent two emails and clicked in one, a machine visited that to bob, cid is due
  const connection = await openEmpty(t)
  const { raw } = connection
  const before = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name === '020-contact-activity'),
  )
  await migrate(dbOver(connection), 'sqlite', 1, before)
  const account = Buffer.from('account')
  const contact = raw.prepare(
    `insert into contacts (account_id, audience_id, id, email, folded_email, unsubscribed, properties, created_at,
       updated_at) values (?, ?, ?, ?, ?, 0, '{}', 1, 1)`,
  )
  for (const name of ['ann', 'bob', 'cid'])
    contact.run(account, Buffer.from('all'), Buffer.from(name), `${name}@there.test`, `${name}@there.test`)
  const delivery = raw.prepare(
    `insert into deliveries (email_id, ordinal, account_id, address, domain, kind, class, state, status, attempts,
       next_at, expires_at, last_attempt_at) values (?, 0, ?, ?, 'there.test', 'to', 0, 2, 'delivered', 1, 0, 0, ?)`,
  )
  delivery.run(Buffer.from('1'), account, 'Ann@there.test', 100)
  delivery.run(Buffer.from('2'), account, 'ann@there.test', 200)
  delivery.run(Buffer.from('3'), account, 'bob@there.test', 300)
  delivery.run(Buffer.from('4'), account, 'cid@there.test', null)
  delivery.run(Buffer.from('5'), Buffer.from('other'), 'cid@there.test', 500)
  const visit = raw.prepare(
    `insert into visits (email_id, ordinal, link, account_id, count, machine_count, first_at, last_at)
       values (?, 0, ?, ?, ?, 1, 1, ?)`,
  )
  visit.run(Buffer.from('1'), -1, account, 1, 110)
  visit.run(Buffer.from('1'), 2, account, 1, 120)
  visit.run(Buffer.from('3'), -1, account, 0, 310)

  // when
  await migrate(dbOver(connection), 'sqlite', 2)

  // then
  const rows = raw.prepare('select * from contact_activity order by contact_id').raw().all() as unknown[][]
  assert.equal(
    rows.map(([id, ...times]) => [String(id), ...times]),
    [
      ['ann', 200, 110, 120],
      ['bob', 300, null, null],
    ],
  )
})

test('migrate: what was stored about destinations before 002 is kept', async t => {
  const connection = await openEmpty(t)
  const { raw } = connection
  await migrate(dbOver(connection), 'sqlite', 1, migrations.slice(0, 1))
  raw.exec(`
    insert into domain_sites (domain, site, seen_at) values ('there.test', 'mx.there.test', 1);
    insert into site_states (site, source, paused_until, pause_ms, reason, changed_at) values ('mx.there.test', '', 5, 4, 'r', 3);
    insert into site_caps (site, per_minute, created_at) values ('mx.there.test', 7, 1);
    insert into destination_replies (day, site, form, example, result, class, count, last_at)
      values ('2026-11-27', 'mx.there.test', 'f', 'e', 'deferred', 'other', 2, 1);`)
  assert.equal(
    await migrate(dbOver(connection), 'sqlite', 2),
    migrations.slice(1).map(({ name }) => name),
  )
  for (const table of [
    'domain_destinations',
    'destination_states',
    'destination_caps',
    'destination_replies',
  ])
    assert.equal(raw.prepare(`select destination from ${table}`).pluck().all(), ['mx.there.test'], table)
  assert.throws(
    () =>
      raw.exec(
        "insert into destination_caps (destination, per_minute, created_at) values ('mx.there.test', 8, 1)",
      ),
    /UNIQUE constraint failed/,
  )
})

test('migrate: index blocks from before 005 are removed, since they lack names and addresses', async t => {
  const connection = await openEmpty(t)
  const { raw } = connection
  await migrate(dbOver(connection), 'sqlite', 1, migrations.slice(0, 4))
  raw.exec(`
    insert into email_segments (id, account_id, after_id, last_id, earliest_at, latest_at, ids, subjects)
      values (1, x'01', x'00', x'02', 1, 1, x'02', x'');
    insert into email_segment_statuses (segment_id, statuses) values (1, x'01');
    insert into email_terms (segment_id, term, ordinals) values (1, 'to ann@there.test', x'00');`)
  await migrate(dbOver(connection), 'sqlite', 2, migrations.slice(0, 5))
  for (const table of ['email_segments', 'email_segment_statuses', 'email_terms'])
    assert.is(raw.prepare(`select count(*) from ${table}`).pluck().get(), 0, table)
})

test('migrate: column types differ between the databases where they must', () => {
  const compiled = (type: { toOperationNode(): unknown }) => JSON.stringify(type.toOperationNode())
  const [sqlite, postgres] = [columnsOf('sqlite'), columnsOf('postgres')]
  assert.match(compiled(sqlite.id), /blob/)
  assert.match(compiled(postgres.id), /bytea/)
  assert.match(compiled(postgres.integer), /bigint/)
  assert.match(compiled(sqlite.clustered), /without rowid/)
})

test.run()
