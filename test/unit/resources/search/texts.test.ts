import * as assert from 'uvu/assert'
import { noBits, setBit } from '../../../../src/resources/search/bits.ts'
import { findInTexts, packTexts, TextCache, unpackTexts } from '../../../../src/resources/search/texts.ts'
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

/** Reads all texts in order and adds those that are missing. @returns how many were there */
function readAll(cache: TextCache, count: number): number {
  let there = 0
  for (let i = 0; i < count; i++)
    if (cache.get(`subjects ${i}`)) there++
    else cache.put(`subjects ${i}`, { text: 'ten chars.', starts: new Uint32Array([0, 11]) })
  return there
}

test('cache: of more texts than fit, repeated searches find almost as many as fit', () => {
  const cache = new TextCache(1_000)
  const found = Array.from({ length: 20 }, () => readAll(cache, 120))
  assert.is(found[0], 0)
  for (const count of found.slice(1)) assert.ok(count >= 90 && count <= 100, String(count))
})

test('cache: texts that are searched now displace those that no search reads any more', () => {
  const cache = new TextCache(1_000)
  readAll(cache, 100)
  const key = (i: number) => `details ${i}`
  for (let search = 0; search < 50; search++)
    for (let i = 0; i < 10; i++)
      if (!cache.get(key(i))) cache.put(key(i), { text: 'ten chars.', starts: new Uint32Array([0, 11]) })
  assert.is(Array.from({ length: 10 }, (_, i) => cache.get(key(i))).filter(Boolean).length, 10)
})

test.run()
