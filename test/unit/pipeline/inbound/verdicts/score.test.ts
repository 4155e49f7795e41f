import * as assert from 'uvu/assert'
import { scoreOf } from '../../../../../src/pipeline/inbound/verdicts/score.ts'
import type { Authentication, CheckResult } from '../../../../../src/pipeline/inbound/verdicts/verdict.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('verdicts/score')

function found(spf: CheckResult, dkim: CheckResult, dmarc: CheckResult, policy?: string): Authentication {
  return {
    spf: { result: spf },
    dkim: { result: dkim, signatures: [] },
    dmarc: { result: dmarc, policy },
    arc: { result: 'none' },
  }
}

const SCORES: [found: Authentication, score: number | undefined, verdict: string][] = [
  [found('pass', 'pass', 'pass', 'reject'), 0, 'PASS'],
  [found('pass', 'none', 'none'), 0, 'PASS'],
  [found('none', 'none', 'none'), 1, 'PASS'],
  [found('softfail', 'none', 'none'), 2, 'PASS'],
  [found('fail', 'none', 'none'), 3, 'GRAY'],
  [found('fail', 'pass', 'pass', 'reject'), 2, 'PASS'],
  [found('pass', 'pass', 'fail', 'none'), 2, 'PASS'],
  [found('pass', 'pass', 'fail', 'quarantine'), 3, 'GRAY'],
  [found('none', 'none', 'fail', 'reject'), 6, 'FAIL'],
  [found('fail', 'fail', 'fail', 'none'), 6, 'FAIL'],
  [found('pass', 'pass', 'permerror'), 3, 'GRAY'],
  [found('temperror', 'none', 'temperror'), 1, 'PASS'],
  [found('temperror', 'temperror', 'temperror'), undefined, 'PROCESSING_FAILED'],
]
for (const [authentication, score, verdict] of SCORES) {
  const { spf, dkim, dmarc } = authentication
  test(`spf ${spf.result}, dkim ${dkim.result}, dmarc ${dmarc.result} ${dmarc.policy ?? ''}: ${verdict}`, () => {
    const told = scoreOf(authentication)
    assert.equal([told.score, told.verdict], [score, verdict])
  })
}

test('what counts is named', () => {
  assert.equal(scoreOf(found('fail', 'fail', 'fail', 'quarantine')).rules, [
    'DMARC_FAIL_QUARANTINE',
    'SPF_FAIL',
    'DKIM_FAIL',
    'NO_PROOF',
  ])
})

test.run()
