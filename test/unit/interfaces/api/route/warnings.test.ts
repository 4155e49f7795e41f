import * as assert from 'uvu/assert'
import {
  warningsFor,
  warningsSchema,
  withWarnings,
} from '../../../../../src/interfaces/api/route/warnings.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('warnings of a reply')

const REASONS = {
  return_path: '`return_path` is fixed.',
  types: (value: unknown) => (value === 'known' ? undefined : `\`types\` has no effect as ${String(value)}.`),
}
const ofPath = { path: 'return_path', message: '`return_path` is fixed.' }

const CASES: [name: string, body: unknown, warned: { path: string; message: string }[]][] = [
  ['a field with a reason', { return_path: 'x' }, [ofPath]],
  ['a field in camelCase', { returnPath: 'x' }, [ofPath]],
  ['a field in both spellings', { return_path: null, returnPath: 'x' }, [ofPath]],
  [
    'false and an empty string',
    { return_path: false, types: '' },
    [ofPath, { path: 'types', message: '`types` has no effect as .' }],
  ],
  ['a value that changes nothing', { types: 'known' }, []],
  [
    'a value that has no effect',
    { types: 'other' },
    [{ path: 'types', message: '`types` has no effect as other.' }],
  ],
  ['null, undefined and an empty list', { return_path: null, types: [], returnPath: undefined }, []],
  ['other fields and inherited ones', Object.create({ return_path: 'x' }), []],
  ['no object', null, []],
  ['a list', ['return_path'], []],
]

for (const [name, body, warned] of CASES)
  test(`${name}: ${warned.length === 0 ? 'no warning' : warned.map(({ path }) => path).join(', ')}`, () => {
    assert.equal(warningsFor(body, REASONS), warned)
  })

test('a reply has `warnings` only if there are any', () => {
  const body = { id: '1' }
  assert.is(withWarnings(body, []), body)
  const warned = withWarnings(body, [ofPath])
  assert.equal(warned, { id: '1', warnings: [ofPath] })
  assert.equal(warningsSchema.parse([ofPath]), [ofPath])
})

test.run()
