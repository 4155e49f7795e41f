import * as assert from 'uvu/assert'
import type { MessageVerdicts } from '../../../../../src/pipeline/inbound/verdicts/verdict.ts'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { suite } from '../../../../kit/suite.ts'
import { createTestKey } from '../../../protocols/dkim/signed.ts'
import {
  CLIENT,
  ed25519,
  envelope,
  GOOD_ZONE,
  HOST,
  keyLine,
  type Letter,
  letter,
  mailOf,
  RECEIVED_AT,
  rsa,
  startScene,
  textOf,
  withSignature,
} from './scene.ts'

const test = suite('verdicts/authentication')

const words = ({ spf, dkim, dmarc, arc }: MessageVerdicts) => ({ spf, dkim, dmarc, arc })
const seconds = (at: number) => String(Math.floor(at / 1_000))

test('mail that is what it says: all pass, and the field tells how', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const text = textOf(withSignature(withSignature(letter(), { key: ed25519 })))
  const verdicts = await judge(mailOf(text, 7), envelope())
  assert.equal(words(verdicts), { spf: 'PASS', dkim: 'PASS', dmarc: 'PASS', arc: 'GRAY' })
  assert.equal([verdicts.spam, verdicts.virus], ['PASS', 'DISABLED'])
  assert.equal(verdicts.detail.spf, {
    result: 'pass',
    domain: 'here.test',
    identity: 'mailfrom',
    reason: undefined,
  })
  assert.equal(
    verdicts.detail.dkim.signatures.map(({ result, domain, selector, algorithm }) => [
      result,
      domain,
      selector,
      algorithm,
    ]),
    [
      ['pass', 'here.test', 'r1', 'rsa-sha256'],
      ['pass', 'here.test', 'e1', 'ed25519-sha256'],
    ],
  )
  assert.equal(verdicts.detail.dmarc, {
    result: 'pass',
    domain: 'here.test',
    policy: 'reject',
    reason: undefined,
  })
  assert.match(
    verdicts.authenticationResults.replace(/\r\n /g, ' '),
    /^mail\.mailhorn\.test; spf=pass smtp\.mailfrom=here\.test; dkim=pass header\.d=here\.test header\.s=r1 header\.a=rsa-sha256 header\.b=\S{8,10}; dkim=pass .*; dmarc=pass header\.from=here\.test policy\.dmarc=reject; arc=none$/,
  )
})

const SPF: [what: string, record: string, word: string, reason: RegExp][] = [
  ['another address', 'TXT "v=spf1 ip4:192.0.2.2 -all"', 'FAIL', /does not designate 192\.0\.2\.1/],
  ['a soft fail', 'TXT "v=spf1 ~all"', 'GRAY', /transitioning/],
  ['neutral', 'TXT "v=spf1 ?all"', 'GRAY', /neither permitted nor denied/],
  ['no record', 'TXT "hello"', 'GRAY', /does not designate permitted/],
  [
    'two records',
    'TXT "v=spf1 -all"\nhere.test TXT "v=spf1 +all"',
    'PROCESSING_FAILED',
    /multiple SPF records/,
  ],
  ['nonsense', 'TXT "v=spf1 ip4:1.2.3 -all"', 'PROCESSING_FAILED', /permanent error/],
  ['a server that fails', 'SERVFAIL', 'PROCESSING_FAILED', /SERVFAIL/],
  ['a server that is silent', 'TIMEOUT', 'PROCESSING_FAILED', /no name server answered in time/],
  ['a malformed answer', 'MALFORMED', 'PROCESSING_FAILED', /malformed/],
  ['a name that leads to itself', 'CNAME here.test', 'PROCESSING_FAILED', /SERVFAIL/],
  ['a macro of our own address', 'TXT "v=spf1 exists:%{ir}.list.test -all"', 'PASS', /^undefined$/],
]
for (const [sender, domain, word] of [
  ['"a b"@here.test', 'here.test', 'PASS'],
  ['"x@other.test"@here.test', 'here.test', 'PASS'],
  ['user..x@here.test', 'here.test', 'PASS'],
  ['a@_sub_domain.here.test', '_sub_domain.here.test', 'PASS'],
  ['a@fail_ing.here.test', 'fail_ing.here.test', 'FAIL'],
  ['a@[192.0.2.1]', '[192.0.2.1]', 'GRAY'],
] as const)
  test(`SPF: the domain of ${sender} is checked`, async t => {
    const { judge } = await startScene(
      t,
      `${GOOD_ZONE}
      _sub_domain.here.test TXT "v=spf1 include:%{d}.list_of.test -all"
      _sub_domain.here.test.list_of.test TXT "v=spf1 ip4:${CLIENT} -all"
      fail_ing.here.test TXT "v=spf1 -all"`,
    )
    const { spf, detail } = await judge(mailOf(textOf(letter()), 7), envelope({ mailFrom: sender }))
    assert.equal([spf, detail.spf.domain], [word, domain])
    if (word === 'FAIL') assert.match(detail.spf.reason!, /domain of a@fail_ing\.here\.test/)
  })

