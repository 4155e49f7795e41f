import * as assert from 'uvu/assert'
import { foldText } from '../../../src/lib/fold-text.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/fold-text')

for (const [a, b] of [
  ['Hello', 'hELLO'],
  ['GRÜßE', 'grüße'],
  ['Gru\u0308ße', 'grüße'],
  ['ﬁne', 'FINE'],
  ['Ｈｅｌｌｏ', 'hello'],
  ['ПРИВЕТ', 'привет'],
  ['ΟΔΟΣ', 'οδος'],
  ['ΟΔΟΣ', 'οδοσ'],
] as const)
  test(`${a} and ${b} are the same`, () => assert.is(foldText(a), foldText(b)))

for (const [a, b] of [
  ['e', 'é'],
  ['a b', 'ab'],
  ['a', 'а'],
] as const)
  test(`${a} and ${b} are not`, () => assert.is.not(foldText(a), foldText(b)))

test('a part of a text folds to a part of what the text folds to, wherever a word ends in it', () => {
  for (const part of ['ΠΑΠΑ', 'ΠΑΠΑΣ', 'παπασ', 'παπας', 'ΠΑΠΑΣΩ'])
    assert.ok(foldText('ΠΑΠΑΣΩΤΗΡΙΟΥ').includes(foldText(part)), part)
})

test('case does not matter where it has its way back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), text => {
      assert.is(foldText(text.toUpperCase()), foldText(text))
    }),
  )
})

test.run()
