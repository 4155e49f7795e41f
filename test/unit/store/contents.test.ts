import * as assert from 'uvu/assert'
import { type Content, decodeContent, encodeContent } from '../../../src/resources/emails/content.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/contents')

const roundTrip = (content: Content) => decodeContent(encodeContent(content))

test('contents: short ones are stored unchanged, long ones compressed', () => {
  const short = encodeContent({ html: null, text: 'Hello' })
  assert.is(short.encoding, 'plain')
  assert.is(short.body.length, short.sizeBytes)
  for (const [times, encoding] of [
    [1_000, 'deflate'],
    [10_000, 'zstd'],
  ] as const) {
    const content = { html: '<p>Hello</p>'.repeat(times), text: null }
    const long = encodeContent(content)
    assert.is(long.encoding, encoding)
    assert.ok(long.body.length < long.sizeBytes / 10)
    assert.equal(decodeContent(long), content)
  }
})

test('contents: one that compression does not make smaller is stored unchanged', () => {
  const noise = Array.from({ length: 300 }, (_, i) =>
    String.fromCharCode(33 + ((i * 7919 + i * i) % 94)),
  ).join('')
  const encoded = encodeContent({ html: null, text: noise.slice(0, 230) })
  assert.is(encoded.encoding, 'plain')
  assert.is(decodeContent(encoded).text, noise.slice(0, 230))
})

test('contents: the size is that of the JSON before compression', () => {
  const content = { html: 'ä'.repeat(500), text: null }
  assert.is(encodeContent(content).sizeBytes, Buffer.byteLength(JSON.stringify(content)))
})

test('contents: absent and empty parts are distinguished', () => {
  for (const html of [null, '', 'x'])
    for (const text of [null, '', 'x']) assert.equal(roundTrip({ html, text }), { html, text })
})

test('contents: unusual characters are read back unchanged', () => {
  for (const text of [
    'Grüße, 漢字, 👩‍👩‍👧, \u0000 and \u2028',
    'a lone high \ud83d and a lone low \udc69 surrogate',
    'CR\r, LF\n, CRLF\r\n, tab\t',
    '"quotes" and \\ and </script>',
    '\ud800'.repeat(400),
  ])
    assert.equal(roundTrip({ html: text.repeat(30), text }), { html: text.repeat(30), text })
})

test('contents: any content is read back unchanged', () => {
  const part = fc.option(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.string({ maxLength: 20 })),
  )
  fc.assert(
    fc.property(part, part, (html, text) => {
      assert.equal(roundTrip({ html, text }), { html, text })
    }),
    { seed: 20261121, numRuns: 300 },
  )
})

test('contents: a damaged stored content is an error', () => {
  for (const times of [200, 20_000]) {
    const { encoding, body } = encodeContent({ html: 'Hello '.repeat(times), text: null })
    assert.throws(() => decodeContent({ encoding, body: body.subarray(0, 20) }))
    assert.throws(() => decodeContent({ encoding, body: body.subarray(5) }))
  }
  assert.throws(() => decodeContent({ encoding: 'plain', body: Buffer.from('{"html":') }))
})

test.run()
