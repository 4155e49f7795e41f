import * as assert from 'uvu/assert'
import type { BudgetedResolver } from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import type { MessageVerdicts } from '../../../../../src/pipeline/inbound/verdicts/verdict.ts'
import type { Answer } from '../../../../../src/protocols/dns/answer.ts'
import { createManualClock, settled } from '../../../../kit/manual-clock.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'
import {
  envelope,
  GOOD_ZONE,
  judgeBy,
  keyLine,
  letter,
  mailOf,
  rsa,
  startScene,
  textOf,
  withSignature,
} from './scene.ts'

const test = suite('verdicts/hostile')
const WORDS = ['PASS', 'FAIL', 'GRAY', 'PROCESSING_FAILED', 'DISABLED']
/** Maximum number of DNS queries of all methods together for one message. */
const QUESTIONS_MAX = 50 + 11 + 20 + 30

const times = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i))

const SPF: [what: string, zone: string, limit: number, reason: RegExp][] = [
  [
    'includes without end',
    `here.test TXT "v=spf1 include:a.bomb.test -all"
     *.bomb.test TXT "v=spf1 include:%{d1}x.%{d}.bomb.test include:y.%{d} -all"`,
    12,
    /Too many DNS requests/,
  ],
  [
    'a tree of includes',
    `here.test TXT "v=spf1 ${times(9, i => `include:${i}.bomb.test`).join(' ')} -all"
     *.bomb.test TXT "v=spf1 ${times(9, i => `include:${i}.%{d}`).join(' ')} -all"`,
    12,
    /Too many DNS requests/,
  ],
  [
    'a record that includes itself',
    'here.test TXT "v=spf1 include:here.test -all"',
    2,
    /Too many DNS requests/,
  ],
  ['a redirect in a circle', 'here.test TXT "v=spf1 redirect=here.test"', 2, /Too many DNS requests/],
  [
    'names that are not there',
    `here.test TXT "v=spf1 ${times(9, i => `a:${i}.gone.test`).join(' ')} -all"`,
    4,
    /Too many void/,
  ],
  [
    'ten times ten mail servers',
    `here.test TXT "v=spf1 ${times(10, i => `mx:m${i}.test`).join(' ')} -all"
     ${times(10, i => times(10, j => `m${i}.test MX ${j} h${j}.m${i}.test`).join('\n')).join('\n')}
     ${times(10, i => `*.m${i}.test A 198.51.100.${i}`).join('\n')}`,
    50,
    /more than 50 DNS look-ups/,
  ],
  [
    'more than ten mail servers at one name',
    `here.test TXT "v=spf1 mx -all"
     ${times(20, i => `here.test MX ${i} h${i}.here.test`).join('\n')}
     *.here.test A 198.51.100.1`,
    13,
    /Too many DNS requests/,
  ],
  [
    'a record of 60,000 characters',
    `here.test TXT "v=spf1 ${'ip4:198.51.100.1 '.repeat(3_500)}-all"`,
    2,
    /too large/,
  ],
]
for (const [what, zoneText, limit, reason] of SPF)
  test(`SPF, ${what}: no more than ${limit} look-ups`, async t => {
    const { judge, zone } = await startScene(t, zoneText)
    const { spf, detail } = await judge(mailOf('Subject: x\r\n\r\n'), envelope())
    assert.is(spf, 'PROCESSING_FAILED')
    assert.match(detail.spf.reason!, reason)
    const requests = new Set(zone.queries.map(({ name, type }) => `${name} ${type}`))
    assert.ok(requests.size <= limit, `${requests.size}`)
  })

test('of a thousand signatures ten are looked at', async t => {
  const { judge, zone } = await startScene(t, '*.test TXT "v=DKIM1; p=AAAA"')
  let signed = letter()
  const one = withSignature(letter()).fields[0]![1]
  const fields = times(1_000, i => one.replace('s=r1', `s=s${i}`)).map(
    value => ['DKIM-Signature', value] as [string, string],
  )
  signed = { ...signed, fields: [...fields, ...signed.fields] }
  const { dkim, detail } = await judge(mailOf(textOf(signed)), envelope())
  assert.is(dkim, 'GRAY')
  assert.is(detail.dkim.signatures.length, 10)
  assert.match(detail.dkim.reason!, /990 signatures more are not looked at/)
  assert.is(zone.queries.filter(({ name }) => name.includes('_domainkey')).length, 10)
})

