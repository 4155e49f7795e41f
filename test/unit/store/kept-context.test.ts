import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import {
  constants,
  createDeflateRaw,
  createZstdCompress,
  createZstdDecompress,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import * as assert from 'uvu/assert'
import { keepContext } from '../../../src/store/kept-context.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/kept-context')

const SIZE_BYTES_MAX = 4096
const TEXTS = ['', 'a', 'hello '.repeat(100), '{"html":"<p>Grüße</p>"}', randomBytes(2000).toString('base64')]
const inputs = TEXTS.map(text => Buffer.from(text))

const zstd = () => keepContext(createZstdCompress, { flush: constants.ZSTD_e_end, mostBytes: SIZE_BYTES_MAX })
const unzstd = () =>
  keepContext(createZstdDecompress, { flush: constants.ZSTD_e_continue, mostBytes: SIZE_BYTES_MAX })
const deflate = () =>
  keepContext(createDeflateRaw, { flush: constants.Z_FINISH, mostBytes: SIZE_BYTES_MAX, resets: true })

for (const [what, open, once] of [
  ['zstd', zstd, zstdCompressSync],
  ['deflate', deflate, deflateRawSync],
] as const)
  test(`${what}: one after another, each gives what a context of its own would give`, () => {
    const compress = open()
    for (const input of [...inputs, ...inputs.toReversed()])
      assert.equal(Buffer.from(compress(input)!), once(input))
  })

test('one after another, each comes out again', () => {
  const decompress = unzstd()
  for (const input of [...inputs, ...inputs.toReversed()])
    assert.equal(Buffer.from(decompress(zstdCompressSync(input))!), input)
})

for (const [what, open, backwards] of [
  ['zstd', zstd, zstdDecompressSync],
  ['deflate', deflate, inflateRawSync],
] as const)
  test(`${what}: what does not fit is not given, and the next is as if it had not been`, () => {
    const compress = open()
    for (const input of inputs) {
      assert.is(compress(randomBytes(SIZE_BYTES_MAX + 1)), undefined)
      assert.equal(backwards(compress(input)!), input)
    }
  })

test('what becomes too large is not given, and the next is as if it had not been', () => {
  const decompress = unzstd()
  for (const input of inputs) {
    assert.is(decompress(zstdCompressSync(Buffer.alloc(SIZE_BYTES_MAX + 1))), undefined)
    assert.equal(Buffer.from(decompress(zstdCompressSync(input))!), input)
  }
})

const sound = zstdCompressSync(inputs[2]!)
for (const [what, damaged] of [
  ['is no frame at all', Buffer.from('no frame at all')],
  ['has bytes that are not its own', Buffer.concat([sound.subarray(0, -3), Buffer.from('xxx')])],
  ['ends too soon', sound.subarray(0, -3)],
  ['has not even begun', Buffer.alloc(0)],
] as const)
  test(`what ${what} is not given, and the next is as if it had not been`, () => {
    const decompress = unzstd()
    for (let i = 0; i < 3; i++) {
      assert.is(decompress(damaged, inputs[2]!.length), undefined)
      assert.equal(Buffer.from(decompress(sound, inputs[2]!.length)!), inputs[2])
    }
  })

test('of what the runtime does not make so nothing is kept', () => {
  const compress = keepContext(() => new PassThrough(), { flush: 0, mostBytes: SIZE_BYTES_MAX })
  assert.is(compress(inputs[1]!), undefined)
})

test.run()
