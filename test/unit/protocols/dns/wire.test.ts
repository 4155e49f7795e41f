import * as assert from 'uvu/assert'
import {
  type DnsRecord,
  FLAG,
  type Message,
  type TypeName,
  typeCode,
  typeName,
} from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage, MalformedMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { encodeMessage, encodeQuestion } from '../../../../src/protocols/dns/wire-encode.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/wire')
const NO_LIMIT = 65_535

function message(change: Partial<Message> = {}): Message {
  const sections = { answers: [], authority: [], additional: [] }
  return {
    id: 0x1234,
    flags: FLAG.QR,
    opcode: 0,
    rcode: 0,
    question: undefined,
    edns: undefined,
    ...sections,
    ...change,
  }
}

function questionOf(name: string, type: TypeName = 'A') {
  return { name: name.toLowerCase(), type, class: 1, bytes: encodeQuestion(name, type) }
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
}

const HEAD = { name: 'there.example', ttlSeconds: 300 }
const RECORDS: DnsRecord[] = [
  { ...HEAD, type: 'A', address: '192.0.2.1' },
  { ...HEAD, type: 'AAAA', address: '2001:db8::1' },
  { ...HEAD, type: 'NS', target: 'ns1.there.example' },
  { ...HEAD, type: 'CNAME', target: 'other.example' },
  { ...HEAD, type: 'PTR', target: 'host.example' },
  { ...HEAD, type: 'MX', preference: 10, exchange: 'mx.there.example' },
  { ...HEAD, type: 'MX', preference: 0, exchange: '' },
  { ...HEAD, type: 'TXT', text: 'v=spf1 -all' },
  { ...HEAD, type: 'TXT', text: '' },
  { ...HEAD, type: 'TXT', text: 'x'.repeat(255) },
  { ...HEAD, type: 'TXT', text: '\x00\xff"\\'.repeat(200) },
  { ...HEAD, type: 'HINFO', cpu: 'RFC8482', os: '' },
  { ...HEAD, type: 'CAA', flags: 128, tag: 'issue', value: 'ca.example; policy=ev' },
  { ...HEAD, type: 'TLSA', bytes: Buffer.from([3, 1, 1, 0xab]) },
  { ...HEAD, type: 'TYPE65280', bytes: Buffer.alloc(0) },
  {
    ...HEAD,
    type: 'SOA',
    primary: 'ns1.there.example',
    contact: 'hostmaster.there.example',
    serial: 4_294_967_295,
    refreshSeconds: 3600,
    retrySeconds: 600,
    expireSeconds: 1_209_600,
    minimumSeconds: 300,
  },
]

for (const record of RECORDS)
  test(`a record survives the wire: ${JSON.stringify(record).slice(0, 80)}`, () => {
    for (const section of ['answers', 'authority', 'additional'] as const) {
      const read = decodeMessage(encodeMessage(message({ [section]: [record, record] }), NO_LIMIT))
      assert.equal(read[section], [record, record])
    }
  })

test('DNS message: a response is encoded octet for octet as in RFC 1035', () => {
  const packet = encodeMessage(
    message({
      flags: FLAG.QR | FLAG.AA | FLAG.RD,
      question: questionOf('mx.a.bc', 'MX'),
      answers: [{ name: 'mx.a.bc', ttlSeconds: 60, type: 'MX', preference: 5, exchange: 'in.a.bc' }],
    }),
    NO_LIMIT,
  )
  const header = '1234 8500 0001 0001 0000 0000'
  const question = '026d78 0161 026263 00 000f 0001'
  const answer = 'c00c 000f 0001 0000003c 0007 0005 02696e c00f'
  assert.is(packet.toString('hex'), bytesOf(`${header} ${question} ${answer}`).toString('hex'))
})

