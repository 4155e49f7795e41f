import * as assert from 'uvu/assert'
import { danglingAliases, providerRecords } from '../../../../src/protocols/dns/provider-zone.ts'
import type { DnsRecord, TypeName } from '../../../../src/protocols/dns/wire.ts'
import { createZone, type Zone } from '../../../../src/protocols/dns/zone.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/zone')
const APEX = 'mailhorn.example'

function provider(change: Partial<Parameters<typeof providerRecords>[0]> = {}): DnsRecord[] {
  return providerRecords({
    mailHost: APEX,
    nameServers: [`ns1.${APEX}`, 'ns2.elsewhere.example'],
    addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    regions: ['us-west-2', 'eu-central-1'],
    simulatorDomain: `simulator.${APEX}`,
    serial: 1_795_000_000,
    ...change,
  })
}

function zoneOf(
  records = provider(),
  dkim: (token: string) => Promise<string | undefined> | string | undefined = () => undefined,
): Zone {
  return createZone({ apex: APEX, records, dkim })
}

async function texts(zone: Zone, name: string, type: TypeName): Promise<string | string[]> {
  const found = await zone.lookUp(name, type)
  return typeof found === 'string'
    ? found
    : found.map(({ name: _, ttlSeconds: __, type: ___, ...data }) => Object.values(data).join(' '))
}

const at = (name: string, data: object) => ({ name, ttlSeconds: 60, ...data }) as DnsRecord
const V4 = ['192.0.2.1', '192.0.2.2']
const V6 = ['2001:db8::1']
const SERVED: [string, TypeName, string[]][] = [
  [APEX, 'SOA', [`ns1.${APEX} hostmaster.${APEX} 1795000000 3600 600 1209600 300`]],
  [APEX, 'NS', [`ns1.${APEX}`, 'ns2.elsewhere.example']],
  [APEX, 'A', V4],
  [APEX, 'AAAA', V6],
  [APEX, 'MX', [`10 ${APEX}`]],
  [APEX, 'TXT', ['v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 ip6:2001:db8::1 -all']],
  [`ns1.${APEX}`, 'A', V4],
  [`ns1.${APEX}`, 'AAAA', V6],
  [`feedback-smtp.us-west-2.${APEX}`, 'A', V4],
  [`feedback-smtp.eu-central-1.${APEX}`, 'AAAA', V6],
  [`simulator.${APEX}`, 'MX', ['0 ']],
  [`_dmarc.${APEX}`, 'TXT', ['v=DMARC1; p=reject; adkim=s; aspf=s']],
]

for (const [name, type, data] of SERVED)
  test(`the provider's zone has ${name} ${type}`, async () =>
    assert.equal(await texts(zoneOf(), name, type), data))

test('zone: an existing name has no-data for other types, up to the apex', async () => {
  for (const name of [
    APEX,
    `ns1.${APEX}`,
    `us-west-2.${APEX}`,
    `feedback-smtp.us-west-2.${APEX}`,
    `dkim.${APEX}`,
  ])
    assert.is(await texts(zoneOf(), name, 'CAA'), 'no-data', name)
})

test('zone: a name that does not exist has no type', async () => {
  for (const type of ['A', 'TXT', 'NS', 'DS', 'TYPE65'] as const)
    for (const name of [`www.${APEX}`, `a.b.${APEX}`, `feedback-smtp.mars.${APEX}`, `x.ns1.${APEX}`])
      assert.is(await texts(zoneOf(), name, type), 'no-name', name)
})

test('zone: similar names outside are out of the zone', async () => {
  for (const name of ['', 'example', 'mailhorn.example.org', `x${APEX}`, `not-${APEX}`, 'elsewhere.example'])
    assert.is(await texts(zoneOf(), name, 'A'), 'out-of-zone', name)
})

