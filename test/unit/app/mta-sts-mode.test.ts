import * as assert from 'uvu/assert'
import type { AppContext } from '../../../src/app/context.ts'
import { createModeDecision } from '../../../src/app/mta-sts.ts'
import type { MxFault } from '../../../src/pipeline/delivery/tls-policy/mx-certificate.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

/** The mode of the MTA-STS policy, when one or several processes look at port 25. */
const test = suite('mode of the own policy')

const HOUR_MS = 3_600_000
const fault = (isReached: boolean): MxFault => ({
  ...{ host: 'mx.example.test', address: '192.0.2.1' },
  ...{ isReached, reason: 'x' },
})
const BAD_CERTIFICATE = fault(true)
const NOT_REACHED = fault(false)

async function setUp(t: TestContext) {
  const store = await t.using(openLocalStore())
  const clock = createManualClock()
  const process = () => createModeDecision({ clock, store } as unknown as AppContext)
  return { clock, process }
}

test('a certificate that senders refuse counts at once, and one that they accept again, too', async t => {
  const { process } = await setUp(t)
  const check = process()
  assert.is((await check(undefined)).mode, 'enforce')
  assert.equal(await check(BAD_CERTIFICATE), { mode: 'testing', isUncertain: false })
  assert.equal(await check(undefined), { mode: 'enforce', isUncertain: false })
})

test('a port that is not reached counts at the second look in a row', async t => {
  const { process } = await setUp(t)
  const check = process()
  await check(undefined)
  assert.equal(await check(NOT_REACHED), { mode: 'enforce', isUncertain: true })
  await check(undefined)
  assert.equal(await check(NOT_REACHED), { mode: 'enforce', isUncertain: true })
  assert.equal(await check(NOT_REACHED), { mode: 'testing', isUncertain: false })
  assert.is((await check(NOT_REACHED)).mode, 'testing')
})

test('a policy is never published as enforced before port 25 has been reached', async t => {
  const { process } = await setUp(t)
  assert.equal(await process()(NOT_REACHED), { mode: 'testing', isUncertain: false })
})

test('processes that see different things do not turn the mode to and fro', async t => {
  const { clock, process } = await setUp(t)
  const [first, second] = [process(), process()]
  await first(undefined)
  await second(BAD_CERTIFICATE)
  for (let hours = 0; hours < 6; hours++) {
    assert.is((await first(undefined)).mode, 'testing')
    clock.advance(HOUR_MS)
    assert.is((await second(BAD_CERTIFICATE)).mode, 'testing')
  }
  clock.advance(HOUR_MS)
  assert.is((await second(undefined)).mode, 'enforce', 'the process that found the fault finds none')
})

test('a fault of a process that has ended is forgotten after two hours', async t => {
  const { clock, process } = await setUp(t)
  await process()(BAD_CERTIFICATE)
  const restarted = process()
  assert.is((await restarted(undefined)).mode, 'testing')
  clock.advance(2 * HOUR_MS)
  assert.is((await restarted(undefined)).mode, 'enforce')
})

test.run()
