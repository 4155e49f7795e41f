import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import * as assert from 'uvu/assert'
import { migrations } from '../../../src/store/migrations/index.ts'
import { columnsOf } from '../../../src/store/model/columns.ts'
import { describeAddress, readPostgresUrl } from '../../../src/store/postgres/address.ts'
import { columnTypes } from '../../../src/store/postgres/column-types.ts'
import { columnParsers } from '../../../src/store/postgres/connection.ts'
import { postgresErrorKind } from '../../../src/store/postgres/errors.ts'
import { beginSql, COUNT } from '../../../src/store/postgres/group.ts'
import { CLAIM, NEXT_DUE } from '../../../src/store/postgres/queue.ts'
import { postgresRows, rowStatements } from '../../../src/store/postgres/rows.ts'
import { COVERING } from '../../../src/store/postgres/search-index.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/postgres')

const typeOf = columnTypes(
  new Map([
    ['emails.account_id', 'bytea'],
    ['emails.id', 'bytea'],
    ['emails.status', 'text'],
    ['emails.sent_at', 'int8'],
    ['settings.key', 'text'],
    ['settings.value', 'text'],
  ]),
)
const statements = rowStatements(typeOf)
const oneLine = (sql: string) => sql.replace(/\s+/g, ' ').trim()

test('PostgreSQL columns: counts and times are numbers, bytes share no memory, and texts stay as they are', () => {
  const read = (oid: number, text: string) =>
    (columnParsers.getTypeParser(oid) as (text: string) => unknown)(text)
  const [INT8, NUMERIC, BYTEA, TEXT, INT4] = [20, 1700, 17, 25, 23] as const
  assert.equal(
    [read(INT8, '1700000000000'), read(NUMERIC, '42'), read(INT4, '7')],
    [1_700_000_000_000, 42, 7],
  )
  assert.is(read(TEXT, '\\x00ff'), '\\x00ff')
  const bytes = read(BYTEA, '\\x00ff10') as Buffer
  assert.equal([...bytes], [0, 255, 16])
  assert.is(bytes.buffer.byteLength, 3)
  assert.is((read(BYTEA, '\\x') as Buffer).length, 0)
})

test('PostgreSQL rows: rows of one shape are one statement with columns as arrays', () => {
  assert.is(
    statements.insert('emails', ['accountId', 'id', 'status']),
    'insert into emails (account_id, id, status) select * from unnest($1::bytea[], $2::bytea[], $3::text[])',
  )
  assert.is(
    statements.update('emails', ['accountId', 'id'], ['status', 'sentAt']),
    'update emails t set status = r.status, sent_at = r.sent_at ' +
      'from unnest($1::bytea[], $2::bytea[], $3::text[], $4::int8[]) as r(account_id, id, status, sent_at) ' +
      'where t.account_id = r.account_id and t.id = r.id',
  )
})

test('PostgreSQL rows: rows are found by their keys one by one and locked in that order', () => {
  const found =
    'select r.place, f.* from unnest($1::bytea[], $2::bytea[]) with ordinality as r(account_id, id, place) ' +
    'cross join lateral (select t.status as "status" from emails t ' +
    'where t.account_id = r.account_id and t.id = r.id limit 1'
  assert.is(statements.find('emails', ['accountId', 'id'], ['status'], false), `${found}) f`)
  assert.is(statements.find('emails', ['accountId', 'id'], ['status'], true), `${found} for update) f`)
})

test('PostgreSQL rows: each SQL text is made once', () => {
  assert.is(statements.insert('emails', ['id']), statements.insert('emails', ['id']))
  assert.throws(() => statements.insert('emails', ['nonsense']), /there is no column emails\.nonsense/)
})

test('PostgreSQL queue: a claim takes due deliveries of many queue keys and skips locked rows', () => {
  assert.match(oneLine(CLAIM), /order by next_at limit l\.most for update skip locked\)/)
  assert.match(
    oneLine(CLAIM),
    /set state = 1, attempts = d\.attempts \+ 1, lease_owner = \$6, lease_until = \$7/,
  )
  assert.match(oneLine(NEXT_DUE), /order by next_at limit 1/)
})

test('PostgreSQL group: counters are incremented, also by concurrent groups', () => {
  assert.match(
    oneLine(COUNT),
    /on conflict \(account_id, kind, period\) do update set count = counters\.count \+ excluded\.count$/,
  )
  assert.match(
    oneLine(COVERING),
    /where account_id = e\.account_id and last_id >= e\.id order by last_id limit 1/,
  )
})

