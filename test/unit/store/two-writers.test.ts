import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import type { DueQueueKey } from '../../../src/pipeline/queue/queue-key-rows.ts'
import { command, concurrent, MISSED } from '../../../src/store/model/command.ts'
import { createRecentEmails } from '../../../src/store/model/recent.ts'
import { openWriting } from '../../../src/store/opening/dialect.ts'
import { conflictKeysOf } from '../../../src/store/writer/conflict-keys.ts'
import type { Announcement } from '../../../src/store/writer/protocol.ts'
import { commands } from '../../../src/workers/commands.ts'
import { isOnPostgres } from '../../kit/database.ts'
import { finishFor, postOver } from '../../kit/mail.ts'
import { openLocalStore, outputOf, STORE_EPOCH } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('store/two writers')

test('conflict keys: a group has each key of its commands once; one command without keys makes it run alone', () => {
  const scripted = {
    named: concurrent(
      command<string[], void>(async () => {}),
      names => names,
    ),
    unnamed: command<null, void>(async () => {}),
  }
  const queries = (name: string, input: unknown) => ({ seq: 1, name, input })
  assert.equal(conflictKeysOf(scripted, [queries('named', ['b', 'a']), queries('named', ['a'])]), {
    alone: false,
    names: ['b', 'a'],
  })
  assert.is(conflictKeysOf(scripted, [queries('named', []), queries('unnamed', null)]).alone, true)
  assert.is(conflictKeysOf(scripted, [queries('unknown', null), queries('toString', null)]).alone, false)
})

/** A store and a second writer on its database, as another process has one. */
async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
  const other = await t.using(openWriting(store.location, options, STORE_EPOCH))
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  let seq = 0
  const ask = async (name: string, inputs: readonly unknown[]) => {
    const { replies } = await other.run(inputs.map(input => ({ seq: ++seq, name, input })))
    return replies.map(outputOf)
  }
  return { ...store, ...post, accountId, other, ask }
}

if (isOnPostgres) {
  test('two writers: the quota of an account is never exceeded', async t => {
    const { accountId, ask, group, rows, request } = await open(t)
    const quota = { daily: 50, monthly: null }
    const inputs = async () => {
      const requests = await Promise.all(Array.from({ length: 10 }, () => request(accountId)))
      return requests.map(({ input }) => ({ ...input, quota }))
    }
    const batches = await Promise.all(Array.from({ length: 10 }, inputs))
    await Promise.all(
      batches.map((batch, i) =>
        i % 2 ? ask('accept', batch) : group(...batch.map(input => ({ name: 'accept', input }))),
      ),
    )
    assert.is(rows('select id from emails').length, 50)
    assert.equal(rows("select count from counters where kind = 'recipients' and period like '____-__-__'"), [
      { count: 50 },
    ])
  })

  test('two writers: one idempotency key creates one email', async t => {
    const { accountId, ask, group, rows, request } = await open(t)
    for (let i = 0; i < 10; i++) {
      const idempotency = { endpoint: '/emails' as const, key: `key ${i}`, bodyHash: new Uint8Array(32) }
      const [one, two] = await Promise.all(
        [0, 1].map(async () => ({ ...(await request(accountId)).input, idempotency })),
      )
      const [[theirs], { replies }] = await Promise.all([
        ask('accept', [one]),
        group({ name: 'accept', input: two }),
      ])
      assert.equal(theirs, outputOf(replies[0]!))
    }
    assert.is(rows('select id from emails').length, 10)
  })

  test('two writers: an email whose deliveries end concurrently gets the status of all of them', async t => {
    const { accountId, ask, send, claim, group, rows, clock } = await open(t)
    for (let i = 0; i < 20; i++) await send(accountId, { to: ['a@there.test', 'b@there.test'] })
    const claimed = await claim(accountId, 'there.test', { limit: 100 })
    const finishes = (ordinal: number) =>
      claimed
        .filter(delivery => delivery.ordinal === ordinal)
        .map(delivery => finishFor(delivery, clock.now()))
    await Promise.all([
      ask('finish', finishes(0)),
      group(...finishes(1).map(input => ({ name: 'finish', input }))),
    ])
    assert.equal(rows('select distinct status from emails'), [{ status: 'delivered' }])
    assert.equal(rows("select kind, count from counters where kind like 'emails.%' and count <> 0"), [
      { kind: 'emails.delivered', count: 20 },
    ])
  })

  test('two writers: no delivery is leased twice', async t => {
    const { accountId, ask, send, run, clock } = await open(t)
    for (let i = 0; i < 4; i++)
      await send(accountId, { to: Array.from({ length: 50 }, (_, n) => `r${n}@there.test`) })
    const input = {
      queueKeys: [{ domain: 'there.test', class: 0, accountId, limit: 20 }],
      owner: 'x',
      now: clock.now(),
      leaseUntil: clock.now() + 1,
    }
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        i % 2 ? ask('claim', [input]).then(([one]) => one) : run('claim', input),
      ),
    )
    const leased = (claims as Awaited<ReturnType<typeof run<'claim'>>>[]).flatMap(
      ([claim]) => claim!.deliveries,
    )
    const names = leased.map(({ emailId, ordinal }) => `${Buffer.from(emailId).toString('hex')} ${ordinal}`)
    assert.is(new Set(names).size, names.length)
    assert.ok(names.length >= 190, `${names.length}`)
  })

  test('two writers: announcements reach the other process, and lost ones are signalled', async t => {
    const { other, location, ask, accountId, request, rows } = await open(t)
    const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
    const third = await t.using(openWriting(location, options, STORE_EPOCH))
    const heard = { other: [] as Announcement[], third: [] as Announcement[] }
    other.onHeard(announcements => heard.other.push(...announcements))
    third.onHeard(announcements => heard.third.push(...announcements))
    await until(async () => {
      await ask('accept', [(await request(accountId)).input])
      return heard.third.some(({ topic }) => topic === 'due')
    })
    const [queueKey] = heard.third.find(({ topic }) => topic === 'due')!.payloads as [DueQueueKey]
    assert.equal([queueKey.domain, Buffer.from(queueKey.accountId)], ['there.test', Buffer.from(accountId)])
    assert.not(
      heard.other.some(({ topic }) => topic === 'due'),
      'its own it has told already',
    )

    heard.third.length = 0
    rows("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%'")
    await until(() => heard.third.some(({ topic }) => topic === MISSED))
  })

  test('two writers: closing sends waiting announcements first', async t => {
    const { other, location, accountId, request } = await open(t)
    const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
    const leaving = await openWriting(location, options, STORE_EPOCH)
    const heard: string[] = []
    other.onHeard(announcements => {
      const due = announcements.filter(({ topic }) => topic === 'due')
      heard.push(...due.flatMap(({ payloads }) => payloads as DueQueueKey[]).map(({ domain }) => domain))
    })
    const accept = async (to: string) =>
      leaving.run([{ seq: 1, name: 'accept', input: (await request(accountId, { to: [to] })).input }])
    await until(async () => {
      await accept('a@there.test')
      return heard.length > 0
    })
    await accept('a@last.test')
    await leaving.close()
    await until(() => heard.includes('last.test'))
  })
}

test.run()