test('a signature that holds is found behind nine that do not', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const signed = withSignature(letter())
  const bad = times(9, i => signed.fields[0]![1].replace('s=r1', `s=s${i}`))
  const fields = [...bad.map(value => ['DKIM-Signature', value] as [string, string]), ...signed.fields]
  const { dkim, dmarc } = await judge(mailOf(textOf({ ...signed, fields })), envelope())
  assert.equal([dkim, dmarc], ['PASS', 'PASS'])
})

const HEADS: [what: string, head: string, reason: RegExp][] = [
  ['a head of a megabyte', `X: ${'a'.repeat(1_000_000)}\r\n`, /header section is too large/],
  ['a head without an end', 'X: y\r\n'.repeat(200_000), /header section is too large/],
  ['6,000 fields', 'X: y\r\n'.repeat(6_000), /too many lines/],
  ['a field of 6,000 lines', `Subject: x${'\r\n y'.repeat(6_000)}\r\n`, /too many lines/],
  ['6,000 lines that begin no field', `Subject: x\r\n${'y\r\n'.repeat(6_000)}`, /too many lines/],
  [
    'a line break before each of 2,000 blanks',
    `X: y${'\r\n '.repeat(2_000)}\r\n`,
    /too many blanks in a row/,
  ],
  ['2,000 blanks in a signature', `DKIM-Signature: b=${' '.repeat(2_000)}x\r\n`, /too many blanks in a row/],
  ['a From of 20,000 characters', `From: ${'a@b.test,'.repeat(2_300)}\r\n`, /From field is too long/],
  ...['Return-Path', 'DKIM-Signature', 'ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results'].map(
    (name): [string, string, RegExp] => [
      `a ${name} of 20,000 characters`,
      `${name}: ${'i=1;'.repeat(5_000)}\r\n`,
      new RegExp(`the ${name} field is too long`),
    ],
  ),
  [
    'a seal with lines behind it that begin no field',
    `ARC-Seal: i=1\r\n${`${';;a'.repeat(300)}\r\n`.repeat(20)}`,
    /ARC-Seal field is too long/,
  ],
]
for (const [what, head, reason] of HEADS)
  test(`${what} is not looked at, and SPF is none the worse`, async t => {
    const { judge } = await startScene(t, GOOD_ZONE)
    const end = what.includes('without') ? '' : '\r\nbody'
    const { spf, dkim, dmarc, arc, detail } = await judge(mailOf(head + end, 64 * 1024), envelope())
    assert.equal(
      [spf, dkim, dmarc, arc],
      ['PASS', 'PROCESSING_FAILED', 'PROCESSING_FAILED', 'PROCESSING_FAILED'],
    )
    assert.match(detail.dkim.reason!, reason)
  })

test('a message with hundreds of folded lines, and a long field that nobody parses, is judged', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const folded = times(900, i => `user${i}@there.test`).join(',\r\n\t')
  const signed = withSignature(
    letter({
      fields: [
        ['From', 'Ann <ann@here.test>'],
        ['To', folded],
        ['References', times(900, i => `<${i}@here.test>`).join('\r\n ')],
        ['X-Report', 'x'.repeat(100_000)],
      ],
    }),
  )
  const { dkim, dmarc, detail } = await judge(mailOf(textOf(signed), 64 * 1024), envelope())
  assert.equal([dkim, dmarc], ['PASS', 'PASS'], detail.dkim.reason)
})

test('groups in groups, quotes without an end, and a body without line ends do not hold anything up', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const froms = [
    `${'a:'.repeat(3_000)};`,
    `"${'\\"'.repeat(3_000)}`,
    `${'('.repeat(3_000)} <a@here.test>`,
    `${'<'.repeat(3_000)}a@here.test`,
    `=?utf-8?Q?${'=41'.repeat(3_000)}?= <a@here.test>`,
  ]
  for (const from of froms) {
    const signed = withSignature(letter({ fields: [['From', from]], body: `${' '.repeat(200_000)}x` }))
    const { dkim } = await judge(mailOf(textOf(signed), 64 * 1024), envelope())
    assert.is(dkim, 'PASS', from.slice(0, 20))
  }
})

