import * as assert from 'uvu/assert'
import { suite } from '../kit/suite.ts'
import { judgeForgedMail } from '../unit/pipeline/inbound/verdicts/forged-from.ts'

const COUNT = Number(process.env.FORGED_FROM_COUNT ?? 200_000)

const test = suite('verdicts/forged-from at length', { limitMs: 3_600_000 })

test('random header sections: DMARC passes only for the author who is shown', async () => {
  const { passed, refused } = await judgeForgedMail(COUNT)
  console.log(`${COUNT} judged, ${passed} passed, ${refused} without a single author`)
  assert.ok(passed > COUNT / 100, `${passed} passed`)
})

test.run()
