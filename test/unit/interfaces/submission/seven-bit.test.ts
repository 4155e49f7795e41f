import { isAscii } from 'node:buffer'
import { createRequire } from 'node:module'
import * as assert from 'uvu/assert'
import { inSevenBits } from '../../../../src/interfaces/submission/seven-bit.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/seven-bit')
const { simpleParser } = createRequire(import.meta.url)('mailparser') as {
  simpleParser(message: Buffer): Promise<{
    text?: string
    html?: string | false
    attachments: { contentType: string; content: Buffer }[]
  }>
}

const wire = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text.replace(/\n/g, '\r\n'), encoding)
const converted = (text: string, encoding?: BufferEncoding) =>
  inSevenBits(wire(text, encoding)).toString('latin1').replace(/\r\n/g, '\n')

test('a message of 7 bits stays as it is, whatever it declares', () => {
  const message = wire('MIME-Version: 1.0\nContent-Transfer-Encoding: 8bit\n\nhi = there\n')
  assert.is(inSevenBits(message), message)
})

for (const [what, text, expected] of [
  [
    'UTF-8 without MIME fields is declared',
    'Subject: x\n\nMany greetings, Grüße\n',
    'Subject: x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\nMIME-Version: 1.0\n\nMany greetings, Gr=C3=BC=C3=9Fe\n',
  ],
  [
    'a text without a charset gets one',
    'MIME-Version: 1.0\nContent-Type: text/html;\n\n<p>Grüße\n',
    'MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<p>Gr=C3=BC=C3=9Fe\n',
  ],
  [
    'a text of 8 bits that declares ASCII is in UTF-8',
    'MIME-Version: 1.0\nContent-Type: text/plain; charset="us-ascii"; format=flowed\n\nMany greetings, Grüße\n',
    'MIME-Version: 1.0\nContent-Type: text/plain; format=flowed; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nMany greetings, Gr=C3=BC=C3=9Fe\n',
  ],
  [
    'a declared encoding is replaced in any spelling',
    'MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\ncontent-transfer-ENCODING: 8BIT\n\né\n',
    'MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n=C3=A9\n',
  ],
  [
    'a text mostly beyond ASCII is in base64',
    'MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n日本語日本語\n',
    'MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n5pel5pys6Kqe5pel5pys6KqeDQo=\n',
  ],
  [
    'parts are converted, and the multipart is in 7 bits',
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: 8bit\n\npré\n--b\n\nplain ä\n--b\nContent-Type: application/x; name="ü"\n\nö\n--b--\népi\n',
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\nContent-Transfer-Encoding: 7bit\n\npr??\n--b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nplain =C3=A4\n--b\nContent-Type: application/x; name="=?UTF-8?B?w7w=?="\nContent-Transfer-Encoding: base64\n\nw7Y=\n--b--\n??pi\n',
  ],
  [
    'an enclosed message is converted inside',
    'MIME-Version: 1.0\nContent-Type: message/rfc822\nContent-Transfer-Encoding: 8bit\n\nSubject: simple é\n\nplain ä\n',
    'MIME-Version: 1.0\nContent-Type: message/rfc822\nContent-Transfer-Encoding: 7bit\n\nSubject: simple =?UTF-8?B?w6k=?=\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\nMIME-Version: 1.0\n\nplain =C3=A4\n',
  ],
  [
    'octets of 8 bits in base64 are left out, as readers do',
    'MIME-Version: 1.0\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\naGk=é\n',
    'MIME-Version: 1.0\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\naGk=\n',
  ],
] as const)
  test(`conversion: ${what}`, () => assert.is(converted(text), expected))

test('conversion: a text that is not UTF-8 is in an unknown charset, unless it has a type', () => {
  const ascii = converted('Content-Type: text/plain; charset=ascii\n\ncaf\xe9\n', 'latin1')
  assert.match(ascii, 'Content-Type: text/plain; charset=unknown-8bit\n')
  assert.match(converted('A: b\n\ncaf\xe9\n', 'latin1'), 'Content-Type: text/plain; charset=unknown-8bit\n')
  const typed = converted('Content-Type: text/plain\n\ncaf\xe9\n', 'latin1')
  assert.match(typed, /^Content-Type: text\/plain\n(?:.+\n)*\ncaf=E9\n$/)
})

