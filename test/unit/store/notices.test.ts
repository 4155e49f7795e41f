import { setTimeout } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { MISSED } from '../../../src/store/model/command.ts'
import type { PostgresConnection, PostgresPool } from '../../../src/store/postgres/connection.ts'
import { Notices } from '../../../src/store/postgres/notices.ts'
import type { Announcement } from '../../../src/store/writer/protocol.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('store/notices')

/** Two processes that listen on one channel. */
async function setUp(t: TestContext) {
  const listeners: ((payload: string) => void)[] = []
  const open = (connected: Promise<void> = Promise.resolve()) => {
    const heard: Announcement[][] = []
    const connection = {
      query: async ({ sql, values = [] }: { sql: string; values?: unknown[] }) => {
        if (sql.includes('pg_notify')) for (const listener of listeners) listener(`${values[0]}`)
        return []
      },
      onNotice: (listener: (payload: string) => void) => void listeners.push(listener),
      onLost() {},
    } as unknown as PostgresConnection
    const pool = {
      use: <T>(work: (connection: PostgresConnection) => Promise<T>) =>
        connected.then(() => work(connection)),
      close: async () => {},
    } as unknown as PostgresPool
    const notices = new Notices({ pool, hear: announcements => void heard.push(announcements) })
    t.after(() => notices.close())
    return { notices, heard }
  }
  const one = open()
  const other = open()
  await until(() => one.heard.length === 1 && other.heard.length === 1)
  const notify = (payload: string) => {
    for (const listener of listeners) listener(payload)
  }
  return { one, other, notify, open }
}

const missed = [{ topic: MISSED, payloads: [null] }]

test('notices: what one process announces, the others hear, octets included', async t => {
  const { one, other } = await setUp(t)
  const announcements = [{ topic: 'hosting', payloads: ['a.example', new Uint8Array([1, 2])] }]
  one.notices.send(announcements)
  await until(() => other.heard.length === 2)
  assert.equal(other.heard[1], announcements)
  assert.is(one.heard.length, 1)
})

test('notices: listeners read the database after announcements of a process that was not connected', async t => {
  const { other, open } = await setUp(t)
  const connected = Promise.withResolvers<void>()
  const late = open(connected.promise)
  late.notices.send([{ topic: 'hosting', payloads: ['a.example'] }])
  await setTimeout(100) // timers of one duration fire in their order, so that the announcement was due before
  connected.resolve()
  await until(() => other.heard.length === 2)
  assert.equal(other.heard[1], missed)
})

for (const payload of [
  '',
  'refresh',
  'null',
  '7',
  '"mailhorn"',
  '[]',
  '{}',
  '{"channel":"cache","keys":["a"]}',
  '{"announcements":"all"}',
  '{"announcements":[]}',
  '{"from":"worker-1","announcements":{"topic":"hosting"}}',
  '{"from":"worker-1","announcements":[null]}',
  '{"from":"worker-1","announcements":["hosting"]}',
  '{"from":"worker-1","announcements":[{"topic":7,"payloads":[]}]}',
  '{"from":"worker-1","announcements":[{"topic":"hosting"}]}',
  '{"from":"worker-1","announcements":[{"topic":"hosting","payloads":"a.example"}]}',
  '{"from":"worker-1","announcements":[{"topic":"hosting","payloads":{"length":1}}]}',
  '{"from":{"$bytes":"AAAA"},"announcements":[{"topic":"hosting","payloads":[]}]}',
  `{"from":"worker-1","announcements":[{"topic":"hosting","payloads":[]}`,
  '\u0000'.repeat(7_000),
])
  test(`notices: ${JSON.stringify(payload).slice(0, 80)} of another program makes listeners read the database`, async t => {
    const { one, other, notify } = await setUp(t)
    notify(payload)
    for (const { heard } of [one, other]) assert.equal(heard.slice(1), [missed])
    one.notices.send([{ topic: 'hosting', payloads: ['a.example'] }])
    await until(() => other.heard.length === 3)
    assert.equal(other.heard[2], [{ topic: 'hosting', payloads: ['a.example'] }])
  })

test.run()
