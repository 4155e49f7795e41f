import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import { retentionCommandsWith } from '../../../../src/resources/retention/commands.ts'
import { commands as allCommands } from '../../../../src/workers/commands.ts'
import { insertRows, isOnPostgres } from '../../../kit/database.ts'
import { endings, finishFor, HOUR_MS, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore, refusalOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

/** Makes the database refuse to delete contents. */
const refuseDeletions = isOnPostgres
  ? [
      "create function no_delete() returns trigger language plpgsql as $$ begin raise 'no'; end $$",
      'create trigger no_delete before delete on contents for each row execute function no_delete()',
    ]
  : ["create trigger no_delete before delete on contents begin select raise(rollback, 'no'); end"]

const test = suite('retention/commands')
const LARGE_BYTES = 100_000

/** A store whose commands find that no time passes, unless the test says so. */
async function open(t: TestContext) {
  let tickMs = 0
  let ms = 0
  const commands = {
    ...allCommands,
    ...retentionCommandsWith({
      monotonic() {
        ms += tickMs
        return ms
      },
    }),
  }
  const store = await t.using(openLocalStore(commands))
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const rowCount = (table: string) =>
    store.rows<{ count: number }>(`select count(*) as count from ${table}`)[0]!.count
  return {
    ...store,
    ...post,
    accountId,
    rowCount,
    takeAll: () => {
      tickMs = 100
    },
    /** Everything of the account's mail that is stored. */
    stored: () =>
      Object.fromEntries(
        ['emails', 'deliveries', 'attempts', 'events', 'email_shares', 'visits', 'contents', 'blobs'].map(
          table => [table, rowCount(table)],
        ),
      ),
    totals: () =>
      Object.fromEntries(
        store
          .rows<{ kind: string; count: number }>(
            "select kind, count from counters where kind like 'emails.%' and count <> 0 order by kind",
          )
          .map(({ kind, count }) => [kind.slice('emails.'.length), count]),
      ),
    /** Ends every delivery that is due. */
    async finish(over = {}) {
      for (const delivery of await post.claim(accountId))
        await store.run('finish', finishFor(delivery, post.clock.now(), over))
    },
    delete: (horizon = post.clock.now(), account = accountId) =>
      store.run('deleteBeyond', { accountId: account, horizon }),
  }
}

const attachment = (content: Uint8Array) => ({
  filename: 'a.bin',
  contentType: 'application/octet-stream',
  contentId: null,
  content,
})

test('retention: an email is deleted with deliveries, attempts, events, links, content and attachments', async t => {
  const store = await open(t)
  const attachments = [attachment(Buffer.alloc(10, 'a')), attachment(Buffer.alloc(LARGE_BYTES, 'b'))]
  const emailId = await store.send(store.accountId, {
    to: ['a@there.test', 'b@there.test'],
    attachments,
  })
  await store.finish()
  store.change(
    `insert into email_shares (id, account_id, email_id, token_hash, created_at, expires_at)
     values (?, ?, ?, ?, 0, 1)`,
    newId(0),
    store.accountId,
    emailId,
    new Uint8Array(1),
  )
  store.change(
    `insert into visits (email_id, ordinal, link, account_id, count, machine_count, first_at, last_at)
     values (?, 0, -1, ?, 1, 0, 0, 0)`,
    emailId,
    store.accountId,
  )
  const { emails, deliveries, attempts, events, email_shares, visits, contents, blobs } = store.stored()
  assert.equal([emails, deliveries, attempts, email_shares, visits, contents, blobs], [1, 2, 2, 1, 1, 1, 2])
  assert.ok(events! > 0)
  const { hash } = await store.blobs.stage(Buffer.alloc(LARGE_BYTES, 'b'))
  assert.equal(await store.delete(), {
    emailCount: 1,
    more: false,
    unusedFiles: [Buffer.from(hash).toString('hex')],
  })
  assert.equal(new Set(Object.values(store.stored())), new Set([0]))
})

test('retention: the age counts from the end of the last delivery', async t => {
  const store = await open(t)
  await store.send(store.accountId, { to: ['a@there.test', 'b@elsewhere.test'] })
  await store.finish()
  store.clock.advance(HOUR_MS)
  assert.is((await store.delete()).emailCount, 0)
  for (const delivery of await store.claim(store.accountId, 'elsewhere.test'))
    await store.run('finish', finishFor(delivery, store.clock.now()))
  assert.is((await store.delete(store.clock.now() - 1)).emailCount, 0)
  assert.is((await store.delete(store.clock.now())).emailCount, 1)
})

test('retention: queued, deferred, leased and scheduled emails are kept at any age', async t => {
  const store = await open(t)
  const { accountId, clock } = store
  await store.send(accountId, { subject: 'deferred' })
  await store.finish(endings.deferred(clock.now(), 1_000 * HOUR_MS))
  await store.send(accountId, { subject: 'under way' })
  await store.claim(accountId)
  await store.send(accountId, { subject: 'queued' })
  await store.send(accountId, { subject: 'scheduled', scheduledAt: clock.now() + 8_000 * HOUR_MS })
  clock.advance(7_000 * HOUR_MS)
  const before = store.stored()
  assert.equal(await store.delete(), { emailCount: 0, more: false, unusedFiles: [] })
  assert.equal(store.stored(), before)
})

test('retention: deleted emails are subtracted from the totals per status', async t => {
  const store = await open(t)
  const { accountId } = store
  await store.send(accountId)
  await store.finish()
  await store.send(accountId)
  await store.finish(endings.bounced())
  await store.send(accountId)
  await store.finish(endings.failed())
  store.suppress(accountId, 'no@there.test')
  await store.send(accountId, { to: ['no@there.test'] })
  const canceled = await store.send(accountId, { scheduledAt: store.clock.now() + HOUR_MS })
  await store.run('cancelEmail', { accountId, id: canceled, now: store.clock.now() })
  await store.send(accountId, { to: ['later@there.test'] })
  assert.equal(store.totals(), {
    bounced: 1,
    canceled: 1,
    delivered: 1,
    failed: 1,
    queued: 1,
    suppressed: 1,
  })
  assert.is((await store.delete()).emailCount, 5)
  assert.equal(store.totals(), { queued: 1 })
})

test('retention: a shared content or attachment is deleted with its last email', async t => {
  const store = await open(t)
  const { accountId, clock } = store
  const content = Buffer.alloc(LARGE_BYTES, 'x')
  const twice = { text: 'the same', attachments: [attachment(content), attachment(content)] }
  await store.submitBatch(accountId, [twice, { ...twice, to: ['b@elsewhere.test'] }])
  assert.equal(store.rows('select refs from contents union all select refs from blobs'), [
    { refs: 2 },
    { refs: 4 },
  ])
  await store.finish()
  assert.equal(await store.delete(), { emailCount: 1, more: false, unusedFiles: [] })
  assert.equal(store.rows('select refs from contents union all select refs from blobs'), [
    { refs: 1 },
    { refs: 2 },
  ])
  for (const delivery of await store.claim(accountId, 'elsewhere.test'))
    await store.run('finish', finishFor(delivery, clock.now()))
  const { unusedFiles } = await store.delete()
  assert.is(unusedFiles.length, 1)
  assert.equal([store.rowCount('contents'), store.rowCount('blobs')], [0, 0])
})

test('retention: a template keeps its content when its emails are deleted', async t => {
  const store = await open(t)
  await store.send(store.accountId)
  await store.finish()
  store.change('update contents set refs = refs + 1')
  await store.delete()
  assert.equal(store.rows('select refs from contents'), [{ refs: 1 }])
})

test('retention: emails of another account are kept', async t => {
  const store = await open(t)
  const other = store.account('Other')
  await store.send(store.accountId)
  await store.finish()
  const before = store.stored()
  assert.is((await store.delete(store.clock.now(), other)).emailCount, 0)
  assert.equal(store.stored(), before)
})

test('retention: one command deletes at most 128 emails, the oldest first, and reports more', async t => {
  const store = await open(t)
  await sendMany(store, 150)
  const ended = store
    .rows<{ id: Id }>('select id from emails order by ended_at, id')
    .map(({ id }) => idText(id))
  assert.equal(await store.delete(), { emailCount: 128, more: true, unusedFiles: [] })
  assert.equal(
    store.rows<{ id: Id }>('select id from emails order by ended_at, id').map(({ id }) => idText(id)),
    ended.slice(128),
  )
  assert.equal(await store.delete(), { emailCount: 22, more: false, unusedFiles: [] })
})

test('retention: a command over its time stops after the current 16 emails', async t => {
  const store = await open(t)
  await sendMany(store, 40)
  store.takeAll()
  assert.equal(await store.delete(), { emailCount: 16, more: true, unusedFiles: [] })
})

test('retention: an email with many records is deleted in steps and never listed in part', async t => {
  const store = await open(t)
  const emailId = await store.send(store.accountId)
  await store.finish()
  const events = Array.from({ length: 1_100 }, (_, i) => ({
    subject_id: emailId,
    id: newId(i),
    account_id: store.accountId,
    type: 'email.opened',
    data: '{}',
    created_at: 0,
  }))
  const attempts = Array.from({ length: 700 }, (_, i) => ({
    email_id: emailId,
    ordinal: 0,
    number: 10 + i,
    started_at: 0,
    outcome: 'deferred',
  }))
  insertRows(store, 'events', events)
  insertRows(store, 'attempts', attempts)
  const steps: { emailCount: number; events: number; attempts: number }[] = []
  for (let more = true; more; ) {
    const deleted = await store.delete()
    more = deleted.more
    const { emailCount } = deleted
    steps.push({ emailCount, events: store.rowCount('events'), attempts: store.rowCount('attempts') })
  }
  assert.is(steps.at(-1)!.emailCount, 1)
  assert.equal(new Set(Object.values(store.stored())), new Set([0]))
  const eventCounts = steps.map(({ events }) => events)
  assert.ok(steps.length > 2, JSON.stringify(steps))
  assert.ok(
    eventCounts.every((count, i) => i === 0 || eventCounts[i - 1]! - count <= 500),
    JSON.stringify(steps),
  )
})

test('retention: a rolled back command has deleted nothing and can be repeated', async t => {
  const store = await open(t)
  await sendMany(store, 20)
  const before = [store.stored(), store.totals()]
  for (const statement of refuseDeletions) store.change(statement)
  const { replies } = await store.group({
    name: 'deleteBeyond',
    input: { accountId: store.accountId, horizon: store.clock.now() },
  })
  assert.match(refusalOf(replies), /no/)
  assert.equal([store.stored(), store.totals()], before)
  store.change(isOnPostgres ? 'drop trigger no_delete on contents' : 'drop trigger no_delete')
  assert.is((await store.delete()).emailCount, 20)
})

test('retention: results for a deleted email are ignored', async t => {
  const store = await open(t)
  const { accountId, clock } = store
  const emailId = await store.send(accountId)
  await store.finish()
  await store.delete()
  const late = { accountId, emailId, ordinal: 0, at: clock.now(), data: {} as never }
  await store.run('opened', late)
  assert.is(await store.run('complain', { ...late, suppress: true }), false)
  assert.equal([store.rowCount('events'), store.rowCount('suppressions')], [0, 0])
})

/** Delivered emails, no two of them of one content. */
async function sendMany(store: Awaited<ReturnType<typeof open>>, count: number) {
  await store.group(
    ...(await Promise.all(
      Array.from({ length: count }, (_, i) => store.request(store.accountId, { text: `text ${i}` })),
    )),
  )
  for (;;) {
    const claimed = await store.claim(store.accountId)
    if (claimed.length === 0) return
    store.clock.advance(10)
    await store.group(
      ...claimed.map(delivery => ({ name: 'finish', input: finishFor(delivery, store.clock.now()) })),
    )
  }
}

test.run()
