import * as assert from 'uvu/assert'
import {
  withShortFieldLines,
  withShortLines,
  withWholeLines,
} from '../../../../src/interfaces/submission/lines.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/lines')

const broken = (text: string) => withShortLines(Buffer.from(text)).toString().split('\r\n')

test('lines that may be so long stay as they are', () => {
  const body = Buffer.from(`${'x'.repeat(998)}\r\nshort\r\n`)
  assert.is(withShortLines(body), body)
})

test('a longer one is broken as often as it needs, and goes on with a blank', () => {
  const lines = broken(`a\r\n${'x'.repeat(3_000)}\r\nb\r\n`)
  assert.equal(
    lines.map(line => line.length),
    [1, 998, 998, 998, 9, 1, 0],
  )
  assert.is(lines.slice(1, 5).join('').replaceAll(' ', ''), 'x'.repeat(3_000))
})

test('it is broken behind a blank where there is one', () => {
  const [first, second] = broken(`${'x'.repeat(900)} ${'y'.repeat(300)}\r\n`)
  assert.equal([first, second], [`${'x'.repeat(900)} `, ` ${'y'.repeat(300)}`])
})

test('octets of one character stay together', () => {
  for (let shift = 0; shift < 4; shift++) {
    const text = 'x'.repeat(shift) + '😀é€'.repeat(500)
    const lines = broken(`${text}\r\n`)
    assert.is(lines.map((line, i) => (i === 0 ? line : line.slice(1))).join(''), text)
    assert.ok(lines.every(line => Buffer.byteLength(line) <= 998))
  }
})

/** A naive reading of the rules, by text. */
function brokenNaively(line: string): string {
  const pieces: string[] = []
  let rest = line
  while (rest.length > 998) {
    const blank = rest.lastIndexOf(' ', 997)
    let at = blank > 798 ? blank + 1 : 998
    while (blank <= 798 && at > 994 && (rest.charCodeAt(at) & 0xc0) === 0x80) at -= 1
    pieces.push(rest.slice(0, at))
    rest = ` ${rest.slice(at)}`
  }
  return [...pieces, rest].join('\r\n')
}

const piece = fc.oneof(
  fc.constantFrom('\r\n', '\r', '\n', ' ', 'a b ', '\xff', '\x80'),
  fc.nat(1_300).map(length => 'x'.repeat(length)),
  fc.nat(400).map(length => ' '.repeat(length)),
  fc.nat(300).map(length => Buffer.from('é😀€'.repeat(length)).toString('latin1')),
  fc.integer({ min: 990, max: 1_002 }).map(length => 'y'.repeat(length)),
)
const message = fc.array(piece, { maxLength: 12 }).map(list => list.join(''))

test('whatever its line ends and lines are, a message gets those that the rules ask for', () => {
  fc.assert(
    fc.property(message, text => {
      const whole = withWholeLines(Buffer.from(text, 'latin1')).toString('latin1')
      const mended = text.replace(/\r\n|\r|\n/g, '\r\n')
      assert.ok(whole === (mended.endsWith('\r\n') ? mended : `${mended}\r\n`))
      const short = withShortLines(Buffer.from(whole, 'latin1')).toString('latin1')
      assert.ok(short === whole.split('\r\n').map(brokenNaively).join('\r\n'))
    }),
    { numRuns: 500 },
  )
})

const wire = (value: string) => `To: ${withShortFieldLines({ name: 'To', value }).value}`.split('\r\n')
const addresses = Array.from({ length: 60 }, (_, i) => `"Reader ${i}" <réader${i}@there.example>`).join(', ')

test('a field with lines that are too long is folded before blanks, and says the same', () => {
  const lines = wire(addresses)
  assert.is(lines.join(''), `To: ${addresses}`)
  assert.ok(lines.length > 1 && lines.every(line => Buffer.byteLength(line) <= 998 && line.trim() !== ''))
})

test('lines of a field that are short enough stay as they are', () => {
  const value = `${'a '.repeat(450)}b\r\n ${'c '.repeat(450)}d`
  assert.is(withShortFieldLines({ name: 'To', value }).value, value)
})

for (const value of ['x'.repeat(1_500), `${' '.repeat(1_200)}x`, `x${' '.repeat(1_200)}`])
  test(`a line is left long where it can only be so: ${value.length} octets with ${value.trim().length} in one`, () => {
    assert.is(withShortFieldLines({ name: 'To', value }).value, value)
  })

test('a word too long for a line has one to itself', () => {
  const lines = wire(`a ${'x'.repeat(1_500)} b`)
  assert.equal(lines, ['To: a', ` ${'x'.repeat(1_500)}`, ' b'])
})

test.run()
