import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import * as assert from 'uvu/assert'
import { joinSmallReads } from '../../../src/lib/small-reads.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('small-reads')
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

/** A socket whose system side is scripted: `push` is what the runtime does with each piece that it reads. */
function setUp() {
  const socket = new Duplex({ read() {}, write: (_, __, done) => done() }) as Socket
  joinSmallReads(socket)
  const pieces: string[] = []
  return { socket, pieces, listen: () => socket.on('data', piece => pieces.push(String(piece))) }
}

test('a paused socket reads one piece, and no further one in later turns', async () => {
  const { socket, pieces, listen } = setUp()
  listen()
  socket.pause()
  let readCount = 0
  for (let i = 0; i < 1_000; i++) {
    if (socket.readableLength > 0) break
    readCount++
    assert.is(socket.push(Buffer.from('x')), false)
    await turn()
  }
  assert.is(readCount, 1)
  socket.resume()
  await turn()
  assert.equal(pieces, ['x'])
})

for (const count of [2, 500, 10_000])
  test(`${count} pieces that one turn brings are at most two events, and none is lost`, async () => {
    const { socket, pieces, listen } = setUp()
    listen()
    await turn()
    const texts = Array.from({ length: count }, (_, i) => String(i % 10))
    const requests = texts.map(text => socket.push(Buffer.from(text)))
    await turn()
    assert.ok(pieces.join('') === texts.join(''))
    assert.is(pieces.length, 2)
    assert.is(requests.indexOf(false), count < 512 ? -1 : 512)
  })

test('large pieces and the end come in their order', async () => {
  const { socket, pieces, listen } = setUp()
  listen()
  await turn()
  const large = 'y'.repeat(2_000)
  for (const text of ['a', 'b', large, 'c', 'd']) socket.push(Buffer.from(text))
  socket.push(null)
  await new Promise(resolve => socket.once('end', resolve))
  assert.ok(pieces.join('') === `ab${large}cd`)
})

test('what arrives before the socket is destroyed is dropped without an error', async () => {
  const { socket, pieces, listen } = setUp()
  listen()
  await turn()
  socket.push(Buffer.from('a'))
  socket.push(Buffer.from('b'))
  socket.destroy()
  await turn()
  assert.equal(pieces, ['a'])
})

test.run()
