import { PassThrough } from 'node:stream'
import * as assert from 'uvu/assert'
import { takeIn } from '../../../../src/pipeline/inbound/intake.ts'
import { createMailBytes } from '../../../../src/pipeline/inbound/mail-bytes.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/intake')
const BLOCK = Buffer.alloc(64 * 1024, 'x')

/** A blob whose writes end when the test says so. */
function slowBlob() {
  const written: Buffer[] = []
  const waiting: PromiseWithResolvers<void>[] = []
  return {
    written,
    waiting,
    async write(block: Uint8Array) {
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
      written.push(Buffer.from(block))
    },
  }
}

const turns = () => new Promise(resolve => setTimeout(resolve, 5))

async function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => assert.unreachable(),
    error => error,
  )
}

test('intake: small chunks are written in blocks, and all bytes are counted', async () => {
  const stream = new PassThrough()
  const bytes = createMailBytes()
  const written: number[] = []
  const done = takeIn(stream, bytes, { write: async block => void written.push(block.length) }, 100_000)
  for (let i = 0; i < 30_000; i++) stream.write('.\r\n.\r\n')
  stream.end()
  await done
  assert.is(bytes.sizeBytes, 180_000)
  assert.is(
    written.reduce((sum, length) => sum + length, 0),
    100_000,
  )
  assert.ok(written.length <= 3)
})

test('intake: the stream is paused while a block is written', async () => {
  const stream = new PassThrough()
  const blob = slowBlob()
  const done = takeIn(stream, createMailBytes(), blob, 10 * BLOCK.length)
  stream.write(BLOCK)
  await turns()
  assert.is(stream.isPaused(), true)
  for (const piece of [BLOCK, BLOCK]) stream.write(piece)
  stream.end()
  let isDone = false
  void done.then(() => {
    isDone = true
  })
  while (!isDone) {
    for (const each of blob.waiting) each.resolve()
    await turns()
  }
  assert.is(Buffer.concat(blob.written).length, 3 * BLOCK.length)
})

test('intake: a lost connection rejects after the current write has ended', async () => {
  const stream = new PassThrough()
  const blob = slowBlob()
  let told = false
  const done = rejection(takeIn(stream, createMailBytes(), blob, 10 * BLOCK.length)).then(error => {
    told = true
    return error
  })
  stream.write(BLOCK)
  await turns()
  stream.destroy(new Error('cut off'))
  await turns()
  assert.is(told, false)
  blob.waiting[0]!.resolve()
  assert.is(((await done) as Error).message, 'cut off')
})

test('intake: a full disk rejects after the stream has been read to its end', async () => {
  const stream = new PassThrough()
  const write = async () => {
    throw new StorageUnavailable('no space')
  }
  const done = rejection(takeIn(stream, createMailBytes(), { write }, 10 * BLOCK.length))
  for (let i = 0; i < 5; i++) stream.write(BLOCK)
  stream.end()
  assert.instance(await done, StorageUnavailable)
  assert.ok(stream.readableEnded)
})

test('intake: a message received byte by byte is written unchanged, and its header section is scanned', async () => {
  const message = Buffer.from(`${'Received: from a by b\r\n'.repeat(60)}\r\nhello\r\n`)
  const stream = new PassThrough()
  const bytes = createMailBytes()
  const written: Uint8Array[] = []
  const done = takeIn(stream, bytes, { write: async block => void written.push(block) }, 100_000)
  for (const byte of message) stream.write(Uint8Array.of(byte))
  stream.end()
  await done
  assert.ok(Buffer.concat(written).equals(message))
  assert.is(bytes.hopCount(), 60)
})

test.run()
