import * as assert from 'uvu/assert'
import { judgeRates, type RateTerms } from '../../../../src/pipeline/queue/account-rates.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/account-rates')
const TERMS: RateTerms = { alertBounces: 500, alertComplaints: 10, pauseBounces: 1_000, pauseComplaints: 30 }
const NOTHING = { delivered: 0, bounced: 0, complained: 0 }

const CASES: [what: string, feedback: Partial<typeof NOTHING>, found: string[]][] = [
  ['little mail says nothing', { delivered: 500, bounced: 499, complained: 400 }, []],
  ['a good account', { delivered: 9_990, bounced: 10, complained: 1 }, []],
  ['five of a hundred bounce', { delivered: 950, bounced: 50 }, ['account-bounces']],
  ['ten of a hundred bounce', { delivered: 900, bounced: 100 }, ['account-bounces!']],
  ['one of a thousand complains', { delivered: 1_000, complained: 1 }, ['account-complaints']],
  ['three of a thousand complain', { delivered: 1_000, complained: 3 }, ['account-complaints!']],
  ['both', { delivered: 940, bounced: 60, complained: 9 }, ['account-bounces', 'account-complaints!']],
]
for (const [what, feedback, found] of CASES)
  test(`${what}: ${found.join(' and ') || 'nothing'}`, () => {
    const findings = judgeRates({ ...NOTHING, ...feedback }, TERMS)
    assert.equal(
      findings.map(({ kind, isTooMuch }) => kind + (isTooMuch ? '!' : '')),
      found,
    )
  })

test('what is switched off is not said', () => {
  const off = { alertBounces: null, alertComplaints: null, pauseBounces: null, pauseComplaints: null }
  assert.equal(judgeRates({ delivered: 1_000, bounced: 1_000, complained: 1_000 }, off), [])
})

test('the text names rate and number', () => {
  const [finding] = judgeRates({ delivered: 1_800, bounced: 200, complained: 0 }, TERMS)
  assert.is(finding!.text, '10.00 % of 2000 deliveries in 24 h bounced for good')
})

test.run()
