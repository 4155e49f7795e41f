import * as assert from 'uvu/assert'
import { suite } from '../../kit/suite.ts'
import { KEY, LONG_TEXT, MAIL_HOST, REVOKED_TOKEN, run, serveProvider, TOKEN } from './tools.ts'

const test = suite('peers/dns: dig and kdig')

interface Seen {
  status: string
  flags: string[]
  /** `name type data`, blanks made single. */
  answer: string[]
  authority: string[]
  output: string
}

/** Both tools print alike what we ask for here. */
function read(output: string): Seen {
  const section = (title: string) =>
    (new RegExp(`^;; ${title} SECTION:\\n((?:.+\\n)+)`, 'm').exec(output)?.[1] ?? '')
      .trim()
      .split('\n')
      .filter(line => line !== '')
      .map(line => line.replace(/\s+/g, ' ').replace(/ \d+ IN /, ' '))
  return {
    status: /status: (\w+)/.exec(output)?.[1] ?? '',
    flags: (/(?:^|\s)[Ff]lags: ([a-z ]*);/m.exec(output)?.[1] ?? '').trim().split(' '),
    answer: section('ANSWER'),
    authority: section('AUTHORITY'),
    output,
  }
}

const at = (label = '') => `${label}${MAIL_HOST}.`
const SOA = `${at()} SOA ${at('ns1.')} ${at('hostmaster.')} 1795000000 3600 600 1209600 300`
const KEY_STRINGS = `"${KEY.slice(0, 255)}" "${KEY.slice(255)}"`

type Row = [
  args: string,
  expected: { status?: string; answer?: string[]; authority?: string[]; aa?: boolean },
]

/** Queries with the answers that both tools must return. */
const MATRIX: Row[] = [
  [`${MAIL_HOST} SOA`, { answer: [SOA] }],
  [`${MAIL_HOST} NS`, { answer: [`${at()} NS ${at('ns1.')}`, `${at()} NS ${at('ns2.')}`] }],
  [`${MAIL_HOST} A`, { answer: [`${at()} A 192.0.2.1`] }],
  [`${MAIL_HOST} AAAA`, { answer: [`${at()} AAAA 2001:db8::1`] }],
  [`${MAIL_HOST} MX`, { answer: [`${at()} MX 10 ${at()}`] }],
  [
    `${MAIL_HOST} TXT`,
    {
      answer: [
        `${at()} TXT "v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all"`,
        `${at()} TXT "site-verification=abc"`,
      ],
    },
  ],
  [`ns1.${MAIL_HOST} AAAA`, { answer: [`${at('ns1.')} AAAA 2001:db8::1`] }],
  [`mail1.${MAIL_HOST} A`, { answer: [`${at('mail1.')} A 192.0.2.25`] }],
  [`mail1.${MAIL_HOST} TXT`, { answer: [`${at('mail1.')} TXT "v=spf1 a -all"`] }],
  [`_mta-sts.${MAIL_HOST} TXT`, { answer: [`${at('_mta-sts.')} TXT "v=STSv1; id=20261121"`] }],
  [`mta-sts.${MAIL_HOST} A`, { answer: [`${at('mta-sts.')} A 192.0.2.1`] }],
  [
    `_smtp._tls.${MAIL_HOST} TXT`,
    { answer: [`${at('_smtp._tls.')} TXT "v=TLSRPTv1; rua=mailto:reports@there.example"`] },
  ],
  [`_tls.${MAIL_HOST} TXT`, { answer: [], authority: [SOA] }],
  [`us-west-2.${MAIL_HOST} NS`, { answer: [], authority: [SOA] }],
  [
    `_dmarc.${MAIL_HOST} TXT`,
    {
      answer: [
        `${at('_dmarc.')} TXT "v=DMARC1; p=reject; adkim=s; aspf=s; rua=mailto:reports@there.example"`,
      ],
    },
  ],
  [
    `${REVOKED_TOKEN}.dkim.${MAIL_HOST} TXT`,
    { answer: [`${at(`${REVOKED_TOKEN}.dkim.`)} TXT "v=DKIM1; k=rsa; p="`] },
  ],
  [`${MAIL_HOST} CAA`, { answer: [`${at()} CAA 0 issue "ca.example"`] }],
  [`ns2.${MAIL_HOST} A`, { answer: [`${at('ns2.')} A 192.0.2.1`] }],
  [`feedback-smtp.us-west-2.${MAIL_HOST} A`, { answer: [`${at('feedback-smtp.us-west-2.')} A 192.0.2.1`] }],
  [`simulator.${MAIL_HOST} MX`, { answer: [`${at('simulator.')} MX 0 .`] }],
  [`www.${MAIL_HOST} A`, { answer: [`${at('www.')} CNAME ${at()}`, `${at()} A 192.0.2.1`] }],
  [`${TOKEN}.dkim.${MAIL_HOST} TXT`, { answer: [`${at(`${TOKEN}.dkim.`)} TXT ${KEY_STRINGS}`] }],
  [`${TOKEN}.dkim.${MAIL_HOST} TXT +noedns`, { answer: [`${at(`${TOKEN}.dkim.`)} TXT ${KEY_STRINGS}`] }],
  [`${TOKEN}.dkim.${MAIL_HOST} A`, { answer: [], authority: [SOA] }],
  [`dkim.${MAIL_HOST} TXT`, { answer: [], authority: [SOA] }],
  [`${MAIL_HOST} DS`, { answer: [], authority: [SOA] }],
  [`${MAIL_HOST} TYPE65280`, { answer: [], authority: [SOA] }],
  [`nowhere.${MAIL_HOST} A`, { status: 'NXDOMAIN', answer: [], authority: [SOA] }],
  [`${MAIL_HOST} ANY +notcp`, { answer: [`${at()} HINFO "RFC8482" ""`] }],
  ['there.example A', { status: 'REFUSED', answer: [], aa: false }],
  ['version.bind CH TXT', { status: 'REFUSED', answer: [], aa: false }],
  [`${MAIL_HOST} A +dnssec`, { answer: [`${at()} A 192.0.2.1`] }],
  [`${MAIL_HOST} A +nsid`, { answer: [`${at()} A 192.0.2.1`] }],
]

