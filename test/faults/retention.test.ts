import { existsSync, globSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { type Program, printedApiKey } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { openScene, type Scene } from './scene.ts'

const test = suite('kill -9 while old mail is deleted', { limitMs: 120_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 3)
/** Number of batches, of 100 emails each. */
const BATCHES = 8
const DAY_MS = 86_400_000
const SIMULATED = { from: 'me@nowhere.test', to: 'delivered@simulator.test' }

/** Batches that share a content each, and emails with attachments that some of them share. */
async function fill(program: Program, token: string) {
  for (let batch = 0; batch < BATCHES; batch++) {
    const body = Array.from({ length: 100 }, (_, i) => ({
      ...SIMULATED,
      subject: `${batch}/${i}`,
      text: `text ${batch} ${i % 10}`,
      ...(i % 5 === 0 && { attachments: [attachment(`${batch} ${i % 20}`)] }),
    }))
    const { status } = await program.call('POST', '/emails/batch', { token, body })
    assert.is(status, 200)
  }
  const scheduled_at = new Date(Date.now() + 300 * DAY_MS).toISOString()
  const remaining = { ...SIMULATED, subject: 'kept', text: 'kept', attachments: [attachment('0 0')] }
  assert.is(
    (await program.call('POST', '/emails', { token, body: { ...remaining, scheduled_at } })).status,
    200,
  )
}

function attachment(fill: string) {
  return { filename: 'a.txt', content: Buffer.alloc(70_000, fill).toString('base64') }
}

/** While nothing runs: all that has ended did so long ago, and its files are as old. */
function makeOld({ dataDir }: Scene) {
  const database = new Database(join(dataDir, 'mailhorn.db'))
  database.prepare('update emails set ended_at = ended_at - ?').run(100 * DAY_MS)
  database.close()
  const folder = join(dataDir, 'blobs')
  const old = (Date.now() - 100 * DAY_MS) / 1_000
  for (const file of globSync('*/*', { cwd: folder })) utimesSync(join(folder, file), old, old)
}

test(`${CYCLES} times: nothing of it is half gone, and the next start goes on`, async t => {
  const scene = await openScene(t)
  let program = await scene.start()
  await fill(program, printedApiKey(program))
  await until(
    () =>
      scene.rows('select 1 from emails where ended_at is null and scheduled_at is null limit 1').length === 0,
  )
  await program.end('SIGTERM')
  makeOld(scene)

  const counts: number[] = []
  const left = () => scene.rows<{ count: number }>('select count(*) as count from emails')[0]!.count
  for (let before = left(), cycle = 0; cycle < CYCLES; cycle++) {
    program = await scene.start()
    await until(() => left() < before)
    await program.end('SIGKILL')
    before = left()
    counts.push(before)
    requireSoundness(scene)
  }
  console.log(`left after each kill: ${counts.join(', ')}`)
  assert.ok(counts[0]! > 1, 'the first kill came too late')
  program = await scene.start()
  await until(() => left() === 1)
  await until(() => globSync('*/*', { cwd: join(scene.dataDir, 'blobs') }).length === 1)
  requireSoundness(scene)
  assert.equal(scene.rows('select subject from emails'), [{ subject: 'kept' }])
})

/**
 * Every row belongs to an email and every email has its rows; sums and uses are right; no row names a missing
 * file.
 */
function requireSoundness({ rows, dataDir }: Scene) {
  assert.equal(rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  for (const [table, column] of [
    ['deliveries', 'email_id'],
    ['attempts', 'email_id'],
    ['events', 'subject_id'],
  ])
    assert.equal(
      rows(`select * from ${table} where ${column} not in (select id from emails) and ${column} not in
        (select id from domains)`),
      [],
    )
  assert.equal(rows('select id from emails where id not in (select email_id from deliveries)'), [])
  assert.equal(
    rows(`select id, refs from contents
      where refs <> (select count(*) from emails where content_id = contents.id)`),
    [],
  )
  assert.equal(rows('select id from emails where content_id not in (select id from contents)'), [])
  const uses = rows<{ hash: string; count: number }>(
    `select upper(json_extract(value, '$.hash')) as hash, count(*) as count
     from emails, json_each(emails.attachments) group by 1 order by 1`,
  )
  const blobs = rows<{ hash: string; count: number }>(
    'select hex(hash) as hash, refs as count from blobs order by 1',
  )
  assert.equal(blobs, uses)
  for (const { hash } of blobs) {
    const name = hash.toLowerCase()
    assert.ok(existsSync(join(dataDir, 'blobs', name.slice(0, 2), name)), `${name} is missing`)
  }
  assert.equal(
    rows("select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind"),
    rows("select 'emails.' || status as kind, count(*) as count from emails group by status order by 1"),
  )
}

test.run()
