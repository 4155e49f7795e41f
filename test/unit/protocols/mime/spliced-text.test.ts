import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { composeBody } from '../../../../src/protocols/mime/compose-body.ts'
import { spliceableText } from '../../../../src/protocols/mime/spliced-text.ts'
import { serializeFields } from '../../../../src/protocols/smtp/header-field.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/spliced-text')

/** Returns the text as another MIME reader decodes it. */
async function readBack(literals: readonly string[], values: readonly string[]) {
  const text = spliceableText('plain', literals)?.(values)
  if (!text) return undefined
  const { fields, body } = composeBody({ html: null, text, attachments: [], seed: 's' })
  assert.not(/[^\x00-\x7f]/.test(body.toString('latin1')), 'all of it is ASCII')
  assert.ok(
    body
      .toString('latin1')
      .split('\r\n')
      .every(line => line.length <= 76 && !/[ \t]$/.test(line)),
  )
  return (await PostalMime.parse(Buffer.concat([serializeFields(fields), Buffer.from('\r\n'), body]))).text
}

const lines = (text: string) => text.replace(/\r\n?|\n/g, '\n').replace(/\n$/, '')

test('what is put in stands where it belongs', async () => {
  assert.is(
    lines((await readBack(['Hi ', ', you.\n.\nFrom ', '!'], ['Änn', 'here']))!),
    'Hi Änn, you.\n.\nFrom here!',
  )
  assert.is(lines((await readBack(['', '', ''], ['.', 'From x']))!), '.From x')
  assert.is(lines((await readBack(['a = b \n', ''], [' ']))!), 'a = b \n ')
})

test('any text, cut anywhere, is the same text', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 120 }),
    fc.string({
      unit: fc.constantFrom(' ', '\t', '\n', '\r\n', '.', '=', 'F', 'From ', 'ä', '-', 'x'),
      maxLength: 120,
    }),
  )
  const value = fc.string({ unit: fc.constantFrom(' ', '.', '=', 'From ', 'ä', '💌', 'x'), maxLength: 90 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(piece, value), { minLength: 1, maxLength: 5 }),
      piece,
      async (pairs, last) => {
        const literals = [...pairs.map(([literal]) => literal), last].map(literal =>
          literal.replaceAll('\0', ''),
        )
        const values = pairs.map(([, each]) => each)
        const read = await readBack(literals, values)
        if (read === undefined) return
        const whole = literals.reduce((made, literal, i) => made + values[i - 1]! + literal)
        assert.is(lines(read), lines(whole))
      },
    ),
    { numRuns: 300 },
  )
})

test('says that no blank stands beside another where neither the text nor a value has such', () => {
  const isRelaxed = (literals: readonly string[], values: readonly string[]) =>
    spliceableText('plain', literals)!(values).isRelaxed
  assert.is(isRelaxed(['Dear ', ',\nhow are you ', '?'], ['Ann Lee', ' today ']), true)
  assert.is(isRelaxed(['Dear ', ',\nhow  are you ', '?'], ['Ann Lee', 'today']), false)
  assert.is(isRelaxed(['Dear ', ',\nhow are you ', '?'], ['Ann  Lee', 'today']), false)
  assert.is(isRelaxed(['Dear ', ',\nhow are you ', '?'], ['Ann', 'to\tday']), false)
})

test('a text of another script, or cut through a character, is left to be encoded whole', () => {
  assert.is(spliceableText('html', ['Привет, ', ', добро пожаловать']), undefined)
  assert.is(spliceableText('html', ['a\ud83d', '\udc8c']), undefined)
  assert.is(spliceableText('html', ['a\r', '\nb']), undefined)
})

test.run()