for (const [what, text] of [
  [
    'multipart/signed',
    'MIME-Version: 1.0\nContent-Type: multipart/signed; boundary=b\n\n--b\nContent-Type: text/plain; name="ü"\n\nä\n--b\n\ns\n--b--\n',
  ],
  [
    'what is nested in multipart/encrypted',
    'MIME-Version: 1.0\nContent-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: multipart/mixed; boundary=c\n\nü\n--c\n\nä\n--c--\n--b--\n',
  ],
  ['a multipart without its boundary', 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\nä\n'],
  ['message/partial', 'MIME-Version: 1.0\nContent-Type: message/partial; id=1; number=1\n\nä\n'],
  [
    'message/partial with a blank before its parameters',
    'MIME-Version: 1.0\nContent-Type: message/partial ; id=1; number=1\n\nä\n',
  ],
] as const)
  test(`conversion: ${what} stays as it is`, () => assert.is(inSevenBits(wire(text)).compare(wire(text)), 0))

test('conversion: beside a signed part the others are converted', () => {
  const text =
    'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=a\nContent-Transfer-Encoding: 8bit\n\n--a\nContent-Type: multipart/signed; boundary=b\n\n--b\n\nä\n--b--\n--a\n\nplain ö\n--a--\n'
  const out = converted(text)
  assert.match(out, 'Content-Transfer-Encoding: 8bit\n')
  assert.match(out, '--b\n\n\xc3\xa4\n--b--\n')
  assert.match(out, '=C3=B6\n--a--\n')
})

test('conversion: no line of an encoded text becomes a boundary', async () => {
  const text = `${'x'.repeat(75)}--b\n${'x'.repeat(74)}é--b--\nend\n`
  const out = inSevenBits(
    wire(
      `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Disposition: attachment\n\n${text}--b--\n`,
    ),
  )
  const { attachments } = await simpleParser(out)
  assert.equal(
    attachments.map(({ content }) => content.toString()),
    [text.replace(/\n$/, '').replace(/\n/g, '\r\n')],
  )
})

test('conversion: messages enclosed more than eight levels deep stay, and cost no more', () => {
  const nested = `${'Content-Type: message/rfc822\n\n'.repeat(500)}Subject: x\n\nä\n`
  assert.match(converted(nested), '\xc3\xa4')
})

test('conversion: the message ends in CRLF', () => {
  for (const type of ['text/plain', 'application/octet-stream'])
    assert.match(converted(`MIME-Version: 1.0\nContent-Type: ${type}\n\näöüäöü\n`), /\n$/)
})

type Part = { type: string; encoding: string; content: Buffer } | { parts: Part[] } | { enclosed: Part }

const line = fc.oneof(
  fc.constantFrom(
    '',
    '--',
    '--b',
    '-- ',
    '.',
    'From here',
    'a='.repeat(40),
    '\t',
    'é'.repeat(60),
    'x'.repeat(90),
  ),
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ maxLength: 100 }),
)
const content = fc
  .array(line, { maxLength: 6 })
  .map(lines => Buffer.from(lines.map(text => text.replace(/[\0\r\n]/g, ' ')).join('\r\n')))
const leafPart = fc.record({
  type: fc.constantFrom('text/plain', 'text/html', 'text/csv; charset=utf-8', 'application/pdf', 'image/png'),
  encoding: fc.constantFrom('', '7bit', '8bit', 'binary'),
  content,
})
const { part } = fc.letrec<{ part: Part }>(tie => ({
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leafPart,
    fc.record({ parts: fc.array(tie('part'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ enclosed: tie('part') }),
  ) as fc.Arbitrary<Part>,
}))

const RUNS = 200
let boundaryCount = 0
function entity(one: Part): Buffer {
  if ('parts' in one) {
    const boundary = `b${boundaryCount++}`
    const pieces = one.parts.flatMap(inner => [Buffer.from(`\r\n--${boundary}\r\n`), entity(inner)])
    const head = `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\nénd`
    return Buffer.concat([Buffer.from(head), ...pieces, Buffer.from(`\r\n--${boundary}--\r\n`)])
  }
  if ('enclosed' in one) {
    const head =
      'Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\nSubject: é\r\nMIME-Version: 1.0\r\n'
    return Buffer.concat([Buffer.from(head), entity(one.enclosed)])
  }
  const encoding = one.encoding === '' ? '' : `Content-Transfer-Encoding: ${one.encoding}\r\n`
  const head = `Content-Type: ${one.type}\r\nContent-Disposition: attachment; filename="ä"\r\n${encoding}\r\n`
  return Buffer.concat([Buffer.from(head), one.content])
}

function contentsOf(one: Part): Buffer[] {
  if ('parts' in one) return one.parts.flatMap(contentsOf)
  return 'enclosed' in one ? contentsOf(one.enclosed) : [one.content]
}

async function contentsIn(message: Buffer): Promise<Buffer[]> {
  const { attachments } = await simpleParser(message)
  const contents: Buffer[] = []
  for (const { contentType, content } of attachments)
    contents.push(...(contentType === 'message/rfc822' ? await contentsIn(content) : [content]))
  return contents
}

test('conversion: another reader finds the same octets in every part', async () => {
  let wholeCount = 0
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), async parts => {
      const root = { parts }
      const message = Buffer.concat([Buffer.from('From: a@b.example\r\nMIME-Version: 1.0\r\n'), entity(root)])
      const out = inSevenBits(message)
      assert.ok(isAscii(out))
      const found = (await contentsIn(out)).map(String)
      assert.equal(found, (await contentsIn(message)).map(String))
      if (found.join() === contentsOf(root).join()) wholeCount += 1
    }),
    { numRuns: RUNS, seed: Number(process.env.TEST_SEED ?? 20_261_125) },
  )
  // That reader does not find the parts of every message, converted or not.
  assert.ok(wholeCount > RUNS / 2, `${wholeCount} messages were read as they were made`)
})

test.run()