for (const [what, record, word, reason] of SPF)
  test(`SPF, ${what}: ${word}`, async t => {
    const { judge } = await startScene(t, `here.test ${record}\n1.2.0.192.list.test A 127.0.0.2`)
    const { spf, detail } = await judge(mailOf(textOf(letter())), envelope())
    assert.is(spf, word, JSON.stringify(detail.spf))
    assert.match(String(detail.spf.reason), reason)
    assert.not.match(String(detail.spf.reason), HOST)
  })

test('the null sender is judged by its HELO, IPv6 by ip6, and without either there is nothing to judge', async t => {
  const { judge } = await startScene(t, 'out.here.test TXT "v=spf1 ip6:2001:db8::/32 -all"')
  const mail = mailOf(textOf(letter()))
  const by = async (changes: Parameters<typeof envelope>[0]) =>
    (await judge(mail, envelope(changes))).detail.spf
  assert.equal(await by({ mailFrom: '', clientIp: '2001:db8::1' }), {
    result: 'pass',
    domain: 'out.here.test',
    identity: 'helo',
    reason: undefined,
  })
  assert.is((await by({ mailFrom: '' })).result, 'fail')
  assert.is((await by({ mailFrom: '', helo: '[192.0.2.1]' })).result, 'none')
  assert.is((await by({ mailFrom: '', helo: '' })).result, 'none')
})

const DKIM: [what: string, of: () => Letter, result: string, word: string, reason: RegExp][] = [
  ['none', () => letter(), 'none', 'GRAY', /not signed/],
  [
    'a changed body',
    () => ({ ...withSignature(letter()), body: 'Hello Eve\r\n' }),
    'fail',
    'FAIL',
    /body hash did not verify/,
  ],
  [
    'a changed subject',
    () => {
      const signed = withSignature(letter())
      return { ...signed, fields: signed.fields.map(([n, v]) => [n, n === 'Subject' ? 'Pay' : v]) }
    },
    'fail',
    'FAIL',
    /bad signature/,
  ],
  [
    'expired a second before it came',
    () => withSignature(letter(), { tags: { t: '1', x: seconds(RECEIVED_AT - 1_000) } }),
    'neutral',
    'GRAY',
    /expired/,
  ],
  [
    'good until it came',
    () => withSignature(letter(), { tags: { x: seconds(RECEIVED_AT + 1_000) } }),
    'pass',
    'PASS',
    /^undefined$/,
  ],
  [
    'a part of the body alone (l=)',
    () =>
      withSignature(letter({ body: 'Hello Bob\r\nBuy this\r\n' }), {
        hashed: 'Hello Bob\r\n',
        tags: { l: '11' },
      }),
    'policy',
    'GRAY',
    /10 bytes of the body are not signed/,
  ],
  [
    'all of the body by its length (l=)',
    () => withSignature(letter(), { tags: { l: '11' } }),
    'pass',
    'PASS',
    /^undefined$/,
  ],
  [
    'a key of another type',
    () => withSignature(letter(), { tags: { s: 'e1' } }),
    'neutral',
    'GRAY',
    /key algorithm/,
  ],
  [
    'a key that is not there',
    () => withSignature(letter(), { tags: { s: 'gone' } }),
    'neutral',
    'GRAY',
    /no key/,
  ],
  [
    'a key that was revoked',
    () => withSignature(letter(), { tags: { s: 'revoked' } }),
    'neutral',
    'GRAY',
    /key/,
  ],
  ['a key that is none', () => withSignature(letter(), { tags: { s: 'junk' } }), 'neutral', 'GRAY', /key/],
  ['a key of 512 bits', () => withSignature(letter(), { tags: { s: 'weak' } }), 'policy', 'GRAY', /weak-key/],
  [
    'a server that fails',
    () => withSignature(letter(), { tags: { s: 'broken' } }),
    'temperror',
    'PROCESSING_FAILED',
    /SERVFAIL/,
  ],
  [
    'a key longer than any',
    () => withSignature(letter(), { tags: { s: 'huge' } }),
    'temperror',
    'PROCESSING_FAILED',
    /too large/,
  ],
  ['rsa-sha1', () => withSignature(letter(), { tags: { a: 'rsa-sha1' } }), 'fail', 'FAIL', /body hash/],
  [
    'an algorithm of nobody',
    () => withSignature(letter(), { tags: { a: 'rot-13' } }),
    'neutral',
    'GRAY',
    /algorithm/,
  ],
  ['no h=', () => withSignature(letter(), { tags: { h: undefined } }), 'neutral', 'GRAY', /required tag/],
  [
    'another version',
    () => withSignature(letter(), { tags: { v: '2' } }),
    'neutral',
    'GRAY',
    /incompatible version/,
  ],
]
const weak =
  'MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALKfMf6qYm4GgVUq5AMxWpSA2WXrYXQ9n8xVZzqR4mDh4VvU0q0lJmVtM3w2W0Q8l0m6V9lq5b1w0h2x2bQ3kzMCAwEAAQ=='