test('DNS message: a text over 255 octets is written as several strings', () => {
  const packet = encodeMessage(
    message({ answers: [{ ...HEAD, type: 'TXT', text: 'k'.repeat(600) }] }),
    NO_LIMIT,
  )
  const data = packet.subarray(-603)
  assert.equal([data[0], data[256], data[512]], [255, 255, 90])
})

test('DNS message: the question is repeated in its case and read in lower case', () => {
  const question = questionOf('ThErE.eXaMpLe', 'TXT')
  const read = decodeMessage(encodeMessage(message({ question }), NO_LIMIT)).question!
  assert.is(read.name, 'there.example')
  assert.ok(Buffer.from(read.bytes).includes('ThErE'))
})

test('DNS message: names are compressed, and keep a letter case of their own', () => {
  const answers: DnsRecord[] = ['a', 'b', 'c'].map(label => ({
    name: `${label}.There.Example`,
    ttlSeconds: 1,
    type: 'A',
    address: '192.0.2.1',
  }))
  const packet = encodeMessage(message({ question: questionOf('there.example'), answers }), NO_LIMIT)
  assert.is(packet.toString('latin1').toLowerCase().split('there').length - 1, 2)
  assert.equal(decodeMessage(packet).answers, answers)
})

test('DNS message: names beyond the pointer range are not compressed', () => {
  const answers: DnsRecord[] = Array.from({ length: 80 }, (_, i) => ({
    name: `n${i}.example`,
    ttlSeconds: 1,
    type: 'TXT',
    text: `${i}`.repeat(150),
  }))
  assert.equal(decodeMessage(encodeMessage(message({ answers }), NO_LIMIT)).answers, answers)
})

test('DNS message: special octets in labels are escaped and survive', () => {
  const packet = bytesOf(`1234 0100 0001 0000 0000 0000 05 61 2e 5c 00 ff 02 6263 00 0001 0001`)
  const { question } = decodeMessage(packet)
  assert.is(question?.name, 'a\\046\\092\\000\\255.bc')
  assert.equal(Buffer.from(encodeQuestion(question!.name, 'A')), packet.subarray(12))
})

test('DNS message: EDNS has payload size, version, DO bit and the upper response code', () => {
  const edns = { payloadBytes: 1232, version: 0, dnssecOk: true }
  const read = decodeMessage(encodeMessage(message({ rcode: 16, edns }), NO_LIMIT))
  assert.equal(read.edns, edns)
  assert.is(read.rcode, 16)
  assert.equal(read.additional, [])
})

test('DNS message: flags, opcode and response code survive', () => {
  for (const flags of [0, FLAG.QR, FLAG.QR | FLAG.AA | FLAG.TC, FLAG.RD | FLAG.CD, FLAG.QR | FLAG.RA])
    for (const [opcode, rcode] of [
      [0, 0],
      [5, 3],
      [15, 15],
    ] as const) {
      const read = decodeMessage(encodeMessage(message({ flags, opcode, rcode }), NO_LIMIT))
      assert.equal([read.flags, read.opcode, read.rcode], [flags, opcode, rcode])
    }
})

test('DNS message: a message that does not fit is truncated to its question', () => {
  const question = questionOf('there.example', 'TXT')
  const edns = { payloadBytes: 1232, version: 0, dnssecOk: false }
  const full = message({
    question,
    edns,
    answers: Array(8).fill({ ...HEAD, type: 'TXT', text: 'y'.repeat(60) }),
  })
  const whole = encodeMessage(full, NO_LIMIT)
  assert.is(encodeMessage(full, whole.length).length, whole.length)
  const cut = encodeMessage(full, whole.length - 1)
  const read = decodeMessage(cut)
  assert.ok(read.flags & FLAG.TC)
  assert.equal([read.answers, read.question?.name, read.edns], [[], 'there.example', edns])
  assert.throws(() => encodeMessage(full, 20), /no room for the question/)
})

