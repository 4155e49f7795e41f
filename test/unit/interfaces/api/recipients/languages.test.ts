import * as assert from 'uvu/assert'
import { LANGUAGES, pageLanguage } from '../../../../../src/interfaces/api/recipients/languages.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('language of recipients’ pages')

for (const [known, header, expected] of [
  [[], undefined, 'en'],
  [[], 'xx, yy', 'en'],
  [[], 'xx, *', 'en'],
  [[], 'fr-CA, de', 'fr'],
  [[], 'nn-NO', 'nb'],
  [[], 'no', 'nb'],
  [[], 'zh-Hans-CN', 'zh'],
  [[], 'fil, constructor, sv', 'sv'],
  [['de_AT'], 'fr', 'de'],
  [[' PL '], 'fr', 'pl'],
  [['', 'German', '42', 'toString'], 'fr', 'fr'],
  [['xx', 'cs-CZ'], 'fr', 'cs'],
] as [string[], string | undefined, string][])
  test(`${JSON.stringify(known)} and "${header}" give ${expected}`, () => {
    assert.is(pageLanguage(known, header).code, expected)
  })

test('no two languages share a table', () => {
  assert.is(new Set(LANGUAGES.map(code => pageLanguage([code]).texts)).size, LANGUAGES.length)
})

test.run()
