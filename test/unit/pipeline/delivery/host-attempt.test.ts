import * as assert from 'uvu/assert'
import { phaseRecords } from '../../../../src/pipeline/delivery/outcome/host-attempt.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('host attempt')

test('phases are listed in the order in which they were entered, with whole milliseconds and last reply', () => {
  const timings = { connect: 1.6, banner: 0.2, mail: 12 }
  const replies = { banner: { code: 220, lines: ['mx ready'] }, mail: { code: 250, lines: ['2.1.0 a', 'b'] } }
  assert.equal(phaseRecords(timings, replies), [
    ['connect', 2, null],
    ['banner', 0, '220 mx ready'],
    ['mail', 12, '250 2.1.0 a b'],
  ])
})

test('replies are truncated and cleaned of control characters', () => {
  const lines = Array.from({ length: 100 }, () => `\u001b[2J${'x'.repeat(500)}`)
  const [[, , text]] = phaseRecords({ ehlo: 1 }, { ehlo: { code: 250, lines } }) as [[string, number, string]]
  assert.match(text, /^250 \[2Jx+$/)
  assert.ok(text.length <= 256)
})

test.run()
