import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { sha256 } from '../../../src/store/blobs/staged.ts'
import { createRecentEmails } from '../../../src/store/model/recent.ts'
import { openLoading, openReader, openWriting, readSnapshot } from '../../../src/store/opening/dialect.ts'
import { readPostgresUrl } from '../../../src/store/postgres/address.ts'
import { createDatabase, POSTGRES_ONLY } from '../../kit/database.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('store/postgres load')

function database(t: TestContext, { schema = 'public' } = {}) {
  const made = createDatabase('')
  t.after(() => made.drop())
  const address = readPostgresUrl(made.url)
  if (schema !== 'public') {
    made.change(`create schema "${schema}"`)
    made.change(`alter database ${address.database} set search_path = "${schema}"`)
  }
  const tables = () =>
    made
      .rows<{ name: string }>(
        `select nspname || '.' || relname as name from pg_class join pg_namespace n on n.oid = relnamespace
         where relkind = 'r' and nspname in ('public', ?) order by relname`,
        schema,
      )
      .map(({ name }) => name)
  return { ...made, address, tables }
}

/** A dump of a store with one setting. */
async function dumped(t: TestContext, schema = 'public') {
  const { address } = database(t, { schema })
  const location = { kind: 'postgres' as const, address, blobFolder: '/nowhere' }
  const options = { commands: {}, recent: createRecentEmails(), newId: createIdSource() }
  await (await openWriting(location, options, 1)).close()
  const file = join((await t.using(tempFolder())).path, 'dump')
  await readSnapshot(address, async snapshot => {
    assert.is(snapshot.schema, schema)
    writeFileSync(file, Buffer.concat(await Array.fromAsync(snapshot.dump())))
  })
  return { file, schema }
}

async function refusal(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => assert.unreachable() as never,
    error => (error as Error).message,
  )
}

test(
  'load: a store comes back in a schema of its own, with its blobs, and the mark goes last',
  async t => {
    const dump = await dumped(t, 'the mail')
    const target = database(t, { schema: 'the mail' })
    const loading = await openLoading(target.address, dump)
    t.after(() => loading.close())
    assert.equal(target.tables(), ['the mail.mailhorn_restore'])
    await loading.loadDump()
    const bytes = randomBytes(300_000)
    const hash = sha256(bytes)
    async function* pieces() {
      yield bytes.subarray(0, 262_144)
      yield bytes.subarray(262_144)
    }
    await loading.storeBlob(hash, pieces, 4711)
    assert.ok(target.tables().includes('the mail.mailhorn_restore'))
    await loading.complete()
    assert.ok(!target.tables().includes('the mail.mailhorn_restore'))
    target.change('insert into "the mail".blobs values (?, ?, null, 1, 0)', hash, bytes.length)
    const { db, blobs } = openReader({ kind: 'postgres', address: target.address, blobFolder: '/nowhere' })
    t.after(() => db.destroy())
    assert.ok((await blobs.read(db, hash)).equals(bytes))
  },
  POSTGRES_ONLY,
)

test(
  'load: another schema is refused, and so is a database with tables, before anything is changed',
  async t => {
    const dump = await dumped(t, 'mail')
    const other = database(t)
    assert.match(
      await refusal(openLoading(other.address, dump)),
      /^the backup has its tables in the schema "mail", and this database takes new tables into "public": create the schema/,
    )
    const used = database(t, { schema: 'mail' })
    used.change('create table mail.notes (a int)')
    assert.match(
      await refusal(openLoading(used.address, dump)),
      /^database "\w+" at .* is not empty \(it holds notes\): stop the service, create an empty database, and set/,
    )
    assert.equal([other.tables(), used.tables()], [[], ['mail.notes']])
  },
  POSTGRES_ONLY,
)

test(
  'load: without pg_restore, the package to install is named before anything is changed',
  async t => {
    const dump = await dumped(t)
    const target = database(t)
    const { PATH } = process.env
    t.after(() => {
      process.env.PATH = PATH
    })
    process.env.PATH = (await t.using(tempFolder())).path
    assert.match(
      await refusal(openLoading(target.address, dump)),
      /^the program pg_restore is missing: install the package postgresql-client-\d+,/,
    )
    process.env.PATH = PATH
    assert.equal(target.tables(), [])
  },
  POSTGRES_ONLY,
)

test(
  'load: a store that is abandoned leaves the database empty, and another one can be loaded',
  async t => {
    const dump = await dumped(t)
    const target = database(t)
    for (const isLast of [false, true]) {
      const loading = await openLoading(target.address, dump)
      await loading.loadDump()
      assert.ok(target.tables().length > 20)
      await (isLast ? loading.complete() : loading.abandon())
      await loading.close()
      if (!isLast) assert.equal(target.tables(), [])
    }
    assert.ok(target.tables().includes('public.emails'))
  },
  POSTGRES_ONLY,
)

test(
  'load: an archive that is damaged is not loaded in part, and the message is that of pg_restore',
  async t => {
    const dump = await dumped(t)
    writeFileSync(dump.file, 'no archive')
    const target = database(t)
    const loading = await openLoading(target.address, dump)
    t.after(() => loading.close())
    assert.match(await refusal(loading.loadDump()), /^pg_restore failed: pg_restore: error: /)
    assert.equal(target.tables(), ['public.mailhorn_restore'])
    assert.match(
      await refusal(openLoading(target.address, dump)),
      /^a restore into database "\w+" at .* was interrupted/,
    )
  },
  POSTGRES_ONLY,
)

test.run()
