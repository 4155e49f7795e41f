import * as assert from 'uvu/assert'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { unflowed } from '../../../../../src/protocols/mime/read/text.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/read-mail')

const TEXTS_LENGTH_MAX = 2_000_000
const TEXT_FAULT = 'The text is longer than 2,000,000 characters; the rest was cut'
const read = (text: string) => readMail(Buffer.from(text.replace(/\n/g, '\r\n')))
const mixed = (...parts: string[]) =>
  `Content-Type: multipart/mixed; boundary=b\n\n${parts.map(part => `--b\n${part}\n`).join('')}--b--\n`
const plain = (text: string) => `Content-Type: text/plain; charset=utf-8\n\n${text}`
const html = (text: string) => `Content-Type: text/html; charset=utf-8\n\n${text}`

test('the limit holds for all texts of a message together', () => {
  const { text, html: page, faults } = read(mixed(plain('a'.repeat(1_500_000)), html('b'.repeat(1_500_000))))
  assert.is(text!.length, 1_500_000)
  assert.ok(page!.length > 499_000 && text!.length + page!.length <= TEXTS_LENGTH_MAX)
  assert.equal(faults, [TEXT_FAULT])
})

test('a text behind the limit is left out, and an empty one is no reason to say so', () => {
  const full = plain('a'.repeat(TEXTS_LENGTH_MAX))
  assert.equal(read(full).faults, [])
  const { text, html: page, faults } = read(mixed(full, html('<p>'), plain('more')))
  assert.is(text!.length, TEXTS_LENGTH_MAX)
  assert.is(page, null)
  assert.equal(faults, [TEXT_FAULT])
})

for (const [name, encoding] of [
  ['as it is', '8bit'],
  ['in base64', 'base64'],
] as const)
  test(`UTF-8 that is cut within a character is still read as UTF-8, ${name}`, () => {
    for (let shift = 0; shift < 4; shift++) {
      const body = Buffer.from(`${'x'.repeat(shift)}${'😀'.repeat(2_100_000)}`)
      const octets = encoding === 'base64' ? body.toString('base64') : body.toString('latin1')
      const head = `Content-Type: text/plain\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`
      const { text, faults } = readMail(Buffer.from(head + octets, 'latin1'))
      assert.equal(faults, [TEXT_FAULT])
      assert.ok(text!.slice(shift).startsWith('😀😀') && !text!.includes('Ã'))
    }
  })

test('a line end that two pieces of a text share is one', () => {
  const text = `${'a'.repeat(65_535)}\n`.repeat(3)
  assert.ok(read(`\n${text}`).text === text)
  const shifted = `b${text}`
  assert.ok(read(`\n${shifted}`).text === shifted)
})

/** A naive reading of RFC 3676 §4, line by line. */
function unflowedNaively(text: string, joins: boolean): string {
  const lines: string[] = []
  let open: { depth: number; text: string } | undefined
  const flush = () => {
    if (open) lines.push(open.depth === 0 ? open.text : `${'>'.repeat(open.depth)} ${open.text}`)
    open = undefined
  }
  for (const line of text.split('\n')) {
    const depth = /^>*/.exec(line)![0].length
    const message = line.slice(depth).replace(/^ /, '')
    if (open && (open.depth !== depth || message === '-- ')) flush()
    const flows = message.endsWith(' ') && message !== '-- '
    open = { depth, text: (open?.text ?? '') + (flows && joins ? message.slice(0, -1) : message) }
    if (!flows) flush()
  }
  flush()
  return lines.join('\n')
}

test('flowed lines are joined as a naive reader joins them', () => {
  const token = fc.constantFrom('\n', '\n', '>', '>>', ' ', '-- ', '-- \n', 'a', 'a \n', '> a \n', '€', ' ')
  fc.assert(
    fc.property(
      fc.array(token, { maxLength: 25 }).map(list => list.join('')),
      fc.boolean(),
      (text, joins) => assert.is(unflowed(text, joins), unflowedNaively(text, joins)),
    ),
    { numRuns: 3_000 },
  )
})

test('an address behind any number of blanks is found with its name', () => {
  for (const blanks of [1, 2, 20_000]) {
    const { from } = read(
      `From: Ann${' '.repeat(blanks)}ann${' '.repeat(blanks)}@${' '.repeat(blanks)}there.example\n\nx`,
    )
    assert.equal(from, [{ name: 'Ann', address: 'ann@there.example' }])
  }
})

test('a head of any length ends where it ends, and a part behind it is found', () => {
  const long = `X-A: ${'a'.repeat(100)}\n`.repeat(5_000)
  const { text, parts, faults, headers } = read(
    `Subject: x\n${long}${mixed(`${long}\ntext`, 'Content-Type: a/b; name=c\n\nfile')}`.replace(
      'Content-Type: multipart',
      'X-Last: 1\nContent-Type: multipart',
    ),
  )
  // Its type stands behind what is told of the head: the body is its text.
  assert.equal([headers.length, parts.length], [1_000, 0])
  assert.ok(text!.startsWith('--b'))
  assert.equal(faults, ['The header is too large: only its first 1,000 fields and 256 KB were read'])
  const inner = read(mixed(`${long}\ntext`, 'Content-Type: a/b; name=c\n\nfile'))
  assert.equal([inner.text, inner.parts[0]!.filename], ['text', 'c'])
  assert.equal(inner.faults, [
    'The header of a part is too large: only its first 1,000 fields and 256 KB were read',
  ])
})

test.run()
