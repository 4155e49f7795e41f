/**
 * Hosts that accept a connection and say nothing more, while others are well. The clock stands still: no
 * tarpit is ever given up.
 */
import * as assert from 'uvu/assert'
import { startFakeMx } from '../../../kit/fake-mx.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { openWorker } from './open-worker.ts'

const test = suite('tarpits')
const TARPITS = 200
const HEALTHY = 40

const namesOf = (word: string, count: number) => Array.from({ length: count }, (_, i) => `${word}${i}.test`)
const zoneOf = (domains: readonly string[], address: string) =>
  domains.map(domain => `${domain} MX 10 mx.${domain}\nmx.${domain} A ${address}`).join('\n')

/** Each domain has an MX host of its own; those of the tarpits hang. */
async function open(t: TestContext, slots: number) {
  const tarpits = namesOf('tarpit', TARPITS)
  const healthy = namesOf('healthy', HEALTHY)
  const zone = `${zoneOf(tarpits, '127.0.0.3')}\n${zoneOf(healthy, '127.0.0.2')}`
  const worker = await openWorker(t, { zone, slots })
  const pit = await t.using(startFakeMx({ host: '127.0.0.3', port: worker.mx.port, at: { banner: 'hang' } }))
  const { sendTo, rows } = worker
  return {
    ...worker,
    pit,
    toTarpits: async (each: number) => {
      for (let i = 0; i < each; i++)
        for (let at = 0; at < TARPITS; at += 50)
          await sendTo(tarpits.slice(at, at + 50).map(domain => `ok${i}@${domain}`))
    },
    toHealthy: async (name: string) => {
      await sendTo(healthy.map(domain => `${name}@${domain}`))
    },
    countOf: (status: string) => rows('select 1 from deliveries where status = ?', status).length,
  }
}

test('200 destinations that hang do not block other mail', async t => {
  const { toTarpits, toHealthy, countOf, mx, pit } = await open(t, 1_000)
  await toTarpits(3)
  await until(() => pit.sessionCount >= TARPITS)
  for (const name of ['first', 'second', 'third']) await toHealthy(name)
  await mx.waitFor(3 * HEALTHY)
  await until(() => countOf('delivered') === 3 * HEALTHY)
  assert.is(countOf('queued') + countOf('sent'), 3 * TARPITS)
})

test('twice as many tarpits as slots leave slots to destinations that have answered', async t => {
  const { toTarpits, toHealthy, countOf, mx, pit } = await open(t, TARPITS / 2)
  await toHealthy('before')
  await mx.waitFor(HEALTHY)
  await toTarpits(2)
  await until(() => pit.sessionCount >= TARPITS * 0.25)
  for (const name of ['first', 'second', 'third']) await toHealthy(name)
  await mx.waitFor(4 * HEALTHY)
  await until(() => countOf('delivered') === 4 * HEALTHY)
  assert.ok(pit.sessionCount < TARPITS / 2, 'tarpits never take all slots')
})

test.run()
