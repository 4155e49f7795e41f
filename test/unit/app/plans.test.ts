import * as assert from 'uvu/assert'
import { openPlans } from '../../../src/app/storage.ts'
import type { Config } from '../../../src/config/config.ts'
import type { Log } from '../../../src/lib/log.ts'
import { postOver } from '../../kit/mail.ts'
import { openLocalStore } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('app/plans')
const CONFIG = { plans: { scale: { retentionDays: null, daily: null, monthly: null } } } as unknown as Config

/** @returns what is logged when the plans are opened */
async function warningsOf(t: TestContext, plan: string): Promise<object[]> {
  const store = await t.using(openLocalStore())
  const { account, clock } = postOver(store)
  account()
  store.change('update accounts set plan = ?', plan)
  const warnings: object[] = []
  const log = { warn: (fields: object) => warnings.push(fields) } as unknown as Log
  await openPlans({ config: CONFIG, clock, log, store: store as never })
  return warnings
}

test('an account with a configured plan causes no warning', async t => {
  assert.equal(await warningsOf(t, 'scale'), [])
})

test('a plan that accounts use, but is no longer configured, is named', async t => {
  assert.equal(await warningsOf(t, 'former'), [{ event: 'plans_missing', plans: ['former'] }])
})

test.run()
