/**
 * The start after a kill checks the pages of the database: at once, or in the background when there are many.
 */
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { isOnPostgres } from '../kit/database.ts'
import { runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('damaged starts', { limitMs: 120_000 })
const PAGE_BYTES = 4_096
const MANY_BYTES = 70_000_000

/** A database whose page of an unused table is zeroed. @param wasKilled whether a log is left behind */
async function damaged(t: TestContext, { bytes = 0, wasKilled = true } = {}) {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-damaged-'))
  t.after(() => rmSync(path, { recursive: true }))
  const dataDir = join(path, 'data')
  await (await startProgram({ dataDir })).end('SIGTERM')
  const file = join(dataDir, 'mailhorn.db')
  const raw = new Database(file)
  if (bytes > 0) raw.prepare("insert into settings (key, value) values ('large', zeroblob(?))").run(bytes)
  const page = raw.prepare("select pageno from dbstat where name = 'template_versions' limit 1").pluck().get()
  raw.close()
  const open = openSync(file, 'r+')
  writeSync(open, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, ((page as number) - 1) * PAGE_BYTES)
  closeSync(open)
  // Without a valid header, the log counts as one of a service that was killed, and SQLite reads nothing of
  // it.
  if (wasKilled) writeFileSync(`${file}-wal`, Buffer.alloc(32))
  return { dataDir, file }
}

test('a small database with a damaged page is refused after a kill', async t => {
  if (isOnPostgres) return
  const { dataDir, file } = await damaged(t)
  const { code, output } = await runProgram({ dataDir })
  assert.is(code, 1)
  assert.match(output, /^mailhorn: [^\n]+\n$/)
  assert.match(output, `the database ${file} is damaged (`)
  assert.match(output, 'restore a backup')
})

test('a large database is checked while the service runs, which says so and raises an alert', async t => {
  if (isOnPostgres) return
  const { dataDir, file } = await damaged(t, { bytes: MANY_BYTES })
  const program = await t.using(startProgram({ dataDir }))
  const [line] = await until(() => {
    const found = program.logs.filter(({ event }) => event === 'database_damaged')
    return found.length > 0 ? found : undefined
  })
  assert.is(line!.level, 'error')
  const raw = new Database(file, { readonly: true })
  const alerts = () => raw.prepare("select reply from operator_alerts where kind = 'database-damaged'").all()
  const [alert] = (await until(() => (alerts().length > 0 ? alerts() : undefined))) as [{ reply: string }]
  raw.close()
  assert.match(alert.reply, 'restore a backup')
  assert.is((await program.call('GET', '/healthz')).status, 200)
  assert.is((await program.end('SIGTERM')).code, 0)
})

/**
 * Overwrites all pages but the first while the service runs, which then has to read them from the file again.
 */
function damageBelow(file: string) {
  const raw = new Database(file)
  raw.exec("insert into settings (key, value) values ('changed', '')")
  raw.pragma('wal_checkpoint(TRUNCATE)')
  const open = openSync(file, 'r+')
  const { size } = fstatSync(open)
  writeSync(open, Buffer.alloc(size - PAGE_BYTES, 0xa5), 0, size - PAGE_BYTES, PAGE_BYTES)
  closeSync(open)
  raw.close()
}

test('damage that is met while the service runs ends it with one line that names the file and the remedy', async t => {
  if (isOnPostgres) return
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-damaged-'))
  t.after(() => rmSync(path, { recursive: true }))
  const program = await t.using(startProgram({ dataDir: path }))
  const file = join(path, 'mailhorn.db')
  damageBelow(file)
  await program.call('GET', '/readyz').catch(() => {})
  assert.is((await program.ended).code, 1)
  const [line, ...more] = program.logs.filter(({ event }) => event === 'store_failed')
  assert.equal(more, [])
  assert.match(`${line!.msg}`, `the database ${file} is damaged (SQLITE_`)
  assert.match(`${line!.msg}`, 'restore a backup, see "Restore" in docs/backup.md')
  assert.is(line!.err, undefined)
})

test('after an orderly stop nothing is checked', async t => {
  if (isOnPostgres) return
  const { dataDir } = await damaged(t, { wasKilled: false })
  const program = await t.using(startProgram({ dataDir }))
  assert.is((await program.call('GET', '/healthz')).status, 200)
})

test.run()
