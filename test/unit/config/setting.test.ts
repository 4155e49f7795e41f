import * as assert from 'uvu/assert'
import { flag } from '../../../src/config/setting.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/setting')
const { read } = flag(false, 'A flag.')

for (const [value, raws] of [
  [true, [true, 'true', '1', 'yes', 'on']],
  [false, [false, 'false', '0', 'no', 'off', '']],
] as const)
  for (const raw of raws)
    test(`flag: ${JSON.stringify(raw)} is ${value}`, () => {
      assert.is(read(raw), value)
    })

for (const raw of ['maybe', 'TRUE', 1, 0, null])
  test(`flag: ${JSON.stringify(raw)} is refused`, () => {
    assert.throws(() => read(raw), /must be true or false/)
  })

test.run()
