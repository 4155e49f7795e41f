import { Duplex, duplexPair } from 'node:stream'
import * as assert from 'uvu/assert'
import { frame, readFrames } from '../../../../src/protocols/dns/frames.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/frames')
const MESSAGES = [12, 13, 300, 4096].map((length, i) => Buffer.alloc(length, i + 1))

async function read(chunks: readonly Uint8Array[], maxBytes = 4096): Promise<Buffer[]> {
  const [near, far] = duplexPair()
  for (const chunk of chunks) near.write(chunk)
  near.end()
  const found: Buffer[] = []
  for await (const message of readFrames(far, maxBytes)) found.push(Buffer.from(message))
  return found
}

test('DNS frames: a frame is the length in two octets and the message', () => {
  assert.is(frame(Buffer.from('abc')).toString('hex'), '0003616263')
})

test('DNS frames: messages are read unchanged from any chunks', async () => {
  const stream = Buffer.concat(MESSAGES.map(frame))
  assert.equal(await read([stream]), MESSAGES)
  for (const size of [1, 2, 3, 7, 100, 1000]) {
    const chunks = Array.from({ length: Math.ceil(stream.length / size) }, (_, i) =>
      stream.subarray(i * size, (i + 1) * size),
    )
    assert.equal(await read(chunks), MESSAGES, `chunks of ${size}`)
  }
})

test('DNS frames: an incomplete message at the end is dropped', async () => {
  assert.equal(await read([frame(MESSAGES[0]!), frame(MESSAGES[1]!).subarray(0, -1)]), [MESSAGES[0]])
  assert.equal(await read([Buffer.of(0)]), [])
  assert.equal(await read([]), [])
})

test('DNS frames: an invalid length is refused before the message arrives', async () => {
  for (const length of [0, 11, 101, 65_535]) {
    const prefix = Buffer.alloc(2)
    prefix.writeUInt16BE(length)
    await read([prefix], 100).then(
      () => assert.unreachable(`${length} octets`),
      error => assert.instance(error, RangeError),
    )
  }
  assert.is((await read([frame(Buffer.alloc(100))], 100)).length, 1)
})

for (const [what, messageBytes, pieceBytes] of [
  ['the largest message', 65_535, 1],
  ['the largest message in odd pieces', 65_535, 3],
  ['many small messages', 12, 1],
] as const)
  test(`DNS frames: ${what} in small pieces: each octet is copied a constant number of times`, async () => {
    const stream = Buffer.concat(
      Array.from({ length: Math.ceil(60_000 / messageBytes) }, () => frame(Buffer.alloc(messageBytes, 1))),
    )
    const pieces = Array.from({ length: Math.ceil(stream.length / pieceBytes) }, (_, i) =>
      stream.subarray(i * pieceBytes, (i + 1) * pieceBytes),
    )
    let copied = 0
    const { set } = Uint8Array.prototype
    const { concat } = Buffer
    Uint8Array.prototype.set = function (source, at) {
      copied += source.length
      return set.call(this, source, at)
    }
    Buffer.concat = (list, size) => {
      for (const one of list) copied += one.length
      return concat(list, size)
    }
    let count = 0
    try {
      const source = Duplex.from(pieces)
      for await (const message of readFrames(source, 65_535)) count += message.length
    } finally {
      Uint8Array.prototype.set = set
      Buffer.concat = concat
    }
    assert.ok(count >= 60_000)
    assert.ok(copied < 5 * stream.length, `${copied} octets copied for ${stream.length}`)
  })

test('DNS frames: a half-open stream stays writable', async () => {
  const [near, far] = duplexPair()
  near.end(frame(MESSAGES[0]!))
  for await (const _ of readFrames(far, 4096));
  assert.is(far.destroyed, false)
  far.end('answer')
  assert.equal(await near.toArray(), [Buffer.from('answer')])
})

test.run()