const KEYS = `
  ${GOOD_ZONE}
  revoked._domainkey.here.test TXT "v=DKIM1; p="
  junk._domainkey.here.test    TXT "v=DKIM1; p=AAAA"
  weak._domainkey.here.test    TXT "v=DKIM1; p=${weak}"
  broken._domainkey.here.test  SERVFAIL
  huge._domainkey.here.test    TXT "v=DKIM1; p=${'A'.repeat(20_000)}"
`
for (const [what, of, result, word, reason] of DKIM)
  test(`DKIM, ${what}: ${word}`, async t => {
    const { judge } = await startScene(t, KEYS)
    const { dkim, detail } = await judge(mailOf(textOf(of())), envelope())
    assert.is(detail.dkim.result, result, JSON.stringify(detail.dkim))
    assert.is(dkim, word)
    assert.match(String(detail.dkim.reason), reason)
  })

test('one signature that holds is enough, whatever stands beside it', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const both = withSignature(withSignature(letter()), { tags: { s: 'gone' } })
  const { dkim, detail } = await judge(mailOf(textOf(both)), envelope())
  assert.is(dkim, 'PASS')
  assert.equal(
    detail.dkim.signatures.map(({ result }) => result),
    ['neutral', 'pass'],
  )
})

interface DmarcCase {
  what: string
  zone: string
  from?: string
  fields?: Letter['fields']
  mailFrom?: string
  result: string
  policy?: string
  reason?: RegExp
}
const other = await createTestKey('ed25519-sha256', 'other.test')
const sub = await createTestKey('ed25519-sha256', 'mail.here.test')
const spf = (domain: string) => `${domain} TXT "v=spf1 ip4:${CLIENT} -all"`
const DMARC: DmarcCase[] = [
  { what: 'no record', zone: spf('here.test'), result: 'none', reason: /asks for nothing/ },
  {
    what: 'SPF passes for another domain',
    zone: `${spf('other.test')}\n_dmarc.here.test TXT "v=DMARC1; p=quarantine"`,
    mailFrom: 'x@other.test',
    result: 'fail',
    policy: 'quarantine',
    reason: /neither SPF nor DKIM/,
  },
  {
    what: 'relaxed: a domain below the organisation passes for it',
    zone: `${spf('bounce.here.test')}\n_dmarc.here.test TXT "v=DMARC1; p=reject"`,
    mailFrom: 'x@bounce.here.test',
    result: 'pass',
    policy: 'reject',
  },
  {
    what: 'strict: it does not',
    zone: `${spf('bounce.here.test')}\n_dmarc.here.test TXT "v=DMARC1; p=reject; aspf=s"`,
    mailFrom: 'x@bounce.here.test',
    result: 'fail',
    policy: 'reject',
  },
  {
    what: 'the policy of the organisation for a domain below it',
    zone: `${spf('other.test')}\n_dmarc.here.test TXT "v=DMARC1; p=none; sp=reject"`,
    from: 'ann@deep.sub.here.test',
    mailFrom: 'x@other.test',
    result: 'fail',
    policy: 'reject',
  },
  {
    what: 'a record at a public suffix does not make its domains one organisation',
    zone: `${spf('evil.co.test')}\n_dmarc.co.test TXT "v=DMARC1; p=reject; psd=y"\n_dmarc.bank.co.test TXT "v=DMARC1; p=reject"`,
    from: 'ann@bank.co.test',
    mailFrom: 'x@evil.co.test',
    result: 'fail',
    policy: 'reject',
  },
  {
    what: 'several From fields',
    zone: GOOD_ZONE,
    fields: [
      ['From', 'ann@here.test'],
      ['From', 'eve@evil.test'],
    ],
    result: 'permerror',
    reason: /several From fields/,
  },
  {
    what: 'several addresses in From',
    zone: GOOD_ZONE,
    from: 'ann@here.test, bob@here.test',
    result: 'permerror',
    reason: /several addresses/,
  },
  {
    what: 'a comma in a name without quotes, in which others see two mailboxes',
    zone: GOOD_ZONE,
    from: 'Doe, Ann <ann@here.test>',
    result: 'permerror',
    reason: /not a list of addresses/,
  },
  {
    what: 'a quoted local part',
    zone: GOOD_ZONE,
    from: '"ann doe"@here.test',
    result: 'pass',
    policy: 'reject',
  },
  {
    what: 'a comment in a name',
    zone: GOOD_ZONE,
    from: 'Ann (of \\) (Here)) <ann@here.test>',
    result: 'pass',
    policy: 'reject',
  },
  { what: 'a group of one', zone: GOOD_ZONE, from: 'Team: ann@here.test;', result: 'pass', policy: 'reject' },
  {
    what: 'an address as a name',
    zone: GOOD_ZONE,
    from: 'ann@here.test <ann@here.test>',
    result: 'pass',
    policy: 'reject',
  },

  {
    what: 'no From',
    zone: GOOD_ZONE,
    fields: [['To', 'bob@there.test']],
    result: 'permerror',
    reason: /no domain/,
  },
  {
    what: 'a server that fails',
    zone: `${spf('here.test')}\n_dmarc.here.test SERVFAIL`,
    result: 'temperror',
    reason: /SERVFAIL/,
  },
  {
    what: 'a policy, and an SPF that is not known',
    zone: 'here.test SERVFAIL TXT\n_dmarc.here.test TXT "v=DMARC1; p=reject"',
    result: 'temperror',
    policy: 'reject',
    reason: /an identifier could not be checked: .*SERVFAIL/,
  },
]
for (const { what, zone, from, fields, mailFrom = 'ann@here.test', result, policy, reason } of DMARC)
  test(`DMARC, ${what}: ${result}`, async t => {
    const { judge } = await startScene(t, zone)
    const text = textOf(letter({ fields: fields ?? [['From', from ?? 'ann@here.test']] }))
    const { detail } = await judge(mailOf(text), envelope({ mailFrom }))
    assert.is(detail.dmarc.result, result, JSON.stringify(detail))
    assert.is(detail.dmarc.policy, policy)
    if (reason) assert.match(String(detail.dmarc.reason), reason)
  })

