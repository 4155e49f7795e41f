/**
 * Random header sections of a sender that may send for evil.test alone, judged end to end. The verdict must
 * be about the author who is shown.
 */
import { domainToASCII } from 'node:url'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import * as assert from 'uvu/assert'
import type { BudgetedResolver } from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import type { Answer } from '../../../../../src/protocols/dns/answer.ts'
import { isAddressList } from '../../../../../src/protocols/mime/read/address-grammar.ts'
import { readHead } from '../../../../../src/protocols/mime/read/head.ts'
import { readMail } from '../../../../../src/protocols/mime/read/read-mail.ts'
import { fc } from '../../../../kit/property.ts'
import { CLIENT, envelope, judgeBy, mailOf } from './scene.ts'

const TXT: Record<string, string> = {
  'evil.test': `v=spf1 ip4:${CLIENT} -all`,
  '_dmarc.evil.test': 'v=DMARC1; p=reject',
  'bank.test': 'v=spf1 -all',
  '_dmarc.bank.test': 'v=DMARC1; p=reject',
}
const NOTHING: Answer<never> = { kind: 'no-domain' }
const RESOLVER: BudgetedResolver = {
  txt: async name => (TXT[name] === undefined ? NOTHING : { kind: 'found', records: [TXT[name]] }),
  addresses4: async () => NOTHING,
  addresses6: async () => NOTHING,
  mx: async () => NOTHING,
  ptr: async () => NOTHING,
  cname: async () => NOTHING,
}

const ADDRESS = fc.constantFrom(
  'ceo@bank.test',
  'z@evil.test',
  'z@mail.evil.test',
  '"ceo@bank.test"@evil.test',
  '"z@evil.test"@bank.test',
  '"a b"@evil.test',
  '@evil.test:ceo@bank.test',
  '@bank.test,@x.test:z@evil.test',
  'ceo@bank.test.',
  'ceo@[192.0.2.1]',
  'ceo @ bank.test',
  'ceo@bank .test',
  'z(x)@evil.test',
  'ceo@evil.test@bank.test',
  'ceo',
  'mailto:ceo@bank.test',
  '=?utf-8?q?ceo=40bank.test?=',
  '=?utf-8?q?ceo=40bank.test=2C?=z@evil.test',
  '=?utf-8?b?Y2VvQGJhbmsudGVzdA==?=',
  'z@=?utf-8?q?evil?=.test',
  'ceo@\xef\xbd\x82ank.test',
  'ceo@b\xe4nk.test',
  'ceo@bank\xe3\x80\x82test',
)
const TOKEN = fc.constantFrom(
  ...[
    '<',
    '>',
    '<<',
    '>>',
    '(',
    ')',
    '((',
    '\\)',
    '"',
    '\\"',
    '\\',
    ',',
    ';',
    ':',
    '@',
    '.',
    '=',
    '?',
    '[',
    ']',
    '#',
  ],
  ...[
    ' ',
    '\t',
    '\r\n ',
    '\r\n\t',
    '\0',
    '\r',
    '\x0b',
    '\xa0',
    '\xe2\x80\xae',
    '\xe2\x80\x8b',
    '\xff',
    "'",
    '|',
    '%',
  ],
  ...[
    'Ann',
    'Doe, ',
    'Team:',
    'bank.test',
    'evil.test',
    'ceo',
    '=?utf-8?q?',
    '?=',
    '=?utf-8?q?a_b?=',
    '=?iso-2022-jp?b?GyRC?=',
  ],
  ...['From:', '\r\nFrom:', '\n', 'undisclosed-recipients:;'],
)
const QUOTED = (inner: fc.Arbitrary<string>) =>
  fc.oneof(
    inner.map(text => `"${text}"`),
    inner.map(text => `(${text})`),
    inner.map(text => `<${text}>`),
    inner.map(text => `Team: ${text};`),
    inner.map(text => `=?utf-8?q?${text}?=`),
    inner.map(text => `"=?utf-8?q?${text}?="`),
  )
const PIECE = fc.oneof(
  { weight: 4, arbitrary: ADDRESS },
  { weight: 5, arbitrary: TOKEN },
  { weight: 2, arbitrary: QUOTED(ADDRESS) },
  { weight: 1, arbitrary: QUOTED(TOKEN) },
)
const VALUE = fc.array(PIECE, { minLength: 1, maxLength: 7 }).map(pieces => pieces.join(''))
const FROM = fc
  .tuple(
    fc.constantFrom('From: ', 'from:', 'FROM : ', 'From\t:', 'From\r\n : ', 'From\0: ', '>From: ', ' From: '),
    VALUE,
  )
  .map(([name, value]) => name + value)
const PLAIN_FROM = VALUE.map(value => `From: ${value}`)
const OTHER = fc.constantFrom(
  ...[
    'To: bob@there.test',
    'Subject: x',
    'no field',
    'From ceo@bank.test Sat Nov 21',
    '',
    ' ',
    '\t<z@evil.test>',
    ' ,ceo@bank.test',
  ],
  ...[
    '--b',
    ': x',
    '<ceo@bank.test>',
    'Sender: ceo@bank.test',
    'Resent-From: ceo@bank.test',
    'Content-Type: text/plain',
    '\0',
    '\xff',
  ],
  ...[`X: y\r\n${'X: y\r\n'.repeat(999)}X: y`],
)
const LINE_END = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n')
const HEAD = fc.oneof(
  { weight: 3, arbitrary: PLAIN_FROM.map(from => `${from}\r\n`) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(fc.oneof(FROM, PLAIN_FROM, OTHER), LINE_END), { minLength: 1, maxLength: 6 })
      .map(lines => lines.flat().join('')),
  },
)

const domainOf = (address: string) =>
  domainToASCII(address.slice(address.lastIndexOf('@') + 1)).replace(/\.$/, '')

/**
 * Judges header sections at random. Asserts that a message passes DMARC only for the domain of the one author
 * that is shown, that mailauth reads no other domain there, and that the field is an address list.
 *
 * @returns the number of messages that passed, and of those that named several authors or none
 */
export async function judgeForgedMail(count: number): Promise<{ passed: number; refused: number }> {
  const judge = judgeBy(RESOLVER)
  const evil = envelope({ mailFrom: 'z@evil.test' })
  let passed = 0
  let refused = 0
  await fc.assert(
    fc.asyncProperty(HEAD, async head => {
      const bytes = Buffer.from(`${head}\r\nbody\r\n`, 'latin1')
      const { detail, dmarc } = await judge(mailOf(bytes, bytes.length), evil)
      if (detail.dmarc.result === 'permerror') refused += 1
      if (dmarc !== 'PASS') return
      passed += 1
      const { from } = readMail(bytes)
      assert.is(from.length, 1, JSON.stringify(from))
      const shown = domainOf(from[0]!.address)
      assert.match(shown, /^(?:.+\.)?evil\.test$/)
      assert.is(domainOf(detail.dmarc.domain!), shown)
      const { headerFrom } = await dkimVerify(bytes, { resolver: async () => [] })
      assert.ok(headerFrom.length > 0)
      for (const address of headerFrom) assert.is(domainOf(address), shown)
      const value = readHead(bytes).head.raw('from')!
      assert.ok(isAddressList(value), value)
    }),
    { numRuns: count },
  )
  return { passed, refused }
}
