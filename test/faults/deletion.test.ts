import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Id } from '../../src/lib/ids.ts'
import { sqliteDatabase, type TestDatabase } from '../kit/database.ts'
import { accountTables, fullAccount, tablesWith } from '../kit/full-account.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('kill -9 while an account is deleted', { limitMs: 240_000 })
const ATTACHMENT = { filename: 'a.txt', content: Buffer.alloc(70_000, 'shared').toString('base64') }
/** Time after which the row of a deleted account may go; the program has no clock that a test can move. */
const SETTLED_MS = 10 * 60_000

/** Two accounts of which one will be deleted, with an attachment in common and one of their own each. */
async function openAccounts(t: TestContext) {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-faults-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const mailhorn = await startMailhorn({ dataDir })
  const other = await fullAccount(mailhorn, 'other', 'other.example')
  const gone = await fullAccount(mailhorn, 'gone', 'gone.example')
  await attach(mailhorn, other.session, 'other')
  await attach(mailhorn, gone.session, 'gone')
  const { operator } = gone
  await mailhorn.close()
  const database = sqliteDatabase(join(dataDir, 'mailhorn.db'))
  t.after(database.release)
  return { dataDir, database, operator, other, gone }
}

async function attach(mailhorn: Mailhorn, session: string, name: string) {
  const own = { filename: 'b.txt', content: Buffer.alloc(70_000, name).toString('base64') }
  const body = {
    ...{ from: `ann@unverified.${name}.example`, to: 'delivered@simulator.test', subject: name, text: name },
    attachments: [ATTACHMENT, own],
  }
  assert.is((await mailhorn.call('POST', '/emails', { session, body })).status, 200)
}

test('killed at each of its steps, the deletion goes on, and others keep everything', async t => {
  const { dataDir, database, operator, other, gone } = await openAccounts(t)
  const names = `${dataDir}-killed-at`
  t.after(() => rmSync(names, { force: true }))
  writeFileSync(names, '')
  const account = Buffer.from(gone.id).toString('hex')
  const preload = (only: object) =>
    new URL(`killed-at-command.ts?${new URLSearchParams({ account, names, ...only })}`, import.meta.url)
  const killedAt = () => readFileSync(names, 'utf8').split('\n').slice(0, -1)
  const before = keysOf(database, other.id)

  // given: an account whose deletion was ordered, and the program killed before it could answer
  const first = await t.using(startProgram({ dataDir, preload: preload({ only: 'deleteAccount' }) }))
  const order = first.call('DELETE', `/accounts/${gone.wireId}`, { token: operator })
  await Promise.all([first.ended, order.catch(() => undefined)])
  assert.equal(killedAt(), ['deleteAccount'], first.output)
  requireWhole(database, dataDir, other.id, before)
  assert.equal(database.rows('select 1 from users where account_id = ?', gone.id), [])
  database.change('update accounts set deleted_at = deleted_at - ? where id = ?', SETTLED_MS, gone.id)

  // when: each start is killed after the first step of a kind at which none was killed before
  while (database.rows('select 1 from accounts where id = ?', gone.id).length > 0) {
    const seen = killedAt().length
    const end = await runProgram({ dataDir, preload: preload({}) })
    assert.is(killedAt().length, seen + 1, `not killed after ${killedAt().at(-1)}: ${end.output}`)
    requireWhole(database, dataDir, other.id, before)
  }

  // then: nothing of it is left, whatever the step, and the other account works
  console.log(`killed after: ${killedAt().join(', ')}`)
  for (const step of ['deleteDomain', 'cancelWaiting', 'deleteBeyond', 'deletePlainRowsOf', 'forgetAccount'])
    assert.ok(killedAt().includes(step), step)
  assert.equal(tablesWith(database, gone.id), [])
  const files = globSync(join(dataDir, 'blobs/*/*'))
  // a file that was left by a kill goes once it is old
  for (const file of files) utimesSync(file, 0, 0)
  const program = await t.using(startProgram({ dataDir }))
  const { status } = await program.call('GET', '/account', { token: other.session })
  assert.is(status, 200)
  await until(() => globSync('*/*', { cwd: join(dataDir, 'blobs') }).length === 2)
  requireWhole(database, dataDir, other.id, before)
})

/** The keys of all rows of an account, by table. */
function keysOf(database: TestDatabase, id: Id): Map<string, Set<string>> {
  return new Map(
    accountTables(database).map(table => {
      const columns = database
        .rows<{ name: string }>(`select name from pragma_table_info('${table}') where pk > 0`)
        .map(({ name }) => name)
      const rows = database.rows(`select ${columns.join(', ')} from ${table} where account_id = ?`, id)
      return [table, new Set(rows.map(row => JSON.stringify(row)))]
    }),
  )
}

/** The database is sound, and the account has every row, content and file that it had. */
function requireWhole(
  database: TestDatabase,
  dataDir: string,
  id: Id,
  before: ReadonlyMap<string, ReadonlySet<string>>,
) {
  assert.equal(database.rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  const now = keysOf(database, id)
  for (const [table, keys] of before)
    assert.equal(
      [...keys].filter(key => !now.get(table)!.has(key)),
      [],
      `${table} has lost rows`,
    )
  assert.equal(database.rows('select id from emails where content_id not in (select id from contents)'), [])
  for (const { hash } of database.rows<{ hash: string }>(
    `select lower(json_extract(value, '$.hash')) as hash from emails, json_each(emails.attachments)
     where account_id = ? and json_extract(value, '$.hash') is not null`,
    id,
  )) {
    const [blob] = database.rows<{ body: unknown }>(
      'select body from blobs where lower(hex(hash)) = ? and refs > 0',
      hash,
    )
    assert.ok(blob, hash)
    if (blob.body === null)
      assert.ok(existsSync(join(dataDir, 'blobs', hash.slice(0, 2), hash)), `${hash} is missing`)
  }
}

test.run()
