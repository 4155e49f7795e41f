import { type AddressInfo, createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../../src/lib/clock.ts'
import { exchangeWithFilter } from '../../../../../src/pipeline/inbound/verdicts/exchange.ts'
import { byteArrayCount, sendByteByByte } from '../../../../kit/held-pieces.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'

const test = suite('verdicts/exchange')
const REPLY_BYTES_MAX = 5_000

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** A filter that answers as it is told. */
async function setUp(t: TestContext, act: (socket: Socket) => Promise<void>) {
  const server = createServer(socket => {
    socket.on('error', () => {}).setNoDelay(true)
    void act(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return exchangeWithFilter(nothing(), {
    address: { host: '127.0.0.1', port },
    clock: systemClock,
    limitMs: 200_000,
    maxReplyBytes: REPLY_BYTES_MAX,
  })
}

test('a reply that comes byte by byte is held in one buffer', async t => {
  let held = 0
  const reply = await setUp(t, async socket => {
    const before = byteArrayCount()
    await sendByteByByte(socket, 'x'.repeat(REPLY_BYTES_MAX))
    held = byteArrayCount() - before
    socket.end()
  })
  assert.is(`${reply}`, 'x'.repeat(REPLY_BYTES_MAX))
  assert.ok(held < 300, `${held} byte arrays`)
})

for (const [what, text] of [
  ['one piece', 'x'.repeat(10 * REPLY_BYTES_MAX)],
  ['lines', 'OK\r\n'.repeat((10 * REPLY_BYTES_MAX) / 4)],
] as const)
  test(`a reply of ten times the limit in ${what} ends the exchange`, async t => {
    const told = await setUp(t, async socket => void socket.write(text)).catch(({ message }) => message)
    assert.match(told, /more than 5000 bytes/)
  })

test.run()
