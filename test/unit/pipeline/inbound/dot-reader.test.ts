import * as assert from 'uvu/assert'
import { createDotReader } from '../../../../src/pipeline/inbound/dot-reader.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/dot-reader')

/** Returns the content, and the bytes behind its end; undefined without an end. */
function read(pieces: readonly string[]): { content: string; rest: string | undefined } {
  const reader = createDotReader()
  let content = ''
  for (const [i, piece] of pieces.entries()) {
    const taken = reader.take(Buffer.from(piece, 'latin1'))
    content += Buffer.from(taken.content).toString('latin1')
    if (taken.endAt !== undefined)
      return { content, rest: piece.slice(taken.endAt) + pieces.slice(i + 1).join('') }
  }
  return { content, rest: undefined }
}

const CASES: [input: string, content: string, rest: string | undefined][] = [
  ['hi\r\n.\r\n', 'hi\r\n', ''],
  ['.\r\n', '', ''],
  ['hi\r\n.\r\nQUIT\r\n', 'hi\r\n', 'QUIT\r\n'],
  ['..\r\n.\r\n', '.\r\n', ''],
  ['...\r\n.\r\n', '..\r\n', ''],
  ['a\r\n..b\r\n...c\r\n.\r\n', 'a\r\n.b\r\n..c\r\n', ''],
  ['a.\r\n.b\r\n.\r\n', 'a.\r\n.b\r\n', ''],
  ['a\r\n\r\n.\r\n', 'a\r\n\r\n', ''],
  ['a\r\n..\r\n.\r\n', 'a\r\n.\r\n', ''],
  ['a\n.\nb\r\n.\r\n', 'a\n.\nb\r\n', ''],
  ['a\n.\r\nb\r\n.\r\n', 'a\n.\r\nb\r\n', ''],
  ['a\r\n.\nb\r\n.\r\n', 'a\r\n.\nb\r\n', ''],
  ['a\r.\rb\r\n.\r\n', 'a\r.\rb\r\n', ''],
  ['a\r.\r\nb\r\n.\r\n', 'a\r.\r\nb\r\n', ''],
  ['a\r\n.\rb\r\n.\r\n', 'a\r\n.\rb\r\n', ''],
  ['a\r\n.\r\r\n.\r\n', 'a\r\n.\r\r\n', ''],
  ['a\r\n.\0\r\n.\r\n', 'a\r\n.\0\r\n', ''],
  ['a\r\n\0.\r\n.\r\n', 'a\r\n\0.\r\n', ''],
  ['a\n..\nb\r\n.\r\n', 'a\n.\nb\r\n', ''],
  ['a\r\n.', 'a\r\n', undefined],
  ['a\r\n.\r', 'a\r\n', undefined],
  ['no end', 'no end', undefined],
  ['', '', undefined],
]

for (const [input, content, rest] of CASES)
  test(`dot reader: ${JSON.stringify(input)} gives the same result at every chunk boundary`, () => {
    assert.equal(read([input]), { content, rest })
    assert.equal(read([...input]), { content, rest })
    for (let first = 0; first <= input.length; first++)
      for (let second = first; second <= input.length; second++) {
        const pieces = [input.slice(0, first), input.slice(first, second), input.slice(second)]
        assert.equal(read(pieces), { content, rest }, JSON.stringify(pieces))
      }
  })

test('dot reader: dot stuffing is undone at every chunk boundary', () => {
  const lines = ['.', '..', '', 'a', '.a', 'a.', '...', '. ', '.\t.', 'x'.repeat(50)]
  const message = [...lines, ...lines.toReversed()].map(line => `${line}\r\n`).join('')
  const wire = `${message.replace(/^\./gm, '..')}.\r\n`
  for (let cut = 0; cut <= wire.length; cut++)
    assert.equal(read([wire.slice(0, cut), wire.slice(cut)]), { content: message, rest: '' })
})

test('dot reader: one megabyte of dotted lines gives one output chunk per input chunk', () => {
  const reader = createDotReader()
  const piece = Buffer.from('..\r\n'.repeat(16_384))
  let size = 0
  for (let i = 0; i < 16; i++) {
    const { content, endAt } = reader.take(piece)
    size += content.length
    assert.is(endAt, undefined)
  }
  assert.is(size, 16 * 16_384 * 3)
})

test.run()
