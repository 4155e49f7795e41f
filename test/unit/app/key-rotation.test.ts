import * as assert from 'uvu/assert'
import { rotateAfterMs } from '../../../src/app/key-rotation.ts'
import type { Config } from '../../../src/config/config.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('app/key-rotation')
const DAY_MS = 86_400_000
const after = (rotateAfterDays: number) => rotateAfterMs({ dkim: { rotateAfterDays } as Config['dkim'] })

test('key rotation: the setting is in days, and 0 rotates on request only', () => {
  assert.is(after(0), null)
  assert.is(after(1), DAY_MS)
  assert.is(after(180), 180 * DAY_MS)
})

test.run()
