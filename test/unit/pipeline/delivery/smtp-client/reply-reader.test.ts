import * as assert from 'uvu/assert'
import { type RawReply, ReplyReader } from '../../../../../src/pipeline/delivery/smtp-client/reply-reader.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('reply reader')

function read(...chunks: (string | Buffer)[]) {
  const reader = new ReplyReader()
  const replies: RawReply[] = []
  for (const chunk of chunks) {
    const fault = reader.feed(Buffer.from(chunk as string), reply => replies.push(reply) > 0)
    if (fault !== undefined) return { replies, fault }
  }
  return { replies }
}

test('single-line and multi-line replies are read', () => {
  assert.equal(read('250 ok\r\n250-a\r\n250-b\r\n250 c\r\n354\r\n'), {
    replies: [
      { code: 250, lines: ['ok'] },
      { code: 250, lines: ['a', 'b', 'c'] },
      { code: 354, lines: [''] },
    ],
  })
})

test('a reply is complete with its last line', () => {
  assert.equal(read('250-a\r\n250 b').replies, [])
  assert.equal(read('250-a\r\n250 b\r').replies, [])
  assert.equal(read('250-a\r\n250 b\r', '\n').replies, [{ code: 250, lines: ['a', 'b'] }])
})

test('a bare LF ends a line, and invalid UTF-8 is accepted', () => {
  assert.equal(read('250 ok\n').replies, [{ code: 250, lines: ['ok'] }])
  assert.equal(read(Buffer.from('250 caf\xe9\r\n', 'latin1')).replies, [{ code: 250, lines: ['caf\ufffd'] }])
})

for (const [what, text] of [
  ['a million empty lines', '250-\r\n'.repeat(1_000_000).slice(0, 700_000)],
  [
    '100,000 keywords',
    Array.from({ length: 100_000 }, (_, i) => `250-X${i}\r\n`)
      .join('')
      .slice(0, 700_000),
  ],
  ['a line without an end', `250 ${'x'.repeat(700_000)}`],
] as const)
  test(`a reply of ${what}, byte by byte, is refused after 64 KiB, and little of it is kept`, () => {
    const reader = new ReplyReader()
    const bytes = Buffer.from(text)
    let fed = 0
    let fault: string | undefined
    while (fault === undefined && fed < bytes.length)
      fault = reader.feed(bytes.subarray(fed, ++fed), () => false)
    assert.match(fault!, /longer than 65536 bytes/)
    assert.is(fed, 65_537)
  })

test('the same replies are read however the stream is split', () => {
  const line = fc.stringMatching(/^[ -~é]{0,30}$/)
  const reply = fc.record(
    {
      code: fc.integer({ min: 200, max: 599 }),
      lines: fc.array(line, { minLength: 1, maxLength: 5 }),
    },
    { noNullPrototype: true },
  )
  const cuts = fc.array(fc.nat(40), { maxLength: 30 })
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 5 }), cuts, (replies, lengths) => {
      const stream = Buffer.from(replies.map(onTheLine).join(''))
      const chunks: Buffer[] = []
      let at = 0
      for (const length of lengths) {
        chunks.push(stream.subarray(at, at + length))
        at += length
      }
      chunks.push(stream.subarray(at))
      assert.equal(read(...chunks), { replies })
      assert.equal(read(...[...stream].map(byte => Buffer.of(byte))), { replies })
    }),
  )
})

test('the rest of a chunk is dropped on request', () => {
  const reader = new ReplyReader()
  const replies: RawReply[] = []
  const take = (reply: RawReply) => {
    replies.push(reply)
    return false
  }
  assert.is(reader.feed(Buffer.from('220 go\r\n250 injected\r\nnonsense'), take), undefined)
  assert.is(reader.feed(Buffer.from('250 next\r\n'), take), undefined)
  assert.equal(
    replies.map(({ lines }) => lines[0]),
    ['go', 'next'],
  )
})

for (const [what, stream, fault] of [
  ['garbage', 'HTTP/1.1 400 Bad Request\r\n', 'not a reply: "HTTP/1.1 400 Bad Request"'],
  ['an empty line', '\r\n', 'not a reply: ""'],
  ['another code on a later line', '250-a\r\n550 b\r\n', 'a reply that begins with 250 and goes on with 550'],
  ['more than 64 KiB in lines', `250-${'x'.repeat(1000)}\r\n`.repeat(80), 'a reply longer than 65536 bytes'],
  ['more than 64 KiB without a line end', '2'.repeat(70_000), 'a reply longer than 65536 bytes'],
] as const)
  test(`${what} cannot be read on from`, () => {
    assert.is(read(stream).fault, fault)
    assert.is(read(...stream.match(/[\s\S]{1,7}/g)!).fault, fault)
  })

test('the first 100 lines are kept, and all lines must have the same code', () => {
  const { replies, fault } = read(`${'250-x\r\n'.repeat(3_000)}250 ok\r\n`)
  assert.is(fault, undefined)
  assert.equal([replies[0]!.code, replies[0]!.lines.length], [250, 100])
})

test('replies before a fault are delivered', () => {
  assert.equal(read('250 ok\r\nrubbish\r\n'), {
    replies: [{ code: 250, lines: ['ok'] }],
    fault: 'not a reply: "rubbish"',
  })
})

test('2048 bytes of a line are kept, and the next line is not affected', () => {
  const stream = `250-${'x'.repeat(5000)}\r\n250 end\r\n`
  for (const chunks of [[stream], stream.match(/[\s\S]{1,11}/g)!])
    assert.equal(read(...chunks).replies, [{ code: 250, lines: ['x'.repeat(2044), 'end'] }])
})

test('limits apply to each reply separately', () => {
  assert.is(
    read(...Array.from({ length: 200 }, () => `250-${'x'.repeat(1000)}\r\n250 ok\r\n`)).replies.length,
    200,
  )
})

function onTheLine({ code, lines }: RawReply): string {
  return lines.map((text, i) => `${code}${i < lines.length - 1 ? '-' : ' '}${text}\r\n`).join('')
}

test.run()
