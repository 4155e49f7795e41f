import * as assert from 'uvu/assert'
import { resultsValue } from '../../../../../src/pipeline/inbound/verdicts/results-field.ts'
import type { Authentication, CheckResult } from '../../../../../src/pipeline/inbound/verdicts/verdict.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('verdicts/results-field')
const HOST = 'mail.mailhorn.test'

const plain: Authentication = {
  spf: { result: 'softfail', domain: 'here.test', identity: 'mailfrom', reason: 'says "no" (1)' },
  dkim: { result: 'none', signatures: [] },
  dmarc: { result: 'none', domain: 'here.test' },
  arc: { result: 'fail', reason: 'i=2 broken' },
}

test('a result a line, its reason quoted, and what was looked at behind it', () => {
  assert.equal(resultsValue(HOST, plain).split('\r\n'), [
    'mail.mailhorn.test;',
    ' spf=softfail reason="says \\"no\\" (1)" smtp.mailfrom=here.test;',
    ' dkim=none;',
    ' dmarc=none header.from=here.test;',
    ' arc=fail reason="i=2 broken"',
  ])
})

test('whatever others have put into it, it is the value of one field in short lines, with as many results', () => {
  const result = fc.constantFrom<CheckResult>('pass', 'fail', 'neutral', 'temperror', 'policy')
  const finding = {
    result,
    reason: fc.option(fc.string({ unit: 'binary', maxLength: 400 }), { nil: undefined }),
  }
  const hostile = fc.option(fc.string({ unit: 'binary', maxLength: 400 }), { nil: undefined })
  const signature = fc.record({
    ...finding,
    domain: hostile,
    selector: hostile,
    algorithm: hostile,
    beginning: hostile,
  })
  const authentication = fc.record({
    spf: fc.record({ ...finding, domain: hostile }),
    dkim: fc.record({ ...finding, signatures: fc.array(signature, { maxLength: 3 }) }),
    dmarc: fc.record({ ...finding, domain: hostile, policy: hostile }),
    arc: fc.record(finding),
  })
  fc.assert(
    fc.property(authentication, found => {
      const value = resultsValue(HOST, found)
      assert.match(value, /^(?:[ -~]|\r\n )*$/)
      const lines = value.split('\r\n')
      assert.ok(
        lines.every(line => line.length <= 998 && line.trim() !== ''),
        value,
      )
      // Read as RFC 8601 has it: quoted strings first, then what stands between semicolons.
      const bare = value.replace(/"(?:[^"\\]|\\.)*"/g, 'Q').replace(/\r\n /g, ' ')
      const methods = bare
        .split(';')
        .slice(1)
        .map(part => part.trim().split('=')[0])
      const signatures = Array.from({ length: Math.max(1, found.dkim.signatures.length) }, () => 'dkim')
      assert.equal(methods, ['spf', ...signatures, 'dmarc', 'arc'])
    }),
  )
})

test.run()