test('a signed message with a line of megabytes is read no further than the limit', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const signed = withSignature(letter({ body: 'x'.repeat(8 * 1024 * 1024) }))
  const mail = mailOf(textOf(signed), 64 * 1024)
  let readBytes = 0
  const counted = {
    ...mail,
    async *read() {
      for await (const piece of mail.read()) {
        readBytes += piece.length
        yield piece
      }
    },
  }
  const { spf, dkim, detail } = await judge(counted, envelope())
  assert.equal([spf, dkim], ['PASS', 'PROCESSING_FAILED'])
  assert.match(detail.dkim.reason!, /a line is longer than 1048576 octets/)
  assert.ok(readBytes < 2 * 1024 * 1024)
})

test('an unsigned message with a line of megabytes is judged', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const { spf, dkim, dmarc } = await judge(
    mailOf(textOf(letter({ body: 'x'.repeat(8 * 1024 * 1024) })), 64 * 1024),
    envelope(),
  )
  assert.equal([spf, dkim, dmarc], ['PASS', 'GRAY', 'PASS'])
})

test('ten lengths of a body are ten hashes, no more', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const body = 'Hello Bob, how are you?\r\n'.repeat(40_000)
  let signed = letter({ body })
  for (const length of times(10, i => String(i * 100)))
    signed = withSignature(signed, { hashed: body.slice(0, Number(length)), tags: { l: length } })
  const { detail } = await judge(mailOf(textOf(signed), 64 * 1024), envelope())
  assert.equal(
    detail.dkim.signatures.map(({ result }) => result),
    times(10, () => 'policy'),
  )
})

test('name servers that never answer: after its time every method says so, and asks nothing more', async () => {
  const clock = createManualClock()
  const requests: string[] = []
  const never = (name: string) => {
    requests.push(name)
    return new Promise<never>(() => {})
  }
  const resolver: BudgetedResolver = {
    ...{ txt: never, mx: never, addresses4: never },
    ...{ addresses6: never, ptr: never, cname: never },
  }
  const judge = judgeBy(resolver, { clock })
  const judging = judge(mailOf(textOf(withSignature(letter()))), envelope())
  while (requests.length < 2) await settled()
  clock.advance(20_000)
  const { spf, dkim, dmarc, arc, spam, detail } = await judging
  assert.equal(
    [spf, dkim, dmarc, arc, spam],
    times(5, () => 'PROCESSING_FAILED'),
  )
  assert.match(detail.spf.reason!, /not known within 20 s/)
  assert.is(clock.timerCount, 0)
  assert.equal(requests, ['here.test', 'r1._domainkey.here.test'])
})

test('a message that cannot be read is one that nothing is known of but its envelope', async t => {
  const { judge } = await startScene(t, GOOD_ZONE)
  const broken = {
    sizeBytes: 100,
    async *read() {
      yield Buffer.from('From: ann@here.test\r\n\r\n')
      throw new Error('the disk is gone')
    },
  }
  const { spf, dkim, detail } = await judge(broken, envelope())
  assert.equal([spf, dkim], ['PASS', 'PROCESSING_FAILED'])
  assert.match(detail.dkim.reason!, /the disk is gone/)
})

function isSound(verdicts: MessageVerdicts): void {
  const { spf, dkim, dmarc, arc, spam, virus, authenticationResults, detail } = verdicts
  for (const word of [spf, dkim, dmarc, arc, spam, virus]) assert.ok(WORDS.includes(word), word)
  assert.match(authenticationResults, /^mail\.mailhorn\.test;(?:[ -~]|\r\n )*$/)
  for (const one of [detail.spf, detail.dkim, detail.dmarc, detail.arc])
    if (one.result === 'temperror' || one.result === 'permerror') assert.ok(one.reason, JSON.stringify(one))
  assert.equal(structuredClone(detail), detail)
}

/** A world in which every answer is drawn by lot, from what may make trouble. */
function randomWorld(answers: readonly Answer<string>[]): { resolver: BudgetedResolver; requests(): number } {
  let requests = 0
  const next = async () => answers[requests++ % answers.length]!
  const mx = async () => {
    const answer = await next()
    if (answer.kind !== 'found') return answer
    return { ...answer, records: answer.records.map((exchange, preference) => ({ exchange, preference })) }
  }
  const resolver = { txt: next, addresses4: next, addresses6: next, ptr: next, cname: next, mx }
  return { resolver, requests: () => requests }
}