test('PostgreSQL group: it runs alone or concurrently and takes its keys in one order', () => {
  assert.match(
    beginSql({ alone: true, names: ['a'] }),
    /^begin; select pg_advisory_xact_lock\(\d+, 1\); select value from settings where key = '[a-z.]+'$/,
  )
  assert.match(
    beginSql({ alone: false, names: [] }),
    /^begin; select pg_advisory_xact_lock_shared\(\d+, 1\); select value /,
  )
  const sql = beginSql({ alone: false, names: ['b', 'a', 'c'] })
  assert.is(sql, beginSql({ alone: false, names: ['c', 'b', 'a'] }))
  assert.match(sql, /as key; select value from settings where key = '[a-z.]+'$/)
  const keys = /'\{(.+)\}'::int8\[\]/.exec(sql)![1]!.split(',').map(BigInt)
  assert.equal(
    keys,
    keys.toSorted((a, b) => (a < b ? -1 : 1)),
  )
  assert.is(keys.length, 3)
})

test('PostgreSQL rows: rows and bytes of one statement are limited', async () => {
  const sizes: number[] = []
  const rows = postgresRows(async ({ values }) => {
    sizes.push((values![0] as unknown[]).length)
    return { rows: [], rowCount: 0, command: 'INSERT' }
  }, statements)
  const settings = (count: number, length: number) =>
    Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: 'x'.repeat(length) }))
  await rows.insert('settings', settings(2_500, 1))
  assert.equal(sizes.splice(0), [1_000, 1_000, 500])
  await rows.insert('settings', settings(5, 3_000_000))
  assert.equal(sizes.splice(0), [2, 2, 1])
  await rows.insert('settings', [])
  assert.equal(sizes, [])
})

test('PostgreSQL: every migration compiles to its SQL', async () => {
  const texts: string[] = []
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: own => new PostgresIntrospector(own),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void texts.push(query.sql),
  })
  for (const { up } of migrations) await up(db, columnsOf('postgres'))
  const all = texts.join(';\n')
  assert.match(all, /create table "emails" \("account_id" bytea not null, "id" bytea not null/)
  assert.match(all, /"subject" text collate "C" not null/)
  assert.match(all, /create table "contents" \("id" bigint generated by default as identity primary key/)
  assert.not.match(all, /without rowid|blob not null/)
})

for (const [error, trouble] of [
  [{ code: 'ECONNREFUSED' }, 'unavailable'],
  [{ code: '57P01' }, 'unavailable'],
  [{ code: '53300' }, 'unavailable'],
  [{ code: '25006' }, 'unavailable'],
  [{ code: '25P03' }, 'unavailable'],
  [{ code: '25P04' }, 'unavailable'],
  [{ message: 'Connection terminated unexpectedly' }, 'unavailable'],
  [{ message: 'Query read timeout' }, 'unavailable'],
  [{ code: '40001' }, 'contended'],
  [{ code: '40P01' }, 'contended'],
  [{ code: '23505' }, 'own'],
  [{ code: '42P01' }, 'own'],
  [{ message: 'a mistake' }, 'own'],
  [{ code: 'XX001' }, 'fatal'],
] as const)
  test(`PostgreSQL errors: ${JSON.stringify(error)} is ${trouble}`, () => {
    assert.is(postgresErrorKind(Object.assign(new Error(), error)), trouble)
  })

test('PostgreSQL address: it is parsed from a URL with a socket and TLS as parameters', () => {
  assert.equal(readPostgresUrl('postgres://ann:p%40ss@db.example:6432/mail'), {
    host: 'db.example',
    port: 6432,
    user: 'ann',
    password: 'p@ss',
    database: 'mail',
    tls: null,
  })
  const socket = readPostgresUrl('postgresql://ann@/mail?host=/run/postgresql')
  assert.equal([socket.host, socket.port, socket.password], ['/run/postgresql', 5432, undefined])
  const { tls } = readPostgresUrl('postgres://ann@[::1]/mail?sslmode=verify-full')
  assert.equal(tls, { rejectUnauthorized: true })
  assert.equal(readPostgresUrl('postgres://ann@db/mail?sslmode=require').tls, { rejectUnauthorized: false })
})

for (const [url, says] of [
  ['postgres://db/mail', /names no user/],
  ['postgres://ann@db/', /names no database/],
  [
    'postgres://ann@db/mail?sslmode=prefer',
    /must have an sslmode of disable, require or verify-full, not "prefer"/,
  ],
  ['postgres://ann@db/mail?speed=high', /unknown parameter "speed"/],
  ['postgres://ann:secret@db:port/mail', /must have the form/],
  ['postgres://ann:secret%@db/mail', /a % itself is written as %25/],
  [
    'postgres://ann@db/mail?sslmode=verify-full&sslrootcert=/no/such.pem',
    /such\.pem, which cannot be read \(ENOENT\)/,
  ],
] as const)
  test(`PostgreSQL address: ${url} is refused without revealing a secret`, () => {
    assert.throws(() => readPostgresUrl(url), says)
    assert.throws(
      () => readPostgresUrl(url),
      (error: Error) => !error.message.includes('secret'),
    )
  })

test('PostgreSQL address: the description has no password', () => {
  const told = describeAddress(readPostgresUrl('postgres://ann:secret@db.example/mail'))
  assert.is(told, 'database "mail" at db.example:5432 as user "ann"')
})

test.run()
