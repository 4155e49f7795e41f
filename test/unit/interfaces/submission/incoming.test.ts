import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { largeInput } from '../../../kit/large-input.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/incoming')

const KIB = 1024
const bytes = (count: number) => new Uint8Array(count).fill(65)
const unexpected = () => assert.unreachable()

function incomingOf(sizeBytes: number) {
  const clock = createManualClock()
  const budget = largeInput({ bytes: sizeBytes, clock })
  const incoming = createIncoming(budget)
  const open = (owner: string, declaredBytes = 0, onLate: () => void = unexpected) =>
    incoming.open(owner, declaredBytes, onLate)
  return { clock, budget, incoming, open }
}

test('a message is its pieces, whatever becomes of the memory they came in', () => {
  const message = incomingOf(1_000).open('ann')
  const chunk = Buffer.from('abc')
  message.add(chunk)
  chunk.fill(0)
  message.add(Buffer.from('de'))
  assert.is(Buffer.concat(message.pieces()).toString(), 'abcde')
})

test('chunks of any sizes come out in their order, and small ones in few pieces', async () => {
  const sizes = [1, 3, 2_000, 1_023, 1, 1_024, ...Array.from({ length: 100_000 }, () => 1), 90_000, 7]
  const message = incomingOf(10_000_000).open('ann')
  let count = 0
  const expected: number[] = []
  for (const size of sizes) {
    const chunk = Uint8Array.from({ length: size }, () => count++ % 251)
    expected.push(...chunk)
    await message.add(chunk)
  }
  const pieces = message.pieces()
  assert.ok(Buffer.concat(pieces).equals(Buffer.from(expected)))
  assert.ok(pieces.length < 20)
  for (const piece of pieces) assert.is(piece.buffer.byteLength, piece.length)
})

test('memory is taken for the declared size at once, and for a message without one as it grows', async () => {
  const { budget, open } = incomingOf(4_096 * KIB)
  const declared = open('ann', 1_500 * KIB)
  assert.is(declared.add(bytes(128 * KIB)), undefined)
  await declared.add(bytes(1))
  assert.is(budget.takenBytes, 1_500 * KIB)
  const other = open('ben')
  await other.add(bytes(200 * KIB))
  assert.is(budget.takenBytes, 1_900 * KIB)
  await other.add(bytes(250 * KIB))
  assert.is(budget.takenBytes, 2_400 * KIB)
  assert.ok(budget.isCrowded())
  for (const message of [declared, other]) message.close()
  for (const message of [declared, other]) message.close()
  assert.is(budget.takenBytes, 0)
})

test('nothing is kept of a message beyond the maximum', async () => {
  const { budget, incoming, open } = incomingOf(1_024 * KIB)
  assert.is(incoming.bytesMax, 512 * KIB)
  const message = open('ann')
  for (let i = 0; i < 9; i++) await message.add(bytes(64 * KIB))
  assert.is(budget.takenBytes, 0)
  assert.equal(message.pieces(), [])
})

test('a message for which there is no memory within 30 s is refused, and what it held is free', async () => {
  const { clock, budget, open } = incomingOf(1_024 * KIB)
  const held = [await budget.take('one', 512 * KIB), await budget.take('two', 512 * KIB)]
  const message = open('ann')
  const room = message.add(bytes(200 * KIB))
  await settled()
  clock.advance(30_000)
  await room
  assert.throws(
    () => message.pieces(),
    (error: unknown) => error instanceof TooManyWaiting,
  )
  for (const reservation of held) reservation.release()
  assert.is(budget.takenBytes, 0)
})

test('a message that is closed while it waits gives back the memory that it gets', async () => {
  const { budget, open } = incomingOf(1_024 * KIB)
  const held = [await budget.take('one', 512 * KIB), await budget.take('two', 512 * KIB)]
  const message = open('ann')
  const room = message.add(bytes(200 * KIB))
  message.close()
  for (const reservation of held) reservation.release()
  await room
  assert.is(budget.takenBytes, 0)
})

test('a message that fills its memory within 15 minutes may be slow; a slower one is ended', async () => {
  let lateCount = 0
  const { clock, open } = incomingOf(4_096 * KIB)
  const message = open('ann', 1_800 * KIB, () => lateCount++)
  await message.add(bytes(129 * KIB))
  for (let minute = 1; minute <= 5; minute++) {
    await message.add(bytes(120 * KIB))
    for (let i = 0; i < 6; i++) clock.advance(10_000)
    assert.is(lateCount, 0)
  }
  for (let i = 0; i < 12; i++) clock.advance(10_000)
  assert.ok(lateCount > 0)
  message.close()
})

test.run()
