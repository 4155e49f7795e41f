/** A pool of sessions to a scripted MX, at a time that the test moves. */

import { createAdjustableClock } from '../../../../src/lib/adjustable-clock.ts'
import { createSessionPool } from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import { type FakeMxOptions, startFakeMx } from '../../../kit/fake-mx.ts'
import type { TestContext } from '../../../kit/suite.ts'
import { dial } from './smtp-client/dial.ts'

export const SITE = 'mx.there.test'
export const TO = 'ok@there.test'

export async function openPool(t: TestContext, options: FakeMxOptions = {}, messagesPerConnection = 100) {
  const mx = await t.using(startFakeMx(options))
  const clock = await t.using(createAdjustableClock())
  const pool = createSessionPool(clock, { messagesPerConnection: () => messagesPerConnection })
  t.after(() => pool.close())
  return { mx, clock, pool, dial: () => dial(t, mx, { mxHost: SITE, clock }) }
}