for (const [how, answered] of [
  ['at once', (text: string | undefined) => text],
  ['later', (text: string | undefined) => Promise.resolve(text)],
] as const)
  test(`zone: a key is looked up by its token and answered ${how}`, async () => {
    const requests: string[] = []
    const zone = zoneOf(provider(), token => {
      requests.push(token)
      return answered(token === 'abc234' ? 'v=DKIM1; p=AAAA' : undefined)
    })
    assert.equal(await zone.lookUp(`abc234.dkim.${APEX}`, 'TXT'), [
      { name: `abc234.dkim.${APEX}`, ttlSeconds: 300, type: 'TXT', text: 'v=DKIM1; p=AAAA' },
    ])
    assert.is(await zone.lookUp(`abc234.dkim.${APEX}`, 'A'), 'no-data')
    assert.is(await zone.lookUp(`other.dkim.${APEX}`, 'TXT'), 'no-name')
    assert.equal(requests, ['abc234', 'abc234', 'other'])
  })

test('zone: names below a token are not looked up, and dkim is not a token', async () => {
  const zone = zoneOf(provider(), token => assert.unreachable(`looked up ${token}`) as never)
  assert.is(await zone.lookUp(`x.abc.dkim.${APEX}`, 'TXT'), 'no-name')
  assert.is(await zone.lookUp(`.dkim.${APEX}`, 'TXT'), 'no-name')
  assert.is(await zone.lookUp(`xdkim.${APEX}`, 'TXT'), 'no-name')
  assert.is(await zone.lookUp(`dkim.${APEX}`, 'TXT'), 'no-data')
})

test('zone: a CNAME answers every type of its name', async () => {
  const alias: DnsRecord = { name: `www.${APEX}`, ttlSeconds: 60, type: 'CNAME', target: APEX }
  const zone = zoneOf([...provider(), alias])
  for (const type of ['A', 'TXT', 'CNAME'] as const)
    assert.equal(await zone.lookUp(`www.${APEX}`, type), [alias])
})

test('provider zone: without addresses there are no address records, and SPF allows no sender', async () => {
  const zone = zoneOf(provider({ addresses: [] }))
  assert.is(await texts(zone, APEX, 'A'), 'no-data')
  assert.equal(await texts(zone, APEX, 'TXT'), ['v=spf1 -all'])
  assert.is(await texts(zone, `feedback-smtp.us-west-2.${APEX}`, 'A'), 'no-name')
})

test('provider zone: sending addresses may differ from public addresses', async () => {
  const zone = zoneOf(provider({ sendingAddresses: ['198.51.100.0/28'] }))
  assert.equal(await texts(zone, APEX, 'TXT'), ['v=spf1 ip4:198.51.100.0/28 -all'])
})

test('provider zone: report addresses appear only if configured', async () => {
  const zone = zoneOf(provider({ reportsTo: 'reports@there.example' }))
  assert.equal(await texts(zone, `_smtp._tls.${APEX}`, 'TXT'), [
    'v=TLSRPTv1; rua=mailto:reports@there.example',
  ])
  assert.equal(await texts(zone, `_dmarc.${APEX}`, 'TXT'), [
    'v=DMARC1; p=reject; adkim=s; aspf=s; rua=mailto:reports@there.example',
  ])
  assert.is(await texts(zoneOf(), `_smtp._tls.${APEX}`, 'TXT'), 'no-name')
})

test('provider zone: an MTA-STS policy has a record and a host', async () => {
  const zone = zoneOf(provider({ mtaStsId: '20261121' }))
  assert.equal(await texts(zone, `_mta-sts.${APEX}`, 'TXT'), ['v=STSv1; id=20261121'])
  assert.equal(await texts(zone, `mta-sts.${APEX}`, 'A'), V4)
  assert.is(await texts(zoneOf(), `_mta-sts.${APEX}`, 'TXT'), 'no-name')
  assert.is(await texts(zoneOf(), `mta-sts.${APEX}`, 'A'), 'no-name')
})

