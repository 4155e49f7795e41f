import * as assert from 'uvu/assert'
import { createLog } from '../../../../src/lib/log.ts'
import { providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import { createResponder } from '../../../../src/protocols/dns/responder.ts'
import {
  type DnsRecord,
  type Edns,
  FLAG,
  type Message,
  RCODE,
  type TypeName,
} from '../../../../src/protocols/dns/wire.ts'
import { decodeMessage } from '../../../../src/protocols/dns/wire-decode.ts'
import { createZone } from '../../../../src/protocols/dns/zone.ts'
import { suite } from '../../../kit/suite.ts'
import { queryPacket } from '../../../kit/zone-client.ts'

const test = suite('dns/responder')
const APEX = 'mailhorn.example'
const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`
const EDNS: Edns = { payloadBytes: 1232, version: 0, dnssecOk: false }

const alias = (label: string, target: string): DnsRecord => ({
  name: `${label}.${APEX}`,
  ttlSeconds: 60,
  type: 'CNAME',
  target,
})

const zone = createZone({
  apex: APEX,
  records: [
    ...providerRecords({
      mailHost: APEX,
      nameServers: [`ns1.${APEX}`],
      addresses: ['192.0.2.1', '2001:db8::1'],
      regions: ['us-west-2'],
      simulatorDomain: `simulator.${APEX}`,
      serial: 1,
    }),
    alias('www', `WEB.${APEX}`),
    alias('web', APEX),
    alias('away', 'there.example'),
    alias('lost', `nowhere.${APEX}`),
    alias('round', `and-round.${APEX}`),
    alias('and-round', `round.${APEX}`),
    alias('into', `Round.${APEX}`),
    alias('self', `self.${APEX}`),
    { name: `big.${APEX}`, ttlSeconds: 60, type: 'TXT', text: 'x'.repeat(3000) },
    { name: `middle.${APEX}`, ttlSeconds: 60, type: 'TXT', text: 'x'.repeat(800) },
  ],
  async dkim(token) {
    if (token === 'broken') throw new Error('the store is away')
    return token === 'abc234' ? KEY : undefined
  },
})
const logged: string[] = []
const respond = createResponder({ zone, log: createLog('error', { write: line => void logged.push(line) }) })

async function ask(
  name: string,
  type: TypeName,
  asking: Parameters<typeof queryPacket>[2] = {},
  transport: 'udp' | 'tcp' = 'udp',
): Promise<Message> {
  return decodeMessage((await respond(queryPacket(name, type, asking), transport, '127.0.0.1'))!)
}

async function send(hex: string): Promise<string | undefined> {
  return (await respond(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'), 'udp', '127.0.0.1'))?.toString('hex')
}

function owners({ answers }: Message): string[] {
  return answers.map(({ name, type }) => `${name} ${type}`)
}

function has(message: Message, flag: number): boolean {
  return (message.flags & flag) !== 0
}

const RECORDS: [string, TypeName, number][] = [
  [APEX, 'SOA', 1],
  [APEX, 'NS', 1],
  [APEX, 'MX', 1],
  [APEX, 'TXT', 1],
  [APEX, 'A', 1],
  [APEX, 'AAAA', 1],
  [`feedback-smtp.us-west-2.${APEX}`, 'A', 1],
  [`simulator.${APEX}`, 'MX', 1],
  [`abc234.dkim.${APEX}`, 'TXT', 1],
  [`www.${APEX}`, 'CNAME', 1],
]

for (const [name, type, count] of RECORDS)
  test(`responder: ${name} ${type} is answered authoritatively`, async () => {
    const reply = await ask(name, type)
    assert.is(reply.rcode, RCODE.NOERROR)
    assert.ok(has(reply, FLAG.QR) && has(reply, FLAG.AA) && !has(reply, FLAG.RA))
    assert.is(reply.answers.length, count)
    assert.ok(reply.answers.every(record => record.type === type))
    assert.equal(reply.authority, [])
  })

test('responder: a key of 2048 bits fits into 512 octets', async () => {
  const packet = await respond(queryPacket(`abc234.dkim.${APEX}`, 'TXT'), 'udp', '127.0.0.1')
  assert.ok(packet!.length <= 512)
  const [record] = decodeMessage(packet!).answers
  assert.is(record?.type === 'TXT' && record.text, KEY)
})

test('responder: id, RD, CD and the case of the question are repeated, other flags are not', async () => {
  const flags = FLAG.RD | FLAG.CD | FLAG.AA | FLAG.TC | FLAG.RA | 0x60
  const reply = await ask('MaIlHoRn.ExAmPlE', 'A', { id: 0xbeef, flags })
  assert.is(reply.id, 0xbeef)
  assert.is(reply.flags, FLAG.QR | FLAG.AA | FLAG.RD | FLAG.CD)
  assert.ok(Buffer.from(reply.question!.bytes).includes('MaIlHoRn'))
  assert.is(reply.answers.length, 1)
  assert.is((await ask(APEX, 'A', { flags: 0 })).flags, FLAG.QR | FLAG.AA)
})

for (const [what, name, type, rcode] of [
  ['a missing type', APEX, 'CAA', RCODE.NOERROR],
  ['DS, which belongs to the parent', APEX, 'DS', RCODE.NOERROR],
  ['an empty non-terminal', `dkim.${APEX}`, 'TXT', RCODE.NOERROR],
  ['an unknown name', `nowhere.${APEX}`, 'A', RCODE.NXDOMAIN],
  ['an unknown key', `other.dkim.${APEX}`, 'TXT', RCODE.NXDOMAIN],
] as const)
  test(`responder: ${what} gets a negative answer with the SOA minimum as TTL`, async () => {
    const reply = await ask(name, type)
    assert.is(reply.rcode, rcode)
    assert.ok(has(reply, FLAG.AA))
    assert.equal(reply.answers, [])
    assert.equal(reply.authority, [{ ...zone.soa, ttlSeconds: 300 }])
  })

test('responder: names outside the zone are refused without AA', async () => {
  for (const name of ['', 'example', 'there.example', `x${APEX}`]) {
    const reply = await ask(name, 'A')
    assert.is(reply.rcode, RCODE.REFUSED)
    assert.ok(!has(reply, FLAG.AA))
    assert.equal([reply.answers, reply.authority], [[], []])
  }
})

test('responder: a CNAME chain is answered within the zone', async () => {
  assert.equal(owners(await ask(`www.${APEX}`, 'A')), [`www.${APEX} CNAME`, `web.${APEX} CNAME`, `${APEX} A`])
  const away = await ask(`away.${APEX}`, 'A')
  assert.equal([away.rcode, owners(away), away.authority], [RCODE.NOERROR, [`away.${APEX} CNAME`], []])
  const lost = await ask(`lost.${APEX}`, 'A')
  assert.equal([lost.rcode, owners(lost), lost.authority.length], [RCODE.NXDOMAIN, [`lost.${APEX} CNAME`], 1])
  const empty = await ask(`web.${APEX}`, 'CAA')
  assert.equal(
    [empty.rcode, owners(empty), empty.authority.length],
    [RCODE.NOERROR, [`web.${APEX} CNAME`], 1],
  )
})

for (const [start, expected] of [
  ['round', ['round', 'and-round']],
  ['into', ['into', 'round', 'and-round']],
  ['self', ['self']],
] as const)
  test(`responder: each record of a CNAME loop is answered once, beginning with ${start}`, async () => {
    const reply = await ask(`${start}.${APEX}`, 'A')
    assert.is(reply.rcode, RCODE.NOERROR)
    assert.equal(
      owners(reply),
      expected.map(label => `${label}.${APEX} CNAME`),
    )
  })

for (const name of [
  'mAILHORN.eXAMPLE',
  'WWW.mailhorn.example',
  'WEB.MAILHORN.EXAMPLE',
  'www.mailhorn.exampLE',
])
  test(`responder: data keep their letter case for a question about ${name}, which is repeated`, async () => {
    const lower = await ask(name.toLowerCase(), 'MX')
    const requests = await ask(name, 'MX')
    assert.ok(lower.answers.length > 0)
    const [first, ...others] = requests.answers
    assert.equal([{ ...first, name: name.toLowerCase() }, ...others], lower.answers)
    assert.is(first!.name, name)
    assert.ok(Buffer.from(requests.question!.bytes).toString('latin1').includes(name.split('.')[0]!))
  })

test('responder: ANY gets one small record if the name exists', async () => {
  for (const name of [APEX, `dkim.${APEX}`, `abc234.dkim.${APEX}`]) {
    const { answers } = await ask(name, 'ANY')
    assert.equal(answers, [{ name, ttlSeconds: 3600, type: 'HINFO', cpu: 'RFC8482', os: '' }])
  }
  assert.is((await ask(`nowhere.${APEX}`, 'ANY')).rcode, RCODE.NXDOMAIN)
  assert.is((await ask('there.example', 'ANY')).rcode, RCODE.REFUSED)
  assert.is((await ask(`www.${APEX}`, 'ANY')).answers[0]?.type, 'CNAME')
})

test('responder: zone transfers, meta-types and other classes are refused', async () => {
  for (const type of ['AXFR', 'IXFR', 'TYPE249', 'TYPE250', 'TYPE254', 'OPT'] as const)
    for (const transport of ['udp', 'tcp'] as const)
      assert.is((await ask(APEX, type, {}, transport)).rcode, RCODE.REFUSED, type)
  const chaos = queryPacket('version.bind', 'TXT')
  chaos.writeUInt16BE(3, chaos.length - 2)
  assert.is(decodeMessage((await respond(chaos, 'udp', '127.0.0.1'))!).rcode, RCODE.REFUSED)
})

test('responder: only queries with EDNS get EDNS', async () => {
  assert.is((await ask(APEX, 'A')).edns, undefined)
  assert.equal((await ask(APEX, 'A', { edns: EDNS })).edns, EDNS)
  const dnssecOk = { ...EDNS, payloadBytes: 4096, dnssecOk: true }
  assert.equal((await ask(APEX, 'A', { edns: dnssecOk })).edns, { ...EDNS, dnssecOk: true })
  for (const name of ['there.example', `nowhere.${APEX}`])
    assert.ok((await ask(name, 'A', { edns: EDNS })).edns)
})

test('responder: a later EDNS version gets BADVERS with version 0', async () => {
  for (const name of [APEX, 'there.example']) {
    const reply = await ask(name, 'A', { edns: { ...EDNS, version: 1 } })
    assert.is(reply.rcode, RCODE.BADVERS)
    assert.equal(reply.edns, EDNS)
    assert.equal(reply.answers, [])
  }
})

test('responder: unknown EDNS options are ignored', async () => {
  const packet = Buffer.concat([
    queryPacket(APEX, 'A', { edns: EDNS }).subarray(0, -2),
    Buffer.from('000cfde900080102030405060708', 'hex'),
  ])
  const reply = decodeMessage((await respond(packet, 'udp', '127.0.0.1'))!)
  assert.is(reply.rcode, RCODE.NOERROR)
  assert.is(reply.answers.length, 1)
})

for (const [name, payloadBytes, isWhole] of [
  [`middle.${APEX}`, undefined, false],
  [`middle.${APEX}`, 0, false],
  [`middle.${APEX}`, 512, false],
  [`middle.${APEX}`, 1232, true],
  [`middle.${APEX}`, 65_535, true],
  [`big.${APEX}`, 1232, false],
  [`big.${APEX}`, 65_535, false],
] as const)
  test(`responder: ${name} over UDP with ${payloadBytes ?? 'no'} EDNS octets is ${isWhole ? 'complete' : 'truncated'}`, async () => {
    const asking = payloadBytes === undefined ? {} : { edns: { ...EDNS, payloadBytes } }
    const packet = (await respond(queryPacket(name, 'TXT', asking), 'udp', '127.0.0.1'))!
    assert.ok(packet.length <= Math.min(Math.max(payloadBytes ?? 512, 512), 1232))
    const reply = decodeMessage(packet)
    assert.is(has(reply, FLAG.TC), !isWhole)
    assert.is(reply.answers.length, isWhole ? 1 : 0)
  })

test('responder: answers over TCP are complete', async () => {
  const reply = await ask(`big.${APEX}`, 'TXT', {}, 'tcp')
  assert.ok(!has(reply, FLAG.TC))
  assert.is(reply.answers[0]?.type === 'TXT' && reply.answers[0].text.length, 3000)
})

const NAME = '00 0001 0001'
const QUESTION = NAME.replaceAll(' ', '')
const OPT = '00002904d0000000000000'
const OPT_DO = '00002904d0000080000000'
for (const [what, query, reply] of [
  [
    'a response, which would make two servers talk for ever',
    `1234 8100 0001 0000 0000 0000 ${NAME}`,
    undefined,
  ],
  ['half a header', '1234 0100 0001', undefined],
  ['nothing', '', undefined],
  ['a header with no question', '1234 0100 0000 0000 0000 0000', '123481010000000000000000'],
  ['a question that is not there', '1234 0100 0001 0000 0000 0000', '123481010000000000000000'],
  ['two questions', `1234 0000 0002 0000 0000 0000 ${NAME} ${NAME}`, '123480010000000000000000'],
  ['a label that breaks off', '1234 0100 0001 0000 0000 0000 3f61', '123481010000000000000000'],
  ['octets after the end', `1234 0100 0001 0000 0000 0000 ${NAME} ff`, `123481010001000000000000${QUESTION}`],
  [
    'two OPT',
    `1234 0100 0001 0000 0000 0002 ${NAME} ${'00 0029 04d0 00000000 0000'.repeat(2)}`,
    `123481010001000000000001${QUESTION}${OPT}`,
  ],
  [
    'OPT with three octets of data',
    `1234 0100 0001 0000 0000 0001 ${NAME} 00 0029 1000 00000000 0003 000a00`,
    `123481010001000000000001${QUESTION}${OPT}`,
  ],
  [
    'an option longer than its data',
    `1234 0100 0001 0000 0000 0001 ${NAME} 00 0029 1000 00008000 0006 000a 0008 abcd`,
    `123481010001000000000001${QUESTION}${OPT_DO}`,
  ],
  [
    'an option that reaches into the next record',
    `1234 0100 0001 0000 0000 0002 ${NAME} 00 0029 1000 00000000 0004 000a 0004 00 0001 0001 00000000 0004 7f000001`,
    `123481010001000000000001${QUESTION}${OPT}`,
  ],
  [
    'OPT as an answer',
    `1234 0100 0001 0001 0000 0000 ${NAME} 00 0029 1000 00000000 0000`,
    `123481010001000000000001${QUESTION}${OPT}`,
  ],
  [
    'OPT as authority',
    `1234 0100 0001 0000 0001 0000 ${NAME} 00 0029 1000 00000000 0000`,
    `123481010001000000000001${QUESTION}${OPT}`,
  ],
  [
    'OPT that is not at the root',
    `1234 0100 0001 0000 0000 0001 ${NAME} 0161 00 0029 1000 00000000 0000`,
    `123481010001000000000000${QUESTION}`,
  ],
  [
    'OPT without a question',
    '1234 0100 0000 0000 0000 0001 00 0029 1000 00000000 0000',
    `123481010000000000000001${OPT}`,
  ],
  [
    'OPT behind two questions',
    `1234 0100 0002 0000 0000 0001 ${NAME} ${NAME} 00 0029 1000 00000000 0000`,
    `123481010000000000000001${OPT}`,
  ],
  ['NOTIFY', `1234 2400 0001 0000 0000 0000 ${NAME}`, `1234a0040001000000000000${QUESTION}`],
  [
    'NOTIFY with OPT',
    `1234 2400 0001 0000 0000 0001 ${NAME} 00 0029 1000 00000000 0000`,
    `1234a0040001000000000001${QUESTION}${OPT}`,
  ],
  [
    'NOTIFY with OPT behind an answer',
    `1234 2400 0001 0001 0000 0001 ${NAME} 00 0006 0001 00000000 0002 ffff 00 0029 1000 00000000 0000`,
    `1234a0040001000000000001${QUESTION}${OPT}`,
  ],
  ['UPDATE', `1234 2800 0001 0000 0000 0000 ${NAME}`, `1234a8040001000000000000${QUESTION}`],
  ['STATUS that is junk otherwise', `1234 1000 ffff ffff ffff ffff ff`, '123490040000000000000000'],
] as const)
  test(`${what} gets ${reply === undefined ? 'silence' : reply}`, async () =>
    assert.is(await send(query), reply))

test('responder: a failed look-up is answered with SERVFAIL and logged', async () => {
  const reply = await ask(`broken.dkim.${APEX}`, 'TXT', { id: 7 })
  assert.equal([reply.id, reply.rcode, has(reply, FLAG.AA)], [7, RCODE.SERVFAIL, false])
  assert.match(logged.join(''), /the store is away/)
  assert.match(logged.join(''), /broken\.dkim/)
})

test.run()
