import { type Kysely, sql } from 'kysely'
import * as assert from 'uvu/assert'
import { migrate } from '../../../src/store/migrate.ts'
import { columnsOf } from '../../../src/store/migrations/columns.ts'
import { type Migration, migrations } from '../../../src/store/migrations/index.ts'
import { openForWriting, type SqliteConnection } from '../../../src/store/sqlite/connection.ts'
import { kyselyOver } from '../../../src/store/sqlite/kysely.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

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

test('migrate: folded text with a final sigma is converted', async t => {
  const connection = await openEmpty(t)
  const at = migrations.findIndex(({ name }) => name === '034-one-sigma')
  await migrate(dbOver(connection), 'sqlite', 1, migrations.slice(0, at))
  const { raw } = connection
  raw.exec(`
    pragma foreign_keys = off;
    insert into contacts (account_id, audience_id, id, email, folded_email, first_name, folded_first_name, last_name,
        folded_last_name, unsubscribed, properties, created_at, updated_at)
      values (x'01', x'02', x'03', 'a@b.test', 'a@b.test', 'Κώστας', 'κώστας', null, null, 0, '{}', 0, 0);
    insert into contact_values (contact_id, property_id, folded_value) values (x'03', 1, 'οδος σας'), (x'03', 2, 'σ')`)
  await migrate(dbOver(connection), 'sqlite', 2, migrations.slice(0, at + 1))
  assert.equal(raw.prepare('select first_name, folded_first_name, folded_last_name from contacts').all(), [
    { first_name: 'Κώστας', folded_first_name: 'κώστασ', folded_last_name: null },
  ])
  assert.equal(raw.prepare('select folded_value from contact_values order by property_id').pluck().all(), [
    'οδοσ σασ',
    'σ',
  ])
})

test('migrate: templates of an older database count as published', async t => {
  const connection = await openEmpty(t)
  const at = migrations.findIndex(({ name }) => name === '045-template-drafts')
  await migrate(dbOver(connection), 'sqlite', 1, migrations.slice(0, at))
  const { raw } = connection
  raw.exec(`insert into templates
    (account_id, id, name, folded_name, subject, content_id, version_count, created_at, updated_at)
    values (x'01', x'02', 'n', 'n', null, 1, 0, 5, 7), (x'01', x'03', 'n', 'n', null, 1, 0, 5, 8)`)
  await migrate(dbOver(connection), 'sqlite', 2, migrations.slice(0, at + 1))
  assert.equal(
    raw.prepare('select published_at, published_version, alias from templates order by id').all(),
    [7, 8].map(time => ({ published_at: time, published_version: null, alias: null })),
  )
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

test('migrate: emails of an older database have ended unless a delivery is in progress', async t => {
  const connection = await openEmpty(t)
  const { raw } = connection
  await migrate(dbOver(connection), 'sqlite', 1, migrations.slice(0, 1))
  const email = raw.prepare(
    `insert into emails (account_id, id, sender, subject, content_id, message_id, status, recipient_count, feedback,
       created_at, last_event_at) values ('a', ?, '', '', 1, '', 'delivered', 1, 1, 100, ?)`,
  )
  const delivery = raw.prepare(
    `insert into deliveries (email_id, ordinal, account_id, address, domain, kind, class, state, status, attempts,
       next_at, expires_at) values (?, ?, 'a', '', '', 'to', 0, ?, 'delivered', 1, 0, 0)`,
  )
  const emails: [id: string, lastEventAt: number | null, states: number[]][] = [
    ['done', 200, [2, 2]],
    ['silent', null, [2]],
    ['waiting', 200, [2, 0]],
    ['leased', 200, [1]],
  ]
  for (const [id, lastEventAt, states] of emails) {
    email.run(id, lastEventAt)
    for (const [ordinal, state] of states.entries()) delivery.run(id, ordinal, state)
  }
  await migrate(dbOver(connection), 'sqlite', 2)
  assert.equal(raw.prepare('select id, ended_at from emails order by id').raw().all(), [
    ['done', 200],
    ['leased', null],
    ['silent', 100],
    ['waiting', null],
  ])
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