/**
 * Header sections whose author other programs may read differently, for a client that may send for evil.test.
 */
const FORGED: [what: string, header: string, result: string][] = [
  ['the shown address is judged', 'From: "ceo@here.test" <x@evil.test>', 'pass'],
  ['From behind a line that is not a field', 'Subject: x\r\nno field\r\nFrom: x@evil.test', 'pass'],
  ['From behind a first line that is not a field', 'no field\r\nFrom: x@evil.test', 'pass'],
  ['From behind 1,000 fields', `${'X: y\r\n'.repeat(1_000)}From: x@evil.test`, 'permerror'],
  ['an encoded word as an address', 'From: =?utf-8?q?ceo=40here.test?=, x@evil.test', 'permerror'],
  ['two addresses without a comma', 'From: [<ceo@here.test><x@evil.test>', 'permerror'],
  ['an address in a nested comment', 'From: ((n) x@evil.test) ceo@here.test', 'permerror'],
  ['an address in a comment with a quoted bracket', 'From: (\\) x@evil.test) ceo@here.test', 'permerror'],
  ['a NUL in the domain', 'From: <ceo@here.test\0.evil.test>', 'permerror'],
  ['an address longer than any', `From: <ceo@here.test${'a'.repeat(300)}.evil.test>`, 'permerror'],
  ['From with a line break before its colon', 'Subject: x\r\nFrom\r\n : x@evil.test', 'permerror'],
  ['From behind a first line of blanks', ' \r\nFrom: x@evil.test', 'permerror'],
  [
    'a second From behind a line that is not a field',
    `From: ann@here.test\r\nno field\r\nFrom: x@evil.test`,
    'permerror',
  ],
  ['a line that is not a field below From', 'From: ann@here.test,\r\nx@evil.test', 'permerror'],
  ['two addresses in angle brackets', 'From: <ceo@here.test> <x@evil.test>', 'permerror'],
  ['an address in an encoded word', 'From: =?utf-8?q?ceo=40here.test=3e?= <x@evil.test>', 'pass'],
  [
    'an address that ends in an encoded word',
    'From: <=?utf-8?q?ceo=40here.test=20?=@evil.test>',
    'permerror',
  ],
  ['a domain as an address', 'From: here.test, <x@evil.test>', 'permerror'],
  ['another address as a name', 'From: ceo@here.test <x@evil.test>', 'permerror'],
  ['a name in brackets', 'From: [here] <x@evil.test>', 'permerror'],
  ['words behind the address', 'From: <x@evil.test> ceo at here.test', 'permerror'],
  ['a comment that does not end', 'From: x@evil.test (ceo@here.test', 'permerror'],
  ['a quote that does not end', 'From: "ceo@here.test x@evil.test', 'permerror'],
  ['a route', 'From: <@here.test:x@evil.test>', 'pass'],
  ['a comment in the name', 'From: Ann (of "here.test") <x@evil.test>', 'pass'],
]
for (const [what, header, result] of FORGED)
  test(`DMARC never passes for a domain that is not shown: ${what}: ${result}`, async t => {
    const { judge } = await startScene(
      t,
      `${GOOD_ZONE}${spf('evil.test')}\n_dmarc.evil.test TXT "v=DMARC1; p=reject"`,
    )
    const text = `${header}\r\nTo: bob@there.test\r\n\r\nbody\r\n`
    const { detail } = await judge(mailOf(text), envelope({ mailFrom: 'x@evil.test' }))
    assert.is(detail.dmarc.result, result, JSON.stringify(detail.dmarc))
    const [shown] = readMail(Buffer.from(text)).from
    if (result === 'pass') assert.is(shown?.address.split('@').at(-1), detail.dmarc.domain)
  })

test('DMARC by DKIM: the domain of the signature counts, and a signature over a part of the body does not', async t => {
  const zone = `
    _dmarc.here.test TXT "v=DMARC1; p=reject"
    ${keyLine(rsa)}
    ${keyLine(other)}
    ${keyLine(sub)}
  `
  const { judge } = await startScene(t, zone)
  const by = async (of: Letter) => (await judge(mailOf(textOf(of)), envelope({ mailFrom: '' }))).dmarc
  assert.is(await by(withSignature(letter())), 'PASS')
  assert.is(await by(withSignature(letter(), { key: sub })), 'PASS')
  assert.is(await by(withSignature(letter(), { key: other })), 'FAIL')
  const partial = withSignature(letter({ body: 'Hello Bob\r\nBuy\r\n' }), { hashed: '', tags: { l: '0' } })
  assert.is(await by(partial), 'FAIL')
})

test.run()
