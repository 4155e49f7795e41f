import * as assert from 'uvu/assert'
import { noBits, setBit } from '../../../../src/resources/search/bits.ts'
import { findInSubjects, packSubjects, unpackSubjects } from '../../../../src/resources/search/subjects.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/subjects')

test('subjects: packed subjects with both sigmas are found by one', () => {
  const folded = ['ο κώστας ήρθε', 'σας', 'nobody', 'κώστασ']
  const wanted = noBits(folded.length)
  for (const ordinal of folded.keys()) setBit(wanted, ordinal)
  const found = noBits(folded.length)
  for (const ordinal of [0, 3]) setBit(found, ordinal)
  const subjects = unpackSubjects(packSubjects(folded), folded.length)
  assert.equal(findInSubjects(subjects, 'ώστασ', wanted), found)
})

test.run()
