/** An address that is new to receivers, over several days. */
import * as assert from 'uvu/assert'
import { utcDay } from '../../../../src/lib/periods.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { listWarmupCounts } from '../../../../src/pipeline/queue/warmup-grants.ts'
import { newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('warm-up delivery')
const DAY_MS = 86_400_000
const NEW = '127.0.0.51'
const WARM = '127.0.0.52'

async function open(t: TestContext, caps: readonly number[], ips: readonly string[]) {
  const worker = await openWorker(t, { ips, warmup: { addresses: [NEW], caps } })
  const { mx, rows, change, clock } = worker
  return {
    ...worker,
    /** Returns the messages that were sent from the address. */
    from: (address: string) => mx.messages.filter(({ clientAddress }) => clientAddress === address).length,
    count: (status: string) => rows('select 1 from deliveries where status = ?', status).length,
    /** Returns the number of deliveries that are not leased and have no attempt. */
    untouched: () =>
      rows<{ address: string }>('select address from deliveries where state = 0 and attempts = 0').length,
    asBroadcast: () => change('update deliveries set class = 1 where state = 0'),
    tomorrow: () => clock.advance(DAY_MS),
  }
}

const names = (count: number, prefix = 'ok') => Array.from({ length: count }, (_, i) => `${prefix}+${i}`)

test('a single address sends its budget of the day; the rest waits without an attempt until the next days', async t => {
  const { send, count, untouched, tomorrow, pauses, mx, errors } = await open(t, [4, 6], [NEW])
  await send(...names(15))
  await until(() => count('delivered') === 4 && untouched() === 11)
  assert.equal(pauses, [`${NEW} has sent 4 to other`])
  tomorrow()
  await until(() => count('delivered') === 10 && untouched() === 5)
  tomorrow()
  await until(() => count('delivered') === 15)
  assert.is(mx.messages.length, 15)
  assert.equal(errors, [])
})

test('mail beyond the budget leaves from a warm address', async t => {
  const { send, count, from } = await open(t, [4], [NEW, WARM])
  await send(...names(40))
  await until(() => count('delivered') === 40)
  assert.equal([from(NEW), from(WARM)], [4, 36])
})

test('a broadcast leaves a quarter of the day to transactional mail', async t => {
  const { send, count, asBroadcast, untouched, pauses, when, db, run, clock } = await open(t, [8], [NEW])
  const hands = createQueueAdmin({ db, run, clock, newId })
  const mail = { domain: 'there.test', accountId: null, broadcastId: null, emailId: null }
  await hands.hold(mail, null)
  await send(...names(20))
  asBroadcast()
  await hands.release(mail)
  await until(() => count('delivered') === 6 && untouched() === 14)
  for (const name of ['first', 'second']) {
    await send(name)
    await when(`${name}@there.test`, 'delivered')
  }
  await send('third')
  await until(() => pauses.length === 2 && untouched() === 15)
  assert.equal(pauses, [`${NEW} has sent 6 to other`, `${NEW} has sent 8 to other`])
  assert.is(count('delivered'), 8)
})

test('mail that expires while it waits fails with the reason', async t => {
  const { send, count, tomorrow, rows } = await open(t, [2, 2, 2, 2], [NEW])
  await send(...names(12))
  await until(() => count('delivered') === 2)
  for (const delivered of [4, 6]) {
    tomorrow()
    await until(() => count('delivered') === delivered)
  }
  await until(() => count('failed') === 6)
  const [{ error }] = rows<{ error: string }>('select error from emails') as [{ error: string }]
  assert.match(error, 'expired after 48 h: our addresses are being warmed up')
})

test('a worker that stops returns what it has not sent of its share of the day', async t => {
  const { send, count, stop, db, clock } = await open(t, [300], [NEW])
  const counted = async () =>
    (await listWarmupCounts(db, utcDay(clock.now()))).map(({ address, count }) => `${address} ${count}`)
  await send(...names(2))
  await until(() => count('delivered') === 2)
  assert.equal(await counted(), [`${NEW} 6`])
  await stop()
  assert.equal(await counted(), [`${NEW} 2`])
})

test('attempts during an outage do not count', async t => {
  const { send, count, pauses } = await open(t, [4], [NEW])
  await send(...names(3, 'drop-after-rcpt'))
  await until(() => count('delivery_delayed') === 3)
  await send(...names(6))
  await until(() => count('delivered') === 4 && pauses.length > 0)
  assert.equal(pauses, [`${NEW} has sent 4 to other`])
})

test.run()
