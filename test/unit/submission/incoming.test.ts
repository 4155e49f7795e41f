import * as assert from 'uvu/assert'
import { createIncoming } from '../../../src/submission/incoming.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('submission/incoming')

const bytes = (count: number) => new Uint8Array(count).fill(65)

test('a message is its pieces, whatever becomes of the memory they came in', () => {
  const message = createIncoming(10).open()
  const chunk = Buffer.from('abc')
  message.add(chunk)
  chunk.fill(0)
  message.add(Buffer.from('de'))
  assert.is(Buffer.concat(message.pieces()!).toString(), 'abcde')
})

test('one that finds no room is given up, and leaves room for others', () => {
  const incoming = createIncoming(10)
  const [first, second] = [incoming.open(), incoming.open()]
  first.add(bytes(6))
  second.add(bytes(4))
  second.add(bytes(1))
  assert.is(second.pieces(), undefined)
  first.add(bytes(4))
  assert.is(first.pieces()!.length, 2)
})

test('room is given back once, and taken again', () => {
  const incoming = createIncoming(10)
  const first = incoming.open()
  first.add(bytes(10))
  first.close()
  first.close()
  const second = incoming.open()
  second.add(bytes(10))
  assert.is(second.pieces()!.length, 1)
  const third = incoming.open()
  third.add(bytes(1))
  assert.is(third.pieces(), undefined)
})

test.run()
