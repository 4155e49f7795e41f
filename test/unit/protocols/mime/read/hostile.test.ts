import * as assert from 'uvu/assert'
import { HOSTILE_BODIES, HOSTILE_MESSAGES, PLACES } from '../../../../kit/hostile-mail.ts'
import { openSmallHeap, type ReadingFacts, type SmallHeap } from '../../../../kit/small-heap.ts'
import { suite } from '../../../../kit/suite.ts'

/**
 * Every shape as a text at a size that shows what it costs, smaller at other places, and one of each encoding
 * at the size that a message may have.
 */
const test = suite('mime/read: hostile mail within a small heap')
const USUAL_BYTES = 13_000_000
const ELSEWHERE_BYTES = 3_000_000
const SIZE_BYTES_MAX = 60_000_000
const TEXTS_LENGTH_MAX = 2_000_000
const TEXT_FAULT = 'The text is longer than 2,000,000 characters; the rest was cut'
const FAULTS = new Set([
  TEXT_FAULT,
  'The header is too large: only its first 1,000 fields and 256 KB were read',
  'The header of a part is too large: only its first 1,000 fields and 256 KB were read',
  'The message has more than 1,000 parts; the others were not read',
  'Parts are nested more than 50 levels deep; those further inside were not read',
])
const AT_FULL_SIZE = [
  'quoted-printable: lines of escapes',
  'base64: padding behind each character',
  'uuencode: short lines',
  'one line',
  'flowed: blank lines',
  'UTF-7: short sequences',
  'HZ: single characters',
  'ISO-2022-KR: single characters',
  'ISO-2022-JP: single characters',
  'UTF-16',
]

let heap: SmallHeap
test.before(() => {
  heap = openSmallHeap()
})
test.after(() => heap.close())

function textsOf({ textLength, htmlLength }: ReadingFacts) {
  return (textLength ?? 0) + (htmlLength ?? 0)
}

function sizesOf(name: string, isText: boolean): number[] {
  if (!isText) return [ELSEWHERE_BYTES]
  return AT_FULL_SIZE.includes(name) ? [SIZE_BYTES_MAX] : [USUAL_BYTES]
}

for (const body of HOSTILE_BODIES)
  for (const place of PLACES)
    for (const sizeBytes of sizesOf(body.name, place.name === 'text/plain'))
      test(`${body.name}: ${place.name} of ${sizeBytes / 1_000_000} MB`, async () => {
        const facts = await heap.read({ reader: 'inbound', body: body.name, place: place.name, sizeBytes })
        const { subject, textLength, htmlLength, sizes, faults, beginning } = facts
        assert.is(subject, 'x')
        assert.is(textLength === null, place.name !== 'text/plain')
        assert.is(htmlLength === null, place.name !== 'text/html')
        assert.is(sizes!.length, place.name.startsWith('text/') ? 0 : 1)
        assert.ok(textsOf(facts) <= TEXTS_LENGTH_MAX)
        assert.equal(
          faults!.filter(fault => fault !== TEXT_FAULT),
          [],
        )
        const { shows } = body
        if (place.name !== 'text/plain' || shows === undefined) return
        assert.is(beginning, shows.repeat(100).slice(0, 100))
        if (shows !== '') assert.ok(faults!.includes(TEXT_FAULT))
      })

for (const { name } of HOSTILE_MESSAGES)
  for (const sizeBytes of [USUAL_BYTES, ...(name === 'a head of fields' ? [SIZE_BYTES_MAX] : [])])
    test(`${name}: ${sizeBytes / 1_000_000} MB`, async () => {
      const facts = await heap.read({ reader: 'inbound', message: name, sizeBytes })
      assert.ok(textsOf(facts) <= TEXTS_LENGTH_MAX, String(textsOf(facts)))
      assert.equal(
        facts.faults!.filter(fault => !FAULTS.has(fault)),
        [],
      )
    })

test('a message of many parts is read to its end, and its files are found', async () => {
  const enclosed = await heap.read({
    reader: 'inbound',
    message: 'many enclosed messages',
    sizeBytes: USUAL_BYTES,
  })
  assert.is(enclosed.sizes!.length, 900)
  const texts = await heap.read({ reader: 'inbound', message: 'many texts', sizeBytes: USUAL_BYTES })
  assert.equal(texts.faults, [TEXT_FAULT])
  assert.ok(texts.textLength! > TEXTS_LENGTH_MAX * 0.9)
})

test('the lines of a boundary are found among those that are nearly one', async () => {
  const message = 'lines that are nearly one of fifty boundaries'
  const { textLength, faults } = await heap.read({ reader: 'inbound', message, sizeBytes: 1_000_000 })
  assert.ok(textLength! > 900_000 && textLength! < 1_000_000)
  assert.equal(faults, [])
})

for (const { name } of HOSTILE_MESSAGES)
  test(`read as a report: ${name}`, async () => {
    const { kind } = await heap.read({ reader: 'reports', message: name, sizeBytes: 1_000_000 })
    assert.is(kind, 'mail')
  })

for (const { name } of HOSTILE_BODIES)
  test(`read as a report: ${name}`, async () => {
    const { kind } = await heap.read({
      reader: 'reports',
      body: name,
      place: 'text/html',
      sizeBytes: 1_000_000,
    })
    assert.is(kind, 'mail')
  })

test.run()
