import * as assert from 'uvu/assert'
import { encodedWords } from '../../../../src/protocols/mime/encoded-word.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'
import { awkwardText, checked } from './arbitraries.ts'

const test = suite('mime/encoded-word')

const cases: [text: string, words: string[]][] = [
  ['', []],
  ['Grüße', ['=?UTF-8?B?R3LDvMOfZQ==?=']],
  ['Köln am Rhein', ['=?UTF-8?Q?K=C3=B6ln_am_Rhein?=']],
  ['a b', ['=?UTF-8?Q?a_b?=']],
  ['snake_case_name', ['=?UTF-8?Q?snake=5Fcase=5Fname?=']],
  ['日本語', ['=?UTF-8?B?5pel5pys6Kqe?=']],
  ['=?UTF-8?Q?x?=', ['=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?=']],
  ['a, "b" <c>', ['=?UTF-8?B?YSwgImIiIDxjPg==?=']],
  ['\u0001', ['=?UTF-8?Q?=01?=']],
]
for (const [text, words] of cases)
  test(`${JSON.stringify(text)} becomes ${words.join(' ')}`, () => {
    assert.equal(encodedWords(text), words)
  })

test('takes the shorter of B and Q', () => {
  assert.match(encodedWords(`${'plain '.repeat(6)}é`)[0]!, /^=\?UTF-8\?Q\?/)
  assert.match(encodedWords(`${'é'.repeat(6)} plain`)[0]!, /^=\?UTF-8\?B\?/)
})

for (const text of [
  'é'.repeat(500),
  '日本語'.repeat(100),
  '👩‍👩‍👧'.repeat(50),
  `${'x'.repeat(70)}é`.repeat(20),
  '𝒳y'.repeat(99),
])
  test(`every word of ${JSON.stringify(text.slice(0, 12))}… is short and whole in itself`, () => {
    const words = encodedWords(text)
    assert.ok(words.length > 1)
    for (const word of words) assert.ok(word.length <= 75, word)
    assert.is(words.map(decode).join(''), text)
    for (const word of words) assert.not.match(decode(word), /\ufffd/)
  })

const PADDED = /=\?=$/
for (const text of [
  'Επιβεβαίωση της παραγγελίας σας με αριθμό 4711',
  'Підтвердження вашого замовлення № 4711 від 25 листопада',
  'تأكيد طلبك رقم ٤٧١١ من متجرنا الإلكتروني اليوم',
  'אישור ההזמנה שלך מספר 4711 מהחנות המקוונת שלנו',
  'თქვენი შეკვეთის დადასტურება ნომერი 4711',
  'Größenänderung für Ölgemälde und Präzisionsgeräte über Österreich',
  'Potwierdzenie zamówienia żółtych łódek ąęśćźńó ąęśćźńó ąęśćźńó',
  '🎉🎊🥳👍🏽👩‍👩‍👧🎁🎈🍾🥂✨🎉🎊🥳👍🏽',
  `é${'請求書'.repeat(20)}`,
  `aé${'👍'.repeat(30)}`,
  `${'€é'.repeat(40)}x`,
])
  for (const room of [75, 66, 40, 24])
    test(`${JSON.stringify(text.slice(0, 12))}… in a room of ${room}: only the last word is padded`, () => {
      const words = encodedWords(text, room)
      assert.ok(words.length > 1)
      assert.is(words.map(decode).join(''), text)
      for (const word of words.slice(0, -1)) assert.not.match(word, PADDED)
    })

test('whatever the text, only the last word is padded, and no word is too long', () => {
  checked(fc.tuple(awkwardText, fc.integer({ min: -5, max: 75 })), ([text, room]) => {
    const words = encodedWords(text, room)
    assert.is(words.map(decode).join(''), text.toWellFormed())
    assert.ok((words[0]?.length ?? 0) <= Math.max(room, 24))
    for (const word of words) assert.ok(word.length <= 75)
    for (const word of words.slice(0, -1)) assert.not.match(word, PADDED)
  })
})

test('the first word keeps to the room it is given, the others do not need to', () => {
  const words = encodedWords('ü'.repeat(100), 40)
  assert.ok(words[0]!.length <= 40)
  assert.ok(words[1]!.length > 60)
})

test('where there is hardly any room, the first word still takes a character', () => {
  const words = encodedWords('👍👍👍', -5)
  assert.is(decode(words[0]!), '👍')
  assert.is(decode(words[1]!), '👍👍')
})

/** RFC 2047 §4, and nothing more. */
function decode(word: string): string {
  const [, encoding, text] = /^=\?UTF-8\?([BQ])\?([!->@-~]*)\?=$/.exec(word)!
  if (encoding === 'B') return Buffer.from(text!, 'base64').toString()
  const octets = text!
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(octets, 'latin1').toString()
}

test.run()
