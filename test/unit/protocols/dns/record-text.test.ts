import * as assert from 'uvu/assert'
import { parseRecord, RecordFault, recordLine } from '../../../../src/protocols/dns/record-text.ts'
import { suite } from '../../../kit/suite.ts'
import { parseZoneText } from '../../../kit/zone-text.ts'

const test = suite('dns/record-text')
const ORIGIN = 'mailhorn.example'

const LINES: [written: string, listed: string][] = [
  ['www A 192.0.2.1', 'www.mailhorn.example. 3600 IN A 192.0.2.1'],
  ['@ 604800 A 192.0.2.1', 'mailhorn.example. 604800 IN A 192.0.2.1'],
  ['@ 300 AAAA 2001:db8::1', 'mailhorn.example. 300 IN AAAA 2001:db8::1'],
  ['@ IN CAA 0 issue "ca.example"', 'mailhorn.example. 3600 IN CAA 0 issue "ca.example"'],
  ['@ CAA 128 iodef mailto:a@b.example', 'mailhorn.example. 3600 IN CAA 128 iodef "mailto:a@b.example"'],
  ['WWW IN 60 CNAME Web', 'www.mailhorn.example. 60 IN CNAME web.mailhorn.example.'],
  ['www cname there.example.', 'www.mailhorn.example. 3600 IN CNAME there.example.'],
  ['a.b MX 10 mx', 'a.b.mailhorn.example. 3600 IN MX 10 mx.mailhorn.example.'],
  ['none MX 0 .', 'none.mailhorn.example. 3600 IN MX 0 .'],
  ['@ TXT site-verification=abc', 'mailhorn.example. 3600 IN TXT "site-verification=abc"'],
  ['_x TXT "one; two" " three"', '_x.mailhorn.example. 3600 IN TXT "one; two three"'],
  ['@ TXT "a \\"b\\" c\\\\d"', 'mailhorn.example. 3600 IN TXT "a \\"b\\" c\\\\d"'],
  ['@ TXT "300"', 'mailhorn.example. 3600 IN TXT "300"'],
  ['@ TXT "ü"', 'mailhorn.example. 3600 IN TXT "\\195\\188"'],
  ['x.mailhorn.example. A 192.0.2.2', 'x.mailhorn.example. 3600 IN A 192.0.2.2'],
]

for (const [written, listed] of LINES)
  test(`record text: ${written} is written in full`, () =>
    assert.is(recordLine(parseRecord(written, ORIGIN)), listed))

test('record text: a written record can be parsed again', () => {
  for (const [, listed] of LINES.filter(([written]) => !written.includes('ü')))
    assert.is(recordLine(parseRecord(listed.replace(' IN ', ' '), ORIGIN)), listed)
})

test('record text: a long text is written in strings of at most 255 octets', () => {
  const line = recordLine(parseRecord(`@ TXT "${'x'.repeat(600)}"`, ORIGIN))
  assert.equal(
    [...line.matchAll(/"(x+)"/g)].map(([, text]) => text!.length),
    [255, 255, 90],
  )
})

test('record text: every record of a zone is written, including SOA and unknown types', () => {
  const [entry] = parseZoneText('z.example SOA ns.z.example h.z.example 7 1 2 3 4')
  assert.ok(entry && 'record' in entry)
  assert.is(recordLine(entry.record), 'z.example. 60 IN SOA ns.z.example. h.z.example. 7 1 2 3 4')
  const bytes = Uint8Array.of(1, 2, 255)
  assert.is(
    recordLine({ name: ORIGIN, ttlSeconds: 1, type: 'TYPE65', bytes }),
    'mailhorn.example. 1 IN TYPE65 \\# 3 0102ff',
  )
})

const NO_RECORDS: [string, RegExp][] = [
  ['', /name/],
  ['www', /type/],
  ['www A', /1 words/],
  ['www A 192.0.2.1 192.0.2.2', /1 words/],
  ['www A 192.0.2.256', /address/],
  ['www A 2001:db8::1', /address/],
  ['www AAAA 192.0.2.1', /address/],
  ['www SOA a b 1 2 3 4 5', /type/],
  ['www NS a', /type/],
  ['@ MX 65536 mx', /number/],
  ['@ MX ten mx', /number/],
  ['@ CAA 256 issue ca', /number/],
  ['@ CAA 0 is-sue ca', /tag/],
  ['@ TXT', /text/],
  ['@ TXT "open', /quotation/],
  ['a..b A 192.0.2.1', /name/],
  ['* A 192.0.2.1', /name/],
  [`${'x'.repeat(64)} A 192.0.2.1`, /name/],
  ['www 604801 A 192.0.2.1', /number/],
  ['www 99999999 A 192.0.2.1', /number/],
]

for (const [line, complaint] of NO_RECORDS)
  test(`record text: "${line}" is refused`, () => {
    try {
      parseRecord(line, ORIGIN)
      assert.unreachable()
    } catch (error) {
      assert.instance(error, RecordFault)
      assert.match((error as Error).message, complaint)
    }
  })

test.run()
