import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { migrations } from '../../../src/store/migrations/index.ts'
import { StorageUnavailable } from '../../../src/store/model/command.ts'
import { createRecentEmails } from '../../../src/store/model/recent.ts'
import { locate, openWriting } from '../../../src/store/opening/dialect.ts'
import { checkBeforeStart } from '../../../src/store/opening/start-check.ts'
import { readPostgresUrl } from '../../../src/store/postgres/address.ts'
import type { PostgresPool } from '../../../src/store/postgres/connection.ts'
import { prepareDatabase } from '../../../src/store/postgres/start.ts'
import { createDatabase, isOnPostgres } from '../../kit/database.ts'
import { freePort } from '../../kit/free-port.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/postgres start')
const address = readPostgresUrl('postgres://ann:secret@db.example/mail')

async function refusal(opening: Promise<unknown>): Promise<string> {
  try {
    await opening
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was opened')
}

const start = (url: string) =>
  openWriting(
    locate({ dataDir: '/nowhere', url }),
    { commands: {}, recent: createRecentEmails(), newId: createIdSource() },
    1,
  )

/** A pool whose server answers as a test wants. */
function pool(query: (sql: string) => unknown[]): PostgresPool {
  const answer = async ({ sql }: { sql: string }) => {
    const rows = query(sql)
    return { rows, rowCount: rows.length, command: 'SELECT' }
  }
  return {
    query: answer,
    use: work => work({ query: answer, isInTransaction: () => true, onNotice() {}, onLost() {} }),
    close: async () => {},
  }
}

test('PostgreSQL start: an unreachable server is named with the reason', async () => {
  const port = await freePort()
  const says = await refusal(start(`postgres://ann:secret@127.0.0.1:${port}/mail`))
  assert.match(says, `database "mail" at 127.0.0.1:${port} as user "ann" cannot be reached`)
  assert.match(says, 'ECONNREFUSED')
  assert.not.match(says, 'secret')
})

test('PostgreSQL start: a version that is too old is named with the oldest supported one', async () => {
  const old = pool(() => [{ major: 13, version: '13.11' }])
  assert.match(
    await refusal(prepareDatabase(old, address, async () => {})),
    /runs on PostgreSQL 13\.11; Mailhorn needs 14 or newer$/,
  )
})

test('PostgreSQL start: an encoding that cannot hold all text is refused with advice', async () => {
  const latin = pool(() => [{ major: 15, version: '15', encoding: 'LATIN7' }])
  assert.match(
    await refusal(prepareDatabase(latin, address, async () => {})),
    /has the encoding LATIN7, which cannot hold all text; create it with the encoding UTF8$/,
  )
})

for (const [code, says] of [
  ['28P01', /refuses the user or the password \(told\)$/],
  ['28000', /refuses the user or the password \(told\)$/],
  ['3D000', /there is no such database; create it first$/],
] as const)
  test(`PostgreSQL start: ${code} is explained to the operator`, async () => {
    const refusing: PostgresPool = {
      ...pool(() => []),
      use() {
        throw new StorageUnavailable('x', { cause: Object.assign(new Error('told'), { code }) })
      },
    }
    assert.match(await refusal(prepareDatabase(refusing, address, async () => {})), says)
  })

test('PostgreSQL start: missing rights of the user are named', async () => {
  const poor = pool(sql => {
    if (/server_version/.test(sql)) return [{ major: 15, version: '15', encoding: 'UTF8' }]
    if (/pg_aggregate/.test(sql)) return [{}]
    throw Object.assign(new Error('permission denied for schema public'), {
      code: sql === 'commit' ? '0' : '42501',
    })
  })
  assert.match(
    await refusal(prepareDatabase(poor, address, query => query({ sql: 'create table x ()' }))),
    /may not create tables there \(permission denied for schema public\); make it the owner of the database/,
  )
})

if (isOnPostgres) {
  test('PostgreSQL start: an empty database is migrated by one of several concurrent starts', async t => {
    const database = createDatabase('')
    t.after(database.drop)
    const stores = await Promise.all([1, 2, 3].map(() => start(database.url)))
    for (const store of stores) t.after(store.close)
    const counts = stores.map(store => store.migrations.length).sort((a, b) => a - b)
    assert.equal(counts.slice(0, 2), [0, 0])
    assert.is(counts[2], migrations.length)
  })

  test('PostgreSQL start: there are a least and a greatest id, also before PostgreSQL 18', async t => {
    const database = createDatabase('')
    t.after(database.drop)
    for (const _ of ['new', 'known']) await (await start(database.url)).close()
    const ids = "(values ('\\x02'::bytea), ('\\x0100'), ('\\x0301')) as ids(id)"
    const found = database.rows(`select min(id)::text as least, max(id)::text as greatest from ${ids}`)
    assert.equal(found, [{ least: '\\x0100', greatest: '\\x0301' }])
  })

  test('PostgreSQL start: an empty database is refused and stays empty where data is expected', async t => {
    const database = createDatabase('')
    t.after(database.drop)
    const folder = await t.using(tempFolder())
    const options = { dataDir: folder.path, url: database.url, secretKey: null }
    const tables = () => database.rows("select 1 from pg_tables where schemaname = 'public'").length
    writeFileSync(join(folder.path, 'secret.key'), `${'ab'.repeat(32)}\n`)
    assert.match(
      await refusal(checkBeforeStart({ ...options, startNew: false })),
      /^the database is empty \(.*\), but .*it holds secret\.key\./,
    )
    assert.is(tables(), 0)
    await checkBeforeStart({ ...options, startNew: true })
    await (await start(database.url)).close()
    await checkBeforeStart({ ...options, startNew: false })
    assert.ok(tables() > 5)
  })

  test('PostgreSQL start: a database of a newer version is refused unchanged', async t => {
    const database = createDatabase('', { isMigrated: true })
    t.after(database.drop)
    database.change("insert into migrations (name, applied_at) values ('999-from-the-future', 2)")
    assert.match(
      await refusal(start(database.url)),
      'made by a newer version (999-from-the-future); upgrade Mailhorn',
    )
  })
}

test.run()
