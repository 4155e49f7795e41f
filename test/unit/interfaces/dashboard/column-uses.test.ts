import * as assert from 'uvu/assert'
import {
  useOptions,
  usesOf,
  usesQuery,
  withUse,
} from '../../../../src/interfaces/dashboard/web/labels/column-uses.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('columns of a contact file in the dashboard')
const columns: Parameters<typeof usesOf>[0] = [
  { name: 'Mail', use: 'email' },
  { name: 'City', use: 'property' },
  { name: 'plan', use: 'property' },
  { name: 'opted_out', use: 'consent' },
  { name: '', use: 'ignore' },
]

test('what the names say needs no parameter, and a key that differs in case is used again', () => {
  const plain = usesOf(columns, {}, ['plan'])
  assert.equal(
    plain.map(({ use }) => use),
    ['email', 'property:City', 'property:plan', 'consent'],
  )
  assert.is(usesQuery(columns, plain), undefined)
  assert.is(usesQuery(columns, usesOf(columns, {}, ['city'])), '{"City":{"property":"city"}}')
  assert.is(usesOf(columns, {}, ['City', 'city'])[1]!.use, 'property:City')
})

test('a field has one column: the former one is left out', () => {
  const chosen = withUse(usesOf(columns, {}, []), {}, 'City', 'email')
  assert.equal(chosen, { Mail: 'ignore', City: 'email' })
  assert.is(usesQuery(columns, usesOf(columns, chosen, [])), '{"Mail":"ignore","City":"email"}')
})

test('a column becomes a property, new or known, a field, or nothing', () => {
  const words = useOptions(columns[1]!, ['plan']).map(([, label]) => label)
  assert.equal(words.slice(-3), ['New property “City”', 'Property “plan”', 'Leave out'])
  assert.is(useOptions(columns[3]!, [])[0]![1], 'Says who has left')
  assert.is(
    useOptions({ name: 'email', use: 'email' }, []).some(([use]) => use === 'property:email'),
    false,
  )
})

test.run()