test('provider zone: EHLO names below the apex have address records', async () => {
  const greetings = [
    { name: `mail1.${APEX}`, address: '198.51.100.1' },
    { name: `mail1.${APEX}`, address: '2001:db8::25' },
    { name: 'mail.elsewhere.example', address: '198.51.100.2' },
    { name: APEX, address: '198.51.100.3' },
    { name: `ns1.${APEX}`, address: '198.51.100.4' },
  ]
  const zone = zoneOf(provider({ greetings }))
  assert.equal(await texts(zone, `mail1.${APEX}`, 'A'), ['198.51.100.1'])
  assert.equal(await texts(zone, `mail1.${APEX}`, 'AAAA'), ['2001:db8::25'])
  assert.equal(await texts(zone, `mail1.${APEX}`, 'TXT'), ['v=spf1 a -all'])
  assert.equal(await texts(zone, APEX, 'A'), V4)
  assert.equal(await texts(zone, `ns1.${APEX}`, 'A'), V4)
})

test("the operator's own records take the place of ours or stand beside them", async () => {
  const own: DnsRecord[] = [
    at(APEX, { type: 'TXT', text: 'site-verification=1' }),
    at(`_dmarc.${APEX}`, { type: 'TXT', text: 'v=DMARC1; p=none' }),
    at(APEX, { type: 'MX', preference: 5, exchange: 'mx.elsewhere.example' }),
    at(APEX, { type: 'CAA', flags: 0, tag: 'issue', value: 'ca.example' }),
  ]
  const zone = zoneOf(provider({ own }))
  assert.equal(await texts(zone, APEX, 'TXT'), [
    'v=spf1 ip4:192.0.2.1 ip4:192.0.2.2 ip6:2001:db8::1 -all',
    'site-verification=1',
  ])
  assert.equal(await texts(zone, `_dmarc.${APEX}`, 'TXT'), ['v=DMARC1; p=none'])
  assert.equal(await texts(zone, APEX, 'MX'), ['5 mx.elsewhere.example'])
  assert.equal(await texts(zone, APEX, 'CAA'), ['0 issue ca.example'])
  const spf = at(APEX, { type: 'TXT', text: 'v=spf1 include:relay.example -all' })
  assert.equal(await texts(zoneOf(provider({ own: [spf] })), APEX, 'TXT'), [
    'v=spf1 include:relay.example -all',
  ])
})

test('provider zone: a simulator outside the zone has no record', async () => {
  const zone = zoneOf(provider({ simulatorDomain: 'simulator.test' }))
  assert.is(await texts(zone, `simulator.${APEX}`, 'MX'), 'no-name')
})

const NO_ZONES: [string, DnsRecord[], RegExp][] = [
  ['without SOA', provider().filter(({ type }) => type !== 'SOA'), /not exactly one SOA/],
  [
    'with two SOA',
    [...provider(), ...provider().filter(({ type }) => type === 'SOA')],
    /not exactly one SOA/,
  ],
  ['without NS', provider().filter(({ type }) => type !== 'NS'), /no NS/],
  [
    'with a foreign name',
    [...provider(), at('there.example', { type: 'A', address: '192.0.2.9' })],
    /there.example lies outside/,
  ],
  [
    'with a delegation',
    [...provider(), at(`sub.${APEX}`, { type: 'NS', target: 'ns.example' })],
    /delegates/,
  ],
  [
    'with a CNAME beside others',
    [...provider(), at(APEX, { type: 'CNAME', target: 'there.example' })],
    /CNAME/,
  ],
  [
    'with others beside a CNAME',
    [
      ...provider(),
      at(`w.${APEX}`, { type: 'CNAME', target: APEX }),
      at(`w.${APEX}`, { type: 'A', address: '192.0.2.9' }),
    ],
    /CNAME/,
  ],
]

for (const [what, records, complaint] of NO_ZONES)
  test(`zone: a zone ${what} is refused`, () => assert.throws(() => zoneOf(records), complaint))

