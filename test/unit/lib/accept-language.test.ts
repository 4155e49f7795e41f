import * as assert from 'uvu/assert'
import { acceptedLanguages } from '../../../src/lib/accept-language.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('Accept-Language')

for (const [header, expected] of [
  ['', []],
  ['de', ['de']],
  ['de-AT,de;q=0.9,en;q=0.8', ['de-at', 'de', 'en']],
  ['en;q=0.5, fr , es;q=0.50', ['fr', 'en', 'es']],
  ['EN ; q=0.1, *;q=1.000', ['*', 'en']],
  ['de;q=0, de-DE;q=0.000, it', ['it']],
  ['de;q=2, fr;q=1.5, it;q=-1, es;q=, nl;q=0.1234, pl;x=1, sv', ['sv']],
  [';;,,=,q=1,*-*,"de",日本, <script>, uk', ['uk']],
] as const)
  test(`"${header}" prefers ${expected.join(', ') || 'nothing'}`, () => {
    assert.equal(acceptedLanguages(header), expected)
  })

test('of a hostile header only the beginning is read', () => {
  assert.equal(acceptedLanguages(`${' '.repeat(1_000)}de`), [])
  assert.ok(acceptedLanguages('a,'.repeat(1_000_000)).length <= 500)
  assert.equal(acceptedLanguages(`${'a-'.repeat(1_000_000)}b`), [])
})

test.run()
