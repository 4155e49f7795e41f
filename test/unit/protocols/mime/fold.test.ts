import * as assert from 'uvu/assert'
import { foldTokens, LINE_OCTETS_MAX, PREFERRED_LINE_OCTETS } from '../../../../src/protocols/mime/fold.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/fold')

test('joins with single blanks what fits on a line', () => {
  assert.is(foldTokens(['a', 'b', 'c'], 9), 'a b c')
  assert.is(foldTokens([], 9), '')
})

test('a line is filled to 76 octets, the field name counted, and not further', () => {
  const first = 'x'.repeat(PREFERRED_LINE_OCTETS - 'To: '.length - ' y'.length)
  assert.is(foldTokens([first, 'y'], 4), `${first} y`)
  assert.is(foldTokens([first, 'yy'], 4), `${first}\r\n yy`)
})

test('octets count, not characters', () => {
  const names = Array.from({ length: 4 }, () => 'é'.repeat(18))
  assert.is(foldTokens(names, 0), `${names[0]} ${names[1]}\r\n ${names[2]} ${names[3]}`)
})

test('a token longer than a line stands alone', () => {
  assert.is(foldTokens(['a', 'x'.repeat(900), 'b'], 4), `a\r\n ${'x'.repeat(900)}\r\n b`)
})

test('the first token stays beside the name, unless the line would be longer than the limit', () => {
  const longest = 'x'.repeat(LINE_OCTETS_MAX - 'References: '.length)
  assert.is(foldTokens([longest], 12), longest)
  assert.is(foldTokens([`${longest}x`], 12), `\r\n ${longest}x`)
})

test.run()
