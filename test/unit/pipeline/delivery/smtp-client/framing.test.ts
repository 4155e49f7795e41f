import * as assert from 'uvu/assert'
import { frameMessage } from '../../../../../src/pipeline/delivery/smtp-client/framing.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('message framing')
const framed = (...parts: string[]) => wireOf(parts.map(part => Buffer.from(part, 'latin1')))
const wireOf = (parts: Buffer[]) => Buffer.concat(frameMessage(parts).blocks).toString('latin1')

test('the message ends with a line that is a single dot', () => {
  assert.is(framed('a: b\r\n\r\n', 'text\r\n'), 'a: b\r\n\r\ntext\r\n.\r\n')
})

test('adds a missing last CRLF', () => {
  assert.is(framed('text'), 'text\r\n.\r\n')
  assert.is(framed('text\r', '\n'), 'text\r\n.\r\n')
})

test('an empty message is a single dot', () => {
  assert.is(framed(), '.\r\n')
  assert.is(framed('', ''), '.\r\n')
})

test('doubles the dots at the start of lines, and no others', () => {
  assert.is(framed('.a\r\n..b\r\n.\r\nc.d\r\n'), '..a\r\n...b\r\n..\r\nc.d\r\n.\r\n')
  assert.is(framed('a\r\n', '.b'), 'a\r\n..b\r\n.\r\n')
  assert.is(framed('a\r', '\n', '.', '\r\n'), 'a\r\n..\r\n.\r\n')
  assert.is(framed('a', '.b'), 'a.b\r\n.\r\n')
})

for (const bare of ['a\nb', 'a\rb', '\na', 'a\n', 'a\r', 'a\r\r\nb', 'a\n\r\n', '\r', '\n'])
  test(`throws for ${JSON.stringify(bare)}`, () => {
    assert.throws(() => framed(bare), /not part of a CRLF/)
    assert.throws(() => framed(...bare), /not part of a CRLF/)
    assert.throws(() => framed('x'.repeat(65_535), bare, 'y'.repeat(70_000)), /not part of a CRLF/)
  })

for (const end of [
  '\n.\n',
  '\n.\r\n',
  '\r.\r',
  '\r\n.\n',
  '\r\n.\r',
  '\r.\r\n',
  '\n.\r',
  '\r\n\0.\r\n\n',
  '\r\r\n.\r\r\n',
])
  test(`lets no smuggled end of data pass: ${JSON.stringify(end)}`, () => {
    assert.throws(() => framed(`text${end}MAIL FROM:<x@y.test>\r\n`))
  })

test('eightBit is true if any part has a byte with its high bit set', () => {
  assert.is(frameMessage([Buffer.from('plain')]).eightBit, false)
  assert.is(frameMessage([Buffer.from('plain'), Buffer.from('é'), Buffer.from('plain')]).eightBit, true)
})

test('a small message is one block, a large one is cut into blocks of at most 64 KiB', () => {
  assert.is(frameMessage([Buffer.alloc(5000, 'x'), Buffer.alloc(50_000, 'y')]).blocks.length, 1)
  const { blocks } = frameMessage([Buffer.alloc(1_000_000, 'x')])
  assert.ok(blocks.every(block => block.length <= 65_536))
  assert.is(
    blocks.reduce((sum, block) => sum + block.length, 0),
    1_000_000 + '\r\n.\r\n'.length,
  )
})

test('line ends and dots are found across window boundaries', () => {
  for (const fill of [65_533, 65_534, 65_535, 65_536, 65_537]) {
    const message = `${'x'.repeat(fill)}\r\n.dot\r\n`
    assert.is(framed(message), `${'x'.repeat(fill)}\r\n..dot\r\n.\r\n`)
  }
})

test('a receiver reads back what was framed, however the parts were split', () => {
  const word = fc.constantFrom('\r\n', '.', '..', 'text', 'é', ' ', '\0')
  fc.assert(
    fc.property(
      fc.array(fc.array(word).map(words => Buffer.from(words.join('')))),
      fc.nat(7),
      (parts, step) => {
        const message = Buffer.concat(parts).toString('latin1')
        const wire = wireOf(parts)
        assert.is(wire, wireOf(pieces(Buffer.concat(parts), step + 1)))
        assert.is(wire.indexOf('\r\n.\r\n'), wire === '.\r\n' ? -1 : wire.length - 5)
        const complete = message === '' || message.endsWith('\r\n') ? message : `${message}\r\n`
        assert.is(wire.slice(0, -3).replace(/(^|\r\n)\./g, '$1'), complete)
      },
    ),
  )
})

function pieces(bytes: Buffer, step: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) =>
    bytes.subarray(i * step, (i + 1) * step),
  )
}

test.run()
