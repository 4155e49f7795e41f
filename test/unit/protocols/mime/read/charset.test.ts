import * as assert from 'uvu/assert'
import { decodeText, streamDecoder } from '../../../../../src/protocols/mime/read/charset.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/charset')

/** Labels that name windows-1252 to browsers (WHATWG Encoding §4.2), and spellings of them in mail. */
const LABELS = [
  ...['ansi_x3.4-1968', 'ascii', 'cp1252', 'cp819', 'csisolatin1', 'ibm819', 'iso-8859-1', 'iso-ir-100'],
  ...['iso8859-1', 'iso88591', 'iso_8859-1', 'iso_8859-1:1987', 'l1', 'latin1', 'us-ascii', 'windows-1252'],
  ...['x-cp1252', 'Latin-1', 'WINDOWS-1252', 'US-ASCII', 'win1252', 'ANSI'],
]
const TEXT = 'Größe „groß“ – 5 €, naïve'
const UTF8 = Buffer.from(TEXT)
const LATIN = Buffer.from(
  [...'Gr\xf6\xdfe \x84gro\xdf\x93 \x96 5 \x80, na\xefve'].map(one => one.charCodeAt(0)),
)

for (const label of LABELS)
  test(`charset: ${label} is read as UTF-8 if it is UTF-8, in mail and in streams of any pieces`, () => {
    for (const octets of [UTF8, LATIN]) {
      assert.is(decodeText(octets.toString('latin1'), label), TEXT)
      for (const size of [1, 2, 3, 7, octets.length]) {
        const decoder = streamDecoder(label)!
        let text = ''
        for (let at = 0; at < octets.length; at += size) text += decoder.write(octets.subarray(at, at + size))
        assert.is(text + decoder.end(), TEXT, `${size}`)
      }
    }
  })

test('charset: a long stream is not held until its end', () => {
  const decoder = streamDecoder('latin1')!
  const piece = Buffer.from(`${'x'.repeat(1_000)}ü`)
  let shown = 0
  for (let i = 0; i < 100; i++) shown += decoder.write(piece).length
  assert.ok(shown > 90_000, `${shown}`)
  assert.is(shown + decoder.end().length, 100_100)
})

test('charset: a character on the boundary at which the charset is told is complete', () => {
  for (const before of [4_093, 4_094, 4_095, 4_096]) {
    const decoder = streamDecoder('windows-1252')!
    const text = `ü${'x'.repeat(before - 2)}€ü`
    const octets = Buffer.from(text)
    const cut = before + 1
    assert.is(
      decoder.write(octets.subarray(0, cut)) + decoder.write(octets.subarray(cut)) + decoder.end(),
      text,
    )
  }
})

test('charset: siblings that are not the same charset are believed', () => {
  assert.is(streamDecoder('iso-8859-15')!.write(Buffer.from([0xa4])), '€')
  assert.is(streamDecoder('klingon'), undefined)
})

test.run()
