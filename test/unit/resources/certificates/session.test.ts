import * as assert from 'uvu/assert'
import { shortened } from '../../../../src/resources/certificates/session.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('certificates/session')

test('a text of the authority is one line of at most 300 characters', () => {
  assert.is(shortened('not\r\n\tproven\0 \x1b[31m\x7f'), 'not proven   [31m ')
  assert.is(shortened('x'.repeat(300)), 'x'.repeat(300))
  assert.is(shortened('x'.repeat(10_000)), 'x'.repeat(300))
})

test.run()
