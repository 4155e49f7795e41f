import * as assert from 'uvu/assert'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import { recordEvents } from '../../../../src/resources/events/record.ts'
import type { EventType } from '../../../../src/resources/events/types.ts'
import { sweepEvents } from '../../../../src/resources/retention/sweepers.ts'
import { command } from '../../../../src/store/model/command.ts'
import { commands as allCommands } from '../../../../src/workers/commands.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('retention/event-sweeper')
const DAY_MS = 86_400_000
const PLANS: Record<string, number | null> = { scale: 7, forever: null }

async function open(t: TestContext) {
  const commands = {
    ...allCommands,
    recordSome: command<{ accountId: Id; type: EventType; count: number; at: number }, void>(
      (tx, { accountId, type, count, at }) =>
        recordEvents(
          tx,
          Array.from({ length: count }, () => ({
            ...{ accountId, subjectId: newId(at), type, recipient: null, data: {}, at, origin: null },
          })),
        ),
    ),
  }
  const store = await t.using(openLocalStore(commands))
  const post = postOver(store)
  const { clock } = post
  const plans = {
    named: (name: string) => ({ retentionDays: PLANS[name] ?? null, daily: null, monthly: null }),
  }
  return {
    ...{ ...store, ...post },
    record: (accountId: Id, type: EventType, count = 1) =>
      store.run('recordSome', { accountId, type, count, at: clock.now() }),
    /** @returns how many steps it took */
    async sweep() {
      let steps = 0
      for await (const _ of sweepEvents({ db: store.db, run: store.run, plans, clock })) steps++
      return steps
    },
    /** Types of what is there of an account, which is as much as is counted. */
    left(accountId: Id) {
      const types = store
        .rows<{ type: string }>('select type from events where account_id = ? order by id', accountId)
        .map(({ type }) => type)
      const [counted] = store.rows<{ count: number }>(
        "select count from counters where account_id = ? and kind = 'events'",
        accountId,
      )
      assert.is(counted?.count ?? 0, types.length, idKey(accountId))
      return types
    },
  }
}

test('event sweeper: events of domains and received mail are deleted after the plan’s retention, those of emails are not', async t => {
  const { account, record, sweep, left, clock } = await open(t)
  const id = account()
  for (const type of ['domain.created', 'email.received', 'email.sent', 'domain.verified'] as const)
    await record(id, type)
  clock.advance(1)
  await record(id, 'domain.deleted')
  clock.advance(7 * DAY_MS - 1)
  await sweep()
  assert.is(left(id).length, 5)
  clock.advance(1)
  await sweep()
  assert.equal(left(id), ['email.sent', 'domain.deleted'])
  clock.advance(1)
  await sweep()
  assert.equal(left(id), ['email.sent'])
})

test('event sweeper: the plan of each account applies', async t => {
  const { account, record, sweep, left, clock, change } = await open(t)
  const [short, long] = [account('Short'), account('Long')]
  change("update accounts set plan = 'forever' where id = ?", long)
  for (const id of [short, long]) await record(id, 'domain.created', 3)
  clock.advance(400 * DAY_MS)
  await sweep()
  assert.equal([left(short).length, left(long).length], [0, 3])
})

test('event sweeper: many events are deleted in steps', async t => {
  const { account, record, sweep, left, clock } = await open(t)
  const id = account()
  await record(id, 'domain.created', 1_200)
  clock.advance(8 * DAY_MS)
  assert.is(await sweep(), 3)
  assert.is(left(id).length, 0)
})

test.run()
