import * as assert from 'uvu/assert'
import { noBits, setBit } from '../../../../src/resources/search/bits.ts'
import { findInTexts, packTexts, unpackTexts } from '../../../../src/resources/search/texts.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/texts')

test('texts: packed subjects with both sigmas are found by one', () => {
  const folded = ['ο κώστας ήρθε', 'σας', 'nobody', 'κώστασ']
  const wanted = noBits(folded.length)
  for (const ordinal of folded.keys()) setBit(wanted, ordinal)
  const found = noBits(folded.length)
  for (const ordinal of [0, 3]) setBit(found, ordinal)
  const texts = unpackTexts(packTexts(folded), folded.length)
  assert.equal(findInTexts(texts, 'ώστασ', wanted), found)
})

test.run()
