import * as assert from 'uvu/assert'
import {
  messageTlsOf,
  tlsPreferenceOf,
} from '../../../../../src/pipeline/delivery/tls-policy/sender-tls-preference.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('sender TLS preference')
type Field = [string, string]
const OTHER: Field = ['X-Other', 'No']

for (const [field, wish, leaves] of [
  [['TLS-Required', 'No'], 'waived', true],
  [['tls-required', ' nO '], 'waived', true],
  [['TLS-Required', 'Yes'], 'required', false],
  [['TLS-Required', 'perhaps'], undefined, true],
  [['Require-TLS', 'No'], undefined, true],
] as [Field, string | undefined, boolean][])
  test(`${field.join(': ')} asks for ${wish ?? 'nothing'}`, () => {
    const found = tlsPreferenceOf([OTHER, field])
    assert.is(found.wish, wish)
    assert.equal(found.headers, leaves ? [OTHER, field] : [OTHER])
  })

for (const [wish, domain, requests] of [
  [undefined, 'opportunistic', 'any'],
  ['waived', 'opportunistic', 'waived'],
  ['required', 'opportunistic', 'required'],
  [undefined, 'enforced', 'enforced'],
  ['waived', 'enforced', 'enforced'],
  ['required', 'enforced', 'required'],
] as const)
  test(`a message with the preference ${wish} of a domain with ${domain} TLS is sent as ${requests}`, () => {
    assert.is(messageTlsOf(wish, domain), requests)
  })

test.run()