test('DNS message: values that cannot be encoded are refused', () => {
  const label = 'x'.repeat(63)
  for (const name of [
    `${'x'.repeat(64)}.example`,
    'a..example',
    '.example',
    [label, label, label, label].join('.'),
  ])
    assert.throws(() => encodeQuestion(name, 'A'), /label|255/, name)
  assert.throws(
    () =>
      encodeMessage(
        message({ answers: [{ ...HEAD, type: 'HINFO', cpu: 'x'.repeat(256), os: '' }] }),
        NO_LIMIT,
      ),
    /255/,
  )
  assert.throws(() =>
    encodeMessage(message({ answers: [{ ...HEAD, type: 'A', address: 'there' }] }), NO_LIMIT),
  )
  assert.throws(() =>
    encodeMessage(
      message({ answers: [{ ...HEAD, type: 'MX', preference: 65_536, exchange: '' }] }),
      NO_LIMIT,
    ),
  )
})

test('DNS message: known types have names, others numbers', () => {
  assert.equal([typeName(16), typeName(257), typeName(65_535)], ['TXT', 'CAA', 'TYPE65535'])
  for (const code of [1, 28, 255, 257, 999]) assert.is(typeCode(typeName(code)), code)
})

const QUERY = '1234 0100 0001 0000 0000 0000'
const ANSWER = '1234 8180 0000 0001 0000 0000'
const MALFORMED: [string, string][] = [
  ['nothing', ''],
  ['half a header', '1234 0100 0001'],
  ['a question that is not there', QUERY],
  ['two questions', '1234 0100 0002 0000 0000 0000 00 0001 0001 00 0001 0001'],
  ['a label that breaks off', `${QUERY} 05 6162`],
  ['a name without end', `${QUERY} 02 6162`],
  ['a type that breaks off', `${QUERY} 00 0001 00`],
  ['a pointer that breaks off', `${QUERY} c0`],
  ['a pointer into the header', `${QUERY} c000 0001 0001`],
  ['a pointer to itself', `${QUERY} c00c 0001 0001`],
  ['a pointer forward', `${QUERY} c012 0001 0001 00`],
  [
    'pointers to each other',
    `1234 8180 0000 0002 0000 0000 01 61 c011 0001 0001 00000001 0000 c00c 0001 0001 00000001 0000`,
  ],
  ['a label of a kind that does not exist', `${QUERY} 4161 00 0001 0001`],
  ['a name of more than 255 octets', `${QUERY} ${`3f${'61'.repeat(63)}`.repeat(4)} 00 0001 0001`],
  ['octets after the end', `${QUERY} 00 0001 0001 00`],
  ['more records than there are', '1234 8180 0000 ffff 0000 0000'],
  ['record data that breaks off', `${ANSWER} 00 0001 0001 00000001 0004 7f00`],
  ['an address that is too short', `${ANSWER} 00 0001 0001 00000001 0003 7f0000`],
  ['an address that is too long', `${ANSWER} 00 0001 0001 00000001 0005 7f00000100`],
  ['a string longer than its record', `${ANSWER} 00 0010 0001 00000001 0002 0561`],
  ['a host longer than its record', `${ANSWER} 00 000f 0001 00000001 0002 0005 00`],
  ['a CAA tag longer than its record', `${ANSWER} 00 0101 0001 00000001 0003 00 05 61`],
  ['an OPT not at the root', `1234 0100 0000 0000 0000 0001 01 61 00 0029 04d0 00000000 0000`],
  ['two OPT', `1234 0100 0000 0000 0000 0002 ${'00 0029 04d0 00000000 0000'.repeat(2)}`],
]

for (const [what, hex] of MALFORMED)
  test(`malformed: ${what}`, () => {
    assert.throws(
      () => decodeMessage(bytesOf(hex)),
      (error: unknown) => error instanceof MalformedMessage,
    )
  })

test('DNS message: any octets are a message or malformed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), octets => {
      try {
        decodeMessage(octets)
      } catch (error) {
        if (!(error instanceof MalformedMessage)) throw error
      }
    }),
    { numRuns: 5_000 },
  )
})

test.run()
