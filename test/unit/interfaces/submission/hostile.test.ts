import * as assert from 'uvu/assert'
import { HOSTILE_BODIES } from '../../../kit/hostile-mail.ts'
import { openSmallHeap, type SmallHeap } from '../../../kit/small-heap.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission: hostile messages within a small heap')
const LINES_BYTES = 10_000_000
const USUAL_BYTES = 4_000_000

let heap: SmallHeap
test.before(() => {
  heap = openSmallHeap(60)
})
test.after(() => heap.close())

for (const [what, fill] of [
  ['one line', 'a'],
  ['one line of a character of two octets', '\xc3\xa9'],
  ['one line of words', 'abc '],
  ['nothing but blanks', ' '],
  ['lines of 999 octets', `${'a'.repeat(999)}\r\n`],
  ['lines of 998 octets', `${'a'.repeat(998)}\r\n`],
  ['bare CR', '\r'],
  ['bare LF', '\n'],
  ['lines that end in a bare CR', 'a\r'],
] as const)
  test(`${what}, 10 MB: its lines are broken, and end in CRLF`, async () => {
    const facts = await heap.read({ reader: 'lines', fill, sizeBytes: LINES_BYTES })
    assert.ok(facts.longestLine! <= 998)
    assert.is(facts.bareCount, 0)
    assert.ok(facts.endsInLineEnd)
    assert.ok(facts.sizeBytes! > LINES_BYTES - 2_000)
  })

for (const [name, place, sizeBytes] of [
  ['one line', 'text/plain', 19_000_000],
  ['base64: padding behind each character', 'a file', 19_000_000],
  ['base64: lines of 76', 'a file', 19_000_000],
  ['base64: one line', 'text/html', USUAL_BYTES],
  ['quoted-printable: lines of escapes', 'text/html', USUAL_BYTES],
  ['quoted-printable: nothing but soft breaks', 'a file', USUAL_BYTES],
  ['flowed: quote marks', 'text/plain', USUAL_BYTES],
  ['uuencode: lines whose blanks were cut off', 'a file', USUAL_BYTES],
  ['UTF-7: short sequences', 'text/plain', USUAL_BYTES],
  ['images that it does not bring', 'text/html', USUAL_BYTES],
  ['one line', 'an enclosed message', USUAL_BYTES],
] as const)
  test(`${name}: ${place} of ${sizeBytes / 1_000_000} MB is read, and known by what it says`, async () => {
    assert.ok(HOSTILE_BODIES.some(body => body.name === name))
    const facts = await heap.read({ reader: 'submission', body: name, place, sizeBytes })
    assert.is(facts.refused, undefined)
    assert.ok(facts.longestLine! <= 998)
    assert.is(facts.textLength !== null, place === 'text/plain')
    assert.is(facts.htmlLength !== null, place === 'text/html')
    assert.ok((facts.textLength ?? 0) + (facts.htmlLength ?? 0) <= 2_000_000)
    const files = place.startsWith('text/') || name.startsWith('uuencode') ? 0 : 1
    assert.is(facts.sizes!.length, files)
  })

test.run()