for (const tool of ['dig', 'kdig'])
  for (const transport of ['+notcp', '+tcp'])
    test(`${tool} ${transport} sees what we serve`, async t => {
      const port = await serveProvider(t)
      for (const [args, expected] of MATRIX) {
        const seen = read(
          await run(tool, ['@127.0.0.1', '-p', `${port}`, '+norecurse', transport, ...args.split(' ')]),
        )
        const { status = 'NOERROR', aa = true, ...sections } = expected
        const what = `${tool} ${transport} ${args}\n${seen.output}`
        assert.is(seen.status, status, what)
        assert.is(seen.flags.includes('aa'), aa, what)
        assert.not(seen.flags.includes('ra'), what)
        for (const [section, lines] of Object.entries(sections))
          assert.equal(seen[section as 'answer'].sort(), lines.sort(), what)
        assert.not.match(seen.output, /warning|malformed|mismatch|extra bytes|FORMERR/i, what)
      }
    })

test('dig: a name comes back in the case it was asked in', async t => {
  const port = await serveProvider(t)
  const seen = read(await run('dig', ['@127.0.0.1', '-p', `${port}`, '+norecurse', 'MaIlHoRn.eXaMpLe', 'A']))
  assert.equal(seen.answer, ['MaIlHoRn.eXaMpLe. A 192.0.2.1'])
})

test('dig: EDNS is echoed with 1232 octets, a later version is BADVERS, without it there is none', async t => {
  const port = await serveProvider(t)
  const dig = async (...args: string[]) =>
    (await run('dig', ['@127.0.0.1', '-p', `${port}`, '+norecurse', MAIL_HOST, 'A', ...args])).replace(
      /\s+/g,
      ' ',
    )
  assert.match(await dig(), /EDNS: version: 0, flags:; udp: 1232/)
  assert.match(await dig('+dnssec'), /EDNS: version: 0, flags: do; udp: 1232/)
  assert.not.match(await dig('+noedns'), /EDNS:/)
  assert.match(await dig('+edns=1', '+noednsnegotiation'), /status: BADVERS.*EDNS: version: 0/)
  assert.match(await dig('+ednsopt=65001:0102'), /status: NOERROR/)
  assert.match(await dig('+ednsflags=0x4000'), /status: NOERROR/)
})

test("dig: an answer over the client's size is truncated, and whole over TCP", async t => {
  const port = await serveProvider(t)
  const dig = (...args: string[]) =>
    run('dig', ['@127.0.0.1', '-p', `${port}`, '+norecurse', `long.${MAIL_HOST}`, 'TXT', ...args])
  for (const size of ['+noedns', '+bufsize=512', '+bufsize=1232', '+bufsize=65535']) {
    const cut = await dig('+ignore', size)
    assert.ok(read(cut).flags.includes('tc'), cut)
    assert.equal(read(cut).answer, [])
    assert.match(await dig(size), /Truncated, retrying in TCP mode(?:.|\n)*ANSWER: 1/)
  }
})

test('dig: no transfers, no other operations, no query without a question', async t => {
  const port = await serveProvider(t)
  const dig = (...args: string[]) => run('dig', ['@127.0.0.1', '-p', `${port}`, '+norecurse', ...args])
  assert.match(await dig(MAIL_HOST, 'AXFR'), /Transfer failed/)
  assert.match(await dig(MAIL_HOST, 'IXFR=1'), /status: REFUSED|Transfer failed/)
  for (const opcode of ['NOTIFY', 'UPDATE', 'STATUS', 'IQUERY'])
    assert.match(await dig(MAIL_HOST, 'SOA', `+opcode=${opcode}`), /status: NOTIMP/)
  assert.match(await dig('+header-only'), /status: FORMERR/)
})

test('kdig: over TCP the same answer is whole at once', async t => {
  const port = await serveProvider(t)
  const strings = LONG_TEXT.replace(/.{1,255}/g, '"$&" ').trim()
  const output = await run('kdig', ['@127.0.0.1', '-p', `${port}`, '+tcp', `long.${MAIL_HOST}`, 'TXT'])
  assert.equal(read(output).answer, [`${at('long.')} TXT ${strings}`])
})

test('kdig: several queries share a connection', async t => {
  const port = await serveProvider(t)
  const query = (type: string) => [MAIL_HOST, type]
  const output = await run('kdig', [
    '@127.0.0.1',
    '-p',
    `${port}`,
    '+tcp',
    '+keepopen',
    ...query('A'),
    ...query('MX'),
    ...query('TXT'),
    ...query('SOA'),
  ])
  assert.is(output.match(/status: NOERROR/g)?.length, 4)
  assert.not.match(output, /WARNING/i)
})

test.run()