const domain = fc.constantFrom(
  'here.test',
  'sub.here.test',
  'other.test',
  'test',
  'xn--a',
  '[192.0.2.1]',
  '-',
  'a..b',
)
const text = fc.oneof(
  fc.constantFrom(
    'v=spf1 -all',
    'v=spf1 include:a.test include:b.test mx a ptr exists:%{i}.c.test redirect=d.test',
    'v=spf1 mx:a.test mx:b.test mx:c.test mx:d.test mx:e.test mx:f.test ptr -all exp=e.test',
    'v=spf1 a:%{l}.%{o}.%{p}.%{h} ip6:::1/129 -all',
    'v=DMARC1; p=reject; sp=none; adkim=s',
    'v=DMARC1; p=banana; t=y; psd=u',
    'v=DKIM1; k=ed25519; p=AAAA',
    rsa.record,
    '__proto__=1; constructor=2; p=; p=',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
)
const answer: fc.Arbitrary<Answer<string>> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(text, { minLength: 1, maxLength: 12 })
      .map(records => ({ kind: 'found' as const, records })),
  },
  fc.constantFrom<Answer<string>>(
    { kind: 'no-domain' },
    { kind: 'no-data' },
    { kind: 'failure', reason: 'by lot' },
  ),
)
const tag = fc.oneof(
  fc.constantFrom(
    'v=1',
    'a=rsa-sha256',
    'a=ed25519-sha256',
    'c=relaxed/relaxed',
    'c=x/y',
    'h=from:to',
    'h=',
    'i=1',
    'i=@x',
  ),
  fc.constantFrom(
    's=r1',
    's=',
    'bh=AAAA',
    'b=AAAA',
    'l=0',
    'l=-1',
    'l=99999999999999999999',
    'x=1',
    't=z',
    'cv=none',
    'cv=pass',
  ),
  domain.map(name => `d=${name}`),
  fc.string({ maxLength: 8 }),
)
const field = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'DKIM-Signature',
        'ARC-Seal',
        'ARC-Message-Signature',
        'ARC-Authentication-Results',
        'X',
      ),
      fc.array(tag, { maxLength: 12 }),
    )
    .map(([name, tags]) => `${name}: ${tags.join(';')}`),
  fc
    .tuple(
      fc.constantFrom('From', 'from ', 'Content-Type', '__proto__', ''),
      fc.string({ unit: 'binary', maxLength: 40 }),
    )
    .map(([name, value]) => `${name}: ${value}`),
  domain.map(name => `From: ann@${name}`),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const message = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.array(field, { maxLength: 12 }), fc.string({ unit: 'binary' }))
      .map(([fields, body]) => Buffer.from(`${fields.join('\r\n')}\r\n\r\n${body}`)),
  },
  fc.uint8Array({ maxLength: 300 }),
)
const anyEnvelope = fc.record({
  clientIp: fc.constantFrom('192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', '', 'nonsense'),
  helo: fc.oneof(domain, fc.string({ unit: 'binary', maxLength: 30 })),
  mailFrom: fc.oneof(
    domain.map(name => `ann@${name}`),
    fc.constant(''),
    fc.string({ unit: 'binary', maxLength: 30 }),
  ),
})

test('any bytes in any world: verdicts with reasons, never an error, and never more look-ups than there may be', async () => {
  const runs = Number(process.env.FUZZ_RUNS ?? 300)
  await fc.assert(
    fc.asyncProperty(
      message,
      anyEnvelope,
      fc.array(answer, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 400 }),
      async (bytes, changes, answers, pieceBytes) => {
        const world = randomWorld(answers)
        const judge = judgeBy(world.resolver)
        isSound(await judge(mailOf(bytes, pieceBytes), envelope(changes)))
        assert.ok(world.requests() <= QUESTIONS_MAX, String(world.requests()))
      },
    ),
    { numRuns: runs },
  )
})

test('half of a good message is no good message: wherever it is cut, DKIM does not pass', async t => {
  const { judge } = await startScene(t, `${GOOD_ZONE}\n${keyLine(rsa)}`)
  const whole = Buffer.from(textOf(withSignature(letter())))
  for (let size = 0; size < whole.length - 2; size += 13) {
    const verdicts = await judge(mailOf(whole.subarray(0, size)), envelope())
    isSound(verdicts)
    assert.is.not(verdicts.dkim, 'PASS', String(size))
  }
})

test.run()
