import * as assert from 'uvu/assert'
import {
  streamWithOwnFields,
  withOwnFields,
} from '../../../../../src/pipeline/inbound/verdicts/strip-auth-results.ts'
import { fc } from '../../../../kit/property.ts'
import { openSmallHeap } from '../../../../kit/small-heap.ts'
import { suite } from '../../../../kit/suite.ts'
import { mailOf } from './scene.ts'

const test = suite('verdicts/claims')
const HOST = 'mail.mailhorn.test'

const without = (text: string, host = HOST) =>
  Buffer.concat([...withOwnFields(Buffer.from(text, 'latin1'), host, '')]).toString('latin1')
const REST = 'Subject: Hello\r\n\r\nAuthentication-Results: mail.mailhorn.test; this is text\r\n'

const CLAIMS = [
  'Authentication-Results: mail.mailhorn.test; dkim=pass',
  'authentication-RESULTS:mail.mailhorn.test;dkim=pass',
  'Authentication-Results : mail.mailhorn.test; none',
  'Authentication-Results\t: mail.mailhorn.test; none',
  'Authentication-Results: MAIL.Mailhorn.TEST; none',
  'Authentication-Results: mail.mailhorn.test 1; none',
  'Authentication-Results: mail.mailhorn.test. ; none',
  'Authentication-Results: "mail.mailhorn.test"; none',
  'Authentication-Results: "mail\\.mailhorn.test"; none',
  'Authentication-Results: (by (us)) mail.mailhorn.test; none',
  'Authentication-Results: (\\) mail.other.test) mail.mailhorn.test; none',
  'Authentication-Results: mail.mailhorn.test(comment); none',
  'Authentication-Results:\r\n mail.mailhorn.test;\r\n\tspf=pass',
  'Authentication-Results\r\n : mail.mailhorn.test; none',
  'Authentication-Results: (never ended mail.mailhorn.test; none',
  'Authentication-Results: "never ended mail.mailhorn.test; none',
  'Authentication-Results: ; mail.mailhorn.test',
  'Authentication-Results: =?utf-8?q?mail=2Emailhorn.test?=; dkim=pass',
  'Authentication-Results: =?us-ascii?B?bWFpbC5tYWlsaG9ybi50ZXN0OyBka2ltPXBhc3M=?=',
]
for (const claim of CLAIMS)
  test(`taken out: ${JSON.stringify(claim)}`, () => {
    assert.is(without(`${claim}\r\n${REST}`), REST)
    assert.is(without(`X: 1\r\n${claim}\r\n${REST}`), `X: 1\r\n${REST}`)
    assert.is(without(`${claim}\n${REST.replaceAll('\r', '')}`), REST.replaceAll('\r', ''))
  })

const OTHERS = [
  'Authentication-Results: mail.other.test; dkim=pass',
  'Authentication-Results: (mail.mailhorn.test) mail.other.test; none',
  'Authentication-Results: x.mail.mailhorn.test; none',
  'Authentication-Results: mail.other.test; dkim=pass header.d=mail.mailhorn.test',
  'Authentication-Results: "",mail.other.test; none',
  'Authentication-Results: =?utf-8?q?mail=2Eother.test?=; dkim=pass',
  'Authentication-Results:',
  'X-Authentication-Results: mail.mailhorn.test; none',
  'ARC-Authentication-Results: i=1; mail.mailhorn.test; none',
  'mail.mailhorn.test; none',
]
for (const other of OTHERS)
  test(`left as it is: ${JSON.stringify(other)}`, () => {
    assert.is(without(`${other}\r\n${REST}`), `${other}\r\n${REST}`)
  })

test('a name of other letters is the same in either spelling', () => {
  const field = 'Authentication-Results: post.müller.test; none\r\n'
  const bytes = [...withOwnFields(Buffer.from(`${field}\r\n`), 'post.xn--mller-kva.test', '')]
  assert.is(Buffer.concat(bytes).toString(), '\r\n')
})

test('what we say ourselves stands on top, and is the only return path', () => {
  const own = `Return-Path: <ann@x.example>\r\nAuthentication-Results: ${HOST};\r\n spf=pass\r\n`
  const forged = `Return-Path: <ceo@bank.example>\r\nAuthentication-Results: ${HOST}; none\r\nRETURN-PATH :\r\n <>\r\n`
  const pieces = withOwnFields(Buffer.from(forged + REST), HOST, own)
  assert.is(Buffer.concat([...pieces]).toString(), own + REST)
})

test('a field that is too long to be read is taken for a claim', () => {
  const field = `Authentication-Results: (${'x'.repeat(70_000)}) mx.there.test; none\r\n`
  assert.is(without(`${field}${REST}`), REST)
})

test('a head of millions of fields is handed over within a small heap', async t => {
  const heap = await t.using(openSmallHeap())
  const sizeBytes = 60_000_000
  const facts = await heap.read({ reader: 'download', message: 'a head of fields', sizeBytes })
  assert.ok(facts.sizeBytes! > sizeBytes - 1_000)
})

test('piece by piece it is the same, wherever the pieces end, whatever the bytes are', async () => {
  const line = fc.constantFrom(...CLAIMS, ...OTHERS, 'Subject: x', ' more', '', '\r', 'no field')
  const end = fc.constantFrom('\r\n', '\n')
  const message = fc.array(fc.tuple(line, end), { maxLength: 8 }).map(lines => lines.flat().join(''))
  const bytes = fc.oneof(
    message.map(text => Buffer.from(text)),
    fc.uint8Array({ maxLength: 60 }),
  )
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), async (whole, pieceBytes) => {
      const got = await Array.fromAsync(streamWithOwnFields(mailOf(whole, pieceBytes).read(), HOST, ''))
      assert.equal(Buffer.concat(got), Buffer.concat([...withOwnFields(whole, HOST, '')]))
    }),
  )
})

test('without a claim every byte stays, and no claim is left to be found', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...OTHERS, 'A: b', ' c', '\u00e9')), lines => {
      const text = `${lines.join('\r\n')}\r\n\r\nbody`
      assert.is(without(text), text)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...OTHERS, ...CLAIMS)), lines => {
      const left = without(`${lines.join('\r\n')}\r\n\r\nbody`)
      assert.is(without(left), left)
      assert.is(
        CLAIMS.some(claim => left.includes(`\r\n${claim}\r\n`) || left.startsWith(`${claim}\r\n`)),
        false,
      )
    }),
  )
})

test('a reader that stops early lets go of the message', async () => {
  let ended = false
  async function* pieces() {
    try {
      for (;;) yield Buffer.from('Subject: x\r\n\r\n')
    } finally {
      ended = true
    }
  }
  for await (const _ of streamWithOwnFields(pieces(), HOST, '')) break
  assert.ok(ended)
})

test.run()
