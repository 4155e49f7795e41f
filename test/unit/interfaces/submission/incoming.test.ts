import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/incoming')

const bytes = (count: number) => new Uint8Array(count).fill(65)

test('a message is its pieces, whatever becomes of the memory they came in', () => {
  const message = createIncoming(10).open('ann')
  const chunk = Buffer.from('abc')
  message.add(chunk)
  chunk.fill(0)
  message.add(Buffer.from('de'))
  assert.is(Buffer.concat(message.pieces()!).toString(), 'abcde')
})

test('chunks of any sizes come out in their order, and small ones in few pieces', () => {
  const sizes = [1, 3, 2_000, 1_023, 1, 1_024, ...Array.from({ length: 100_000 }, () => 1), 5_000, 7]
  const message = createIncoming(10_000_000).open('ann')
  let count = 0
  const expected: number[] = []
  for (const size of sizes) {
    const chunk = Uint8Array.from({ length: size }, () => count++ % 251)
    expected.push(...chunk)
    message.add(chunk)
  }
  const pieces = message.pieces()!
  assert.ok(Buffer.concat(pieces).equals(Buffer.from(expected)))
  assert.ok(pieces.length < 20)
  for (const piece of pieces) assert.is(piece.buffer.byteLength, piece.length)
})

test('an owner takes half of the room, and there is room for the next', () => {
  const incoming = createIncoming(100)
  const [first, second] = [incoming.open('ann'), incoming.open('ann')]
  first.add(bytes(30))
  second.add(bytes(20))
  second.add(bytes(1))
  assert.is(second.pieces(), undefined)
  first.add(bytes(20))
  assert.is(first.pieces()!.length, 2)
  for (const owner of ['ben', 'cleo']) {
    const message = incoming.open(owner)
    message.add(bytes(12))
    assert.ok(message.pieces())
  }
})

test('when more than half of the room is taken it is crowded, until it is given back', () => {
  const incoming = createIncoming(100)
  const messages = ['ann', 'ben'].map(owner => {
    const message = incoming.open(owner)
    message.add(bytes(30))
    return message
  })
  assert.ok(incoming.isCrowded())
  messages[0]!.close()
  assert.not(incoming.isCrowded())
})

test('room is given back once, and taken again', () => {
  const incoming = createIncoming(20)
  const first = incoming.open('ann')
  first.add(bytes(10))
  first.close()
  first.close()
  const second = incoming.open('ann')
  second.add(bytes(10))
  assert.is(second.pieces()!.length, 1)
  const third = incoming.open('ann')
  third.add(bytes(1))
  assert.is(third.pieces(), undefined)
})

test.run()
