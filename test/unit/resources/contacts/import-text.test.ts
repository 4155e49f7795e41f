import * as assert from 'uvu/assert'
import { ImportFault } from '../../../../src/resources/contacts/import/fault.ts'
import { readRecords } from '../../../../src/resources/contacts/import/records.ts'
import { openText } from '../../../../src/resources/contacts/import/text.ts'
import { countHandledBytes } from '../../../kit/copied-bytes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts: the beginning of an import')

async function* cut(text: string | Buffer, size: number) {
  const bytes = Buffer.from(text as string)
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size))
}

const TEXT_CHARACTERS = 60_000
const FILE = 'email;name\nann@there.example;Ann\n'

for (const [what, text] of Object.entries({
  'blanks before the header': ' '.repeat(TEXT_CHARACTERS) + FILE,
  'lines of separators before the header': ',;|\n'.repeat(TEXT_CHARACTERS / 4) + FILE,
  'a long header': `email;${'name;'.repeat(TEXT_CHARACTERS / 5)}x\nann@there.example\n`,
  'a long header in UTF-16': Buffer.from(`\ufeffemail;${'name;'.repeat(TEXT_CHARACTERS / 10)}x\n`, 'utf16le'),
}))
  for (const size of [1, 3, 64])
    test(`${what}, in pieces of ${size}: each byte is handled a few times`, async t => {
      const handled = countHandledBytes(t)
      const { delimiter } = await openText(cut(text, size), undefined)
      const bytes = handled()
      assert.is(delimiter, ';')
      assert.ok(bytes < 12 * TEXT_CHARACTERS, `${bytes} bytes were handled`)
    })

for (const [what, text] of [
  ['a header without a line break', 'x'.repeat(640 * 1024)],
  ['blanks before the header', ' '.repeat(640 * 1024)],
] as const)
  test(`ten times the bytes that ${what} may have: the delimiter is looked for in 64 KB`, async () => {
    let readBytes = 0
    async function* source() {
      for await (const piece of cut(text, 1_024)) {
        readBytes += piece.length
        yield piece
      }
    }
    await openText(source(), undefined)
    assert.ok(readBytes < 70_000, `${readBytes} bytes were read`)
  })

for (const [what, text] of [
  ['a line without an end', `email\nann@there.example,${'x'.repeat(2_560 * 1024)}`],
  ['a quoted cell without an end', `email\n"${'x\n'.repeat(1_280 * 1024)}`],
] as const)
  test(`ten times the longest row, as ${what}: the file is refused after 256 KB`, async () => {
    let readBytes = 0
    async function* source() {
      for await (const piece of cut(text, 4_096)) {
        readBytes += piece.length
        yield piece
      }
    }
    let fault: unknown
    try {
      await Array.fromAsync(readRecords(await openText(source(), undefined)))
    } catch (error) {
      fault = error
    }
    assert.instance(fault, ImportFault)
    assert.ok(readBytes < 300_000, `${readBytes} bytes were read`)
  })

for (const [what, text, delimiter] of [
  ['a byte order mark', '\ufeffemail;name\n', ';'],
  ['a byte order mark and a blank line', '\ufeff\r\nemail;name\n', ';'],
  ['lines of separators', ',,,\n;;\nemail|name\n', '|'],
  ['quoted blanks', '" ","\t"\nemail\tname\n', '\t'],
  ['no line break', 'email;name', ';'],
  ['a line that names the separator', 'sep=;\nemail,x;name,y\n', ';'],
] as const)
  for (const size of [1, 1_000])
    test(`${what}, in pieces of ${size}: the delimiter is found`, async () => {
      const opened = await openText(cut(text, size), undefined)
      assert.is(opened.delimiter, delimiter)
      const rest = Buffer.concat(await Array.fromAsync(opened.bytes)).toString()
      assert.ok(text.endsWith(rest.trimStart()))
    })

const UTF16LE = Buffer.from(`\ufeff${FILE}`, 'utf16le')
for (const [what, bytes, charset] of [
  ['UTF-16 with its low bytes first', UTF16LE, undefined],
  ['UTF-16 with its high bytes first', Buffer.from(UTF16LE).swap16(), undefined],
  ['UTF-16 that is said to be UTF-8', UTF16LE, 'utf-8'],
  ['UTF-16 whose high bytes are first, said to be Latin-1', Buffer.from(UTF16LE).swap16(), 'iso-8859-1'],
  ['UTF-16 without a byte order mark, said to be that', UTF16LE.subarray(2), 'utf-16le'],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${FILE}`), undefined],
  ['UTF-8 that is said to be nothing', Buffer.from(FILE), undefined],
] as const)
  for (const size of [1, 1_000])
    test(`${what}, in pieces of ${size}: the file is read`, async () => {
      const { delimiter, bytes: opened } = await openText(cut(bytes, size), charset)
      assert.is(delimiter, ';')
      const text = Buffer.concat(await Array.fromAsync(opened)).toString()
      assert.is(text.replace(/^\ufeff/, ''), FILE)
    })

test.run()
