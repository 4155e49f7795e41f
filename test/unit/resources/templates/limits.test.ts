import * as assert from 'uvu/assert'
import type { EmailText } from '../../../../src/resources/templates/compile.ts'
import { TEMPLATE_BYTES_MAX, templateFault } from '../../../../src/resources/templates/limits.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/limits')
const variables = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => `{{a${from + i}}}`).join('')

function faultOf(texts: Partial<EmailText>): string | undefined {
  const fault = templateFault({ subject: null, html: null, text: null, ...texts })
  return fault && `${fault.part} ${fault.fault}`
}

test('template limits: an empty template and one at the limits are valid', () => {
  assert.is(faultOf({}), undefined)
  assert.is(
    faultOf({ html: 'x'.repeat(TEMPLATE_BYTES_MAX), text: 'x'.repeat(TEMPLATE_BYTES_MAX) }),
    undefined,
  )
  assert.is(faultOf({ html: variables(500), text: variables(500), subject: variables(100) }), undefined)
  assert.is(faultOf({ html: '{{a}}'.repeat(10_000), text: '{{a}}'.repeat(10_000) }), undefined)
})

test('template limits: sizes count bytes', () => {
  const half = 'é'.repeat(TEMPLATE_BYTES_MAX / 2)
  assert.is(faultOf({ html: half }), undefined)
  assert.is(faultOf({ html: `${half}x` }), 'html must contain at most 4194304 bytes')
  assert.is(faultOf({ text: `${half}x` }), 'text must contain at most 4194304 bytes')
})

test('template limits: the fault names the part', () => {
  assert.is(
    faultOf({ html: variables(300), text: variables(201, 300) }),
    'text must contain at most 500 different variables',
  )
  assert.is(
    faultOf({ html: variables(501), text: variables(300) }),
    'html must contain at most 500 different variables',
  )
  assert.is(faultOf({ html: 'x', text: '{{a}}'.repeat(10_001) }), 'text must contain at most 10000 variables')
})

test.run()
