import * as assert from 'uvu/assert'
import { suite } from '../../../../kit/suite.ts'
import { judgeForgedMail } from './forged-from.ts'

const test = suite('verdicts/forged-from')

test('5,000 random header sections: DMARC passes only for the author who is shown', async () => {
  const { passed, refused } = await judgeForgedMail(5_000)
  assert.ok(passed > 50, `${passed} passed`)
  assert.ok(refused > 500, `${refused} without a single author`)
})

test.run()