test('zone: ACME challenges are served at once, for certificate names only', async () => {
  const proofs = new Map<string, string[]>()
  const requests: string[] = []
  const zone = createZone({
    apex: APEX,
    records: provider({
      own: [at(`_acme-challenge.www.${APEX}`, { type: 'CNAME', target: 'elsewhere.example' })],
    }),
    dkim: () => undefined,
    provenNames: [APEX, `mta-sts.${APEX}`, `www.${APEX}`, 'app.elsewhere.example'],
    async proofs(name) {
      requests.push(name)
      return proofs.get(name) ?? []
    },
  })
  const proofsAt = (name: string) => texts(zone, `_acme-challenge.${name}`, 'TXT')
  assert.is(await proofsAt(APEX), 'no-name')
  proofs.set(APEX, ['one', 'two'])
  assert.equal(await proofsAt(APEX), ['one', 'two'])
  assert.is(await texts(zone, `_acme-challenge.${APEX}`, 'A'), 'no-data')
  assert.is(await texts(zone, `mta-sts.${APEX}`, 'A'), 'no-data')
  assert.equal(await proofsAt(`www.${APEX}`), ['elsewhere.example'])
  assert.is(await proofsAt(`other.${APEX}`), 'no-name')
  assert.is(await proofsAt('app.elsewhere.example'), 'out-of-zone')
  assert.equal([...new Set(requests)], [APEX])
})

const cname = (label: string, target: string) => at(`${label}.${APEX}`, { type: 'CNAME', target })
for (const [what, own, loop] of [
  ['an alias of itself', [cname('a', `a.${APEX}`)], `a.${APEX} → a.${APEX}`],
  ['two aliases', [cname('a', `b.${APEX}`), cname('b', `A.${APEX}`)], `a.${APEX} → b.${APEX} → a.${APEX}`],
  [
    'a loop that another alias leads into',
    [cname('x', `a.${APEX}`), cname('a', `b.${APEX}`), cname('b', `a.${APEX}`)],
    `a.${APEX} → b.${APEX} → a.${APEX}`,
  ],
  ['a chain', [cname('a', `b.${APEX}`), cname('c', `b.${APEX}`), cname('b', APEX)], undefined],
  ['aliases out of the zone', [cname('a', 'a.example'), cname('b', `b.example`)], undefined],
] as const)
  test(`provider zone: ${what} in dns.records is ${loop ? 'refused as a loop' : 'taken'}`, () => {
    const make = () => provider({ own })
    if (loop) assert.throws(make, (error: Error) => error.message === `has CNAME records in a loop: ${loop}`)
    else assert.not.throws(make)
  })

for (const [what, own, name] of [
  [
    'an alias beside an address',
    [cname('a', 'x.example'), at(`a.${APEX}`, { type: 'A', address: '192.0.2.9' })],
    `a.${APEX}`,
  ],
  ['two aliases of one name', [cname('a', 'x.example'), cname('a', 'y.example')], `a.${APEX}`],
  ['an alias of the zone itself', [at(APEX, { type: 'CNAME', target: 'x.example' })], APEX],
] as const)
  test(`provider zone: ${what} in dns.records is refused`, () => {
    const says = `has a CNAME record for ${name}, which must not have other records beside it`
    assert.throws(
      () => provider({ own }),
      (error: Error) => error.message === says,
    )
  })

test('provider zone: an alias of the operator replaces what is built in at its name, and repeated records count once', () => {
  const host = cname('mta-sts', 'proxy.example')
  const txt = at(`x.${APEX}`, { type: 'TXT', text: 'one' })
  const records = provider({ mtaStsId: 'abc', own: [host, host, txt, { ...txt }] })
  assert.equal(
    records.filter(({ name }) => name === host.name || name === txt.name),
    [host, txt],
  )
})

test('provider zone: aliases to missing names of the zone are found, others are not', () => {
  const own = [
    cname('lost', `nowhere.${APEX}`),
    cname('odd', `NOWHERE.${APEX}`),
    cname('away', 'nowhere.example'),
    cname('home', APEX),
    cname('key', `token.dkim.${APEX}`),
    cname('policy', `mta-sts.${APEX}`),
    cname('chained', `home.${APEX}`),
  ]
  assert.equal(
    danglingAliases(provider({ own }), APEX).map(({ name }) => name),
    [`lost.${APEX}`, `odd.${APEX}`],
  )
})

test.run()
