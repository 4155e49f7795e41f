import * as assert from 'uvu/assert'
import { matchesRoute, parseRoutePattern } from '../../../../src/pipeline/inbound/route-pattern.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/route-pattern')

const MATCHES: [pattern: string, address: string, matches: boolean][] = [
  ['support@here.example', 'support@here.example', true],
  ['support@here.example', 'Support@here.example', true],
  ['support@here.example', 'support+1@here.example', false],
  ['support@here.example', 'support@sub.here.example', false],
  ['*@here.example', 'anyone@here.example', true],
  ['*@here.example', 'anyone@there.example', false],
  ['*@here.example', 'anyone@not-here.example', false],
  ['support+*@here.example', 'support+1@here.example', true],
  ['support+*@here.example', 'support+@here.example', true],
  ['support+*@here.example', 'support@here.example', false],
  ['*.sales@here.example', 'ann.sales@here.example', true],
  ['*.sales@here.example', 'sales@here.example', false],
  ['a*b*c@here.example', 'a1b2c@here.example', true],
  ['a*b*c@here.example', 'abc@here.example', true],
  ['a*b*c@here.example', 'acb@here.example', false],
  ['ab*ba@here.example', 'aba@here.example', false],
  ['a*b@here.example', 'a*b@here.example', true],
]
for (const [pattern, address, expected] of MATCHES)
  test(`${pattern} ${expected ? 'matches' : 'does not match'} ${address}`, () => {
    const parsed = parseRoutePattern(pattern)
    assert.is(matchesRoute((parsed as { pattern: string }).pattern, address), expected)
  })

for (const text of ['here.example', '@here.example', '*', 'a@*.example', 'a@*', 'a b@here.example', ''])
  test(`${JSON.stringify(text)} is not a pattern`, () => {
    assert.ok('fault' in parseRoutePattern(text))
  })

test('a pattern is stored in lower case, with its domain in A-labels', () => {
  assert.equal(parseRoutePattern('Support+*@Bücher.example'), {
    pattern: 'support+*@xn--bcher-kva.example',
  })
})

test.run()
