import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { bodyHash, createBodyHasher } from '../../../../src/protocols/dkim/body-hash.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dkim/body-hash')
const seed = Number(process.env.TEST_SEED ?? 6376)
console.log(`seed ${seed}`)

const cases: [body: string, relaxed: string][] = [
  ['', ''],
  ['\r\n', ''],
  ['\r\n\r\n\r\n', ''],
  [' \t \r\n\t\r\n', ''],
  ['  ', ''],
  ['a', 'a\r\n'],
  ['a  ', 'a\r\n'],
  ['a\r\n', 'a\r\n'],
  ['a\r\n\r\n \r\n', 'a\r\n'],
  [' one \r\ntwo \t three\r\n\r\n\r\n', ' one\r\ntwo three\r\n'],
  ['\r\n\r\na\r\n', '\r\n\r\na\r\n'],
  ['a\r\n\r\nb', 'a\r\n\r\nb\r\n'],
  ['a\r\n \t\r\nb', 'a\r\n\r\nb\r\n'],
  ['\ta', ' a\r\n'],
  ['a\tb', 'a b\r\n'],
  ['a\rb', 'a\rb\r\n'],
  ['a \rb', 'a \rb\r\n'],
  ['a\r', 'a\r\r\n'],
  ['a \r', 'a \r\r\n'],
  ['\r', '\r\r\n'],
  ['a\r\r\n', 'a\r\r\n'],
  ['a\r \r\n', 'a\r\r\n'],
  ['a\nb', 'a\nb\r\n'],
  ['a \nb', 'a \nb\r\n'],
  ['a\n', 'a\n\r\n'],
  ['\n', '\n\r\n'],
  ['a\r\n\n', 'a\r\n\n\r\n'],
  ['a\fb\v', 'a\fb\v\r\n'],
  ['\xa0', '\xa0\r\n'],
  ['a\xa0 \r\n', 'a\xa0\r\n'],
  ['\0 \0', '\0 \0\r\n'],
  ['.\r\n..\r\n', '.\r\n..\r\n'],
]
for (const [body, relaxed] of cases)
  test(`${JSON.stringify(body)} is hashed as ${JSON.stringify(relaxed)}`, () => {
    assert.is(bodyHash(octets(body)), sha256(relaxed))
  })

test('body hash: an empty body has the hash of RFC 6376 §3.4.4', () => {
  assert.is(bodyHash(Buffer.alloc(0)), '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
})

test('body hash: whole, octet by octet and by definition give the same hash', () => {
  const pieces = fc.constantFrom(
    'a',
    ' ',
    '\t',
    '\r\n',
    '\r',
    '\n',
    '\r\n\r\n',
    'bc',
    '\xa0',
    '\f',
    '  ',
    'x'.repeat(1500),
  )
  const cut = fc.array(
    fc.array(pieces, { maxLength: 8 }).map(list => list.join('')),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(cut, chunks => {
      const body = chunks.join('')
      const hasher = createBodyHasher()
      for (const chunk of chunks) hasher.update(octets(chunk))
      const expected = sha256(relaxedByDefinition(body))
      assert.is(bodyHash(octets(body)), expected)
      assert.is(hasher.digest(), expected)
      assert.is(hashByOctets(octets(body)), expected)
    }),
    { seed, numRuns: 1000 },
  )
})

for (const length of [1023, 1024, 1025, 8190, 8191, 8192, 8193, 16_384])
  test(`body hash: no octet is lost at a buffer boundary of ${length}`, () => {
    for (const tail of ['  b\r\n', ' \r\n', '\r\n\r\nb', '\tb \tc']) {
      const body = 'x'.repeat(length) + tail
      assert.is(bodyHash(octets(body)), sha256(relaxedByDefinition(body)))
      const words = 'y  '.repeat(length) + tail
      assert.is(bodyHash(octets(words)), sha256(relaxedByDefinition(words)))
    }
  })

test('body hash: a relaxed body is hashed unchanged except for its end', () => {
  for (const body of ['a b\r\nc d\r\n', 'a\r\n\r\nb\r\n', ' a\r\n'])
    assert.is(bodyHash(octets(body), true), sha256(body))
  for (const body of ['', '\r\n', 'a', 'a\r\n\r\n\r\n'])
    assert.is(bodyHash(octets(body), true), sha256(relaxedByDefinition(body)))
})

test('body hash: time is linear in the size of the body', () => {
  for (const piece of ['\r\n', ' ', '\t', '\r', '\n', 'a ', 'a  ', '\r\n ', 'a'])
    assertLinear(piece, count => bodyHash(octets(`${piece.repeat(count)}b`)), 250_000)
})

function octets(body: string): Buffer {
  return Buffer.from(body, 'latin1')
}

function sha256(relaxed: string): string {
  return createHash('sha256').update(relaxed, 'latin1').digest('base64')
}

function hashByOctets(body: Buffer): string {
  const hasher = createBodyHasher()
  for (const octet of body) hasher.update(Uint8Array.of(octet))
  return hasher.digest()
}

/** RFC 6376 §3.4.4 word for word, line by line. */
function relaxedByDefinition(body: string): string {
  const lines = body.split('\r\n').map(line => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return lines.map(line => `${line}\r\n`).join('')
}

test.run()
