import * as assert from 'uvu/assert'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { decodeBytes } from '../../../../../src/protocols/mime/read/transfer.ts'
import { assertLinear } from '../../../../kit/linear.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/uuencoded blocks in a text')
const HEAD = 'From: Ann <ann@there.example>\nSubject: files\n'
/** "Hello, world" and a byte of 255, and nothing. */
const HELLO = "begin 644 hello.txt\n-2&5L;&\\L('=O<FQD_P  \n`\nend\n"
const SECOND = 'begin 600 Größe 2.csv\n#0V%T\n \nend\n'

function read(body: string, head = HEAD) {
  const bytes = Buffer.from(`${head}\n${body}`)
  const { text, parts } = readMail(bytes)
  const files = parts.map(({ filename, contentType, start, end, encoding, sizeBytes }) => {
    const content = decodeBytes(bytes.subarray(start, end), encoding)
    assert.is(content.length, sizeBytes)
    return [filename, contentType, content.toString('latin1')]
  })
  return { text: text?.trim() ?? null, files }
}

for (const [what, body, text, files] of [
  ['a block behind words', `Hi\n\n${HELLO}`, 'Hi', [['hello.txt', 'text/plain', 'Hello, world\xff']]],
  ['a block alone', HELLO, '', [['hello.txt', 'text/plain', 'Hello, world\xff']]],
  [
    'two blocks between words',
    `One\n${HELLO}Two\n${SECOND}Three\n`,
    'One\n\nTwo\n\nThree',
    [
      ['hello.txt', 'text/plain', 'Hello, world\xff'],
      ['Größe 2.csv', 'text/csv', 'Cat'],
    ],
  ],
  [
    'line ends of CRLF, and trailing blanks that were removed',
    `Hi\r\n${HELLO.replace('_P  \n', '_P\n').replaceAll('\n', '\r\n')}Bye\r\n`,
    'Hi\n\nBye',
    [['hello.txt', 'text/plain', 'Hello, world\xff']],
  ],
  [
    'a folder in the name',
    HELLO.replace('hello', '../../etc/hello'),
    '',
    [['hello.txt', 'text/plain', 'Hello, world\xff']],
  ],
] as const)
  test(`${what} is a file, and the rest is the text`, () => {
    const seen = read(body)
    assert.equal(seen.text?.replaceAll('\r\n', '\n'), text)
    assert.equal(seen.files, files)
  })

for (const [what, body] of [
  ['without its end', HELLO.replace('end\n', '')],
  ['with a line of text inside', HELLO.replace('`\n', 'and so on\n')],
  ['without octets', 'begin 644 nothing.txt\n`\nend\n'],
  ['with a mode that is none', HELLO.replace('644', '6a4')],
  ['without a name', HELLO.replace(' hello.txt', '')],
  ['of words that only begin alike', 'begin 2024 with a plan\nIT HAS\nend\n'],
] as const)
  test(`a block ${what} stays text`, () => {
    assert.equal(read(`Hi\n${body}`), { text: `Hi\n${body}`.trim(), files: [] })
  })

test('a quoted-printable text and an HTML text are not searched', () => {
  for (const type of [
    'Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\n',
    'Content-Type: text/html\n',
  ])
    assert.equal(read(HELLO, HEAD + type).files, [])
})

test('many beginnings without an end take linear time, and at most 100 files are found', () => {
  assert.is(read('begin 644 a\n#0V%T\n'.repeat(1_000)).files.length, 0)
  assertLinear('begin', count => read('begin 644 a\n#0V%T\n'.repeat(count)), 25_000)
  assert.is(read(SECOND.repeat(150)).files.length, 100)
})

test.run()
