import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as assert from 'uvu/assert'
import { providerOf } from '../../../../src/pipeline/delivery/destinations/providers.ts'
import { CORRELATION_HEADER } from '../../../../src/pipeline/delivery/message/signed-head.ts'
import { readReport } from '../../../../src/protocols/bounces/read-report.ts'
import type { BounceReport } from '../../../../src/protocols/bounces/report.ts'
import { suite } from '../../../kit/suite.ts'

/**
 * Each mail of `test/golden/reports` beside what it says; recipients in their order, fields as far as given.
 */
const test = suite('reports/read-report')
const folder = join(import.meta.dirname, '../../../golden/reports')
const names = globSync('*.eml', { cwd: folder }).map(name => basename(name, '.eml'))
const options = {
  correlationHeader: CORRELATION_HEADER,
  providerOf: (host: string) => providerOf([host])?.name,
}
const read = (text: string) => readReport(Buffer.from(text), options)

for (const name of names.sort())
  test(name, () => {
    const { recipients, ...expected } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
    const report = readReport(readFileSync(join(folder, `${name}.eml`)), options)
    assert.equal(likeIn(report, expected), expected)
    if (recipients)
      assert.equal(
        report.recipients.map((found, i) => likeIn(found, recipients[i] ?? {})),
        recipients,
      )
  })

/** The fields that the other names. */
function likeIn(found: object, expected: object): object {
  const values = found as Record<string, unknown>
  return Object.fromEntries(Object.keys(expected).map(key => [key, values[key]]))
}

test('the fixtures are as many and of as many systems as they were meant to be', () => {
  const systems = new Set(names.map(name => name.replace(/^\d+-/, '').split('-')[0]))
  assert.ok(names.length >= 250, String(names.length))
  assert.ok(systems.size >= 40, String(systems.size))
})

const NOTICE = `Return-Path: <>
From: MAILER-DAEMON@there.example
Subject: Undelivered Mail Returned to Sender
`

test('when a status names many recipients, then no more than a hundred are read', () => {
  const groups = 'Final-Recipient: rfc822; a@b.example\nAction: failed\nStatus: 5.1.1\n\n'.repeat(5_000)
  const report = read(`${NOTICE}Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n${groups}`)
  assert.is(report.recipients.length, 100)
})

for (const [from, subject, kind] of [
  ['staff@hotmail.com', 'complaint about message from 192.0.2.1', 'complaint'],
  ['staff@live.com', 'Complaint about message from 192.0.2.1', 'complaint'],
  ['staff@hotmail.com', 'Your question', 'mail'],
  ['bob@there.example', 'Complaint about my order', 'mail'],
] as const)
  test(`when a mail from ${from} is about "${subject}", then it is a ${kind}`, () => {
    assert.is(read(`From: ${from}\nSubject: ${subject}\n\nHello\n`).kind, kind)
  })

for (const [failed, kind] of [
  ['', 'auto-reply'],
  ['X-Failed-Recipients: bob@there.example\n', 'bounce'],
  ['X-Failed-Recipients: bob@there.example, carl@there.example\n', 'bounce'],
] as const)
  test(`when a mail has marks of an automatic reply and ${failed.trim() || 'no failed recipients'}, then it is a ${kind}`, () => {
    const report = read(
      `From: Robot <robot@there.example>\nTo: ann@here.example\nSubject: Your message\nX-Autoreply: yes\n` +
        `Auto-Submitted: auto-replied\n${failed}\nYour message could not be delivered: no such user.\n`,
    )
    assert.is(report.kind, kind)
    const named = failed.match(/\w+@\S+\w/g) ?? []
    assert.equal(
      report.recipients.map(({ recipient }) => recipient),
      named,
    )
  })

test('when what is returned is a bounce itself, then it is not what is reported', () => {
  const inner = 'Final-Recipient: rfc822; inner@there.example\nAction: failed\nStatus: 5.1.1'
  const report = read(
    `${NOTICE}Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/rfc822\n\nContent-Type: message/delivery-status\n\n${inner}\n--b--\n`,
  )
  assert.not(report.recipients.some(({ recipient }) => recipient === 'inner@there.example'))
})

test('when the correlation header is folded or encoded, then it is still no other text than was sent', () => {
  const { correlation } = read(
    `${NOTICE}Content-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\n\n--b\nContent-Type: text/rfc822-headers\n\nSubject: x\nX-Mailhorn-Ref:\n  abc234\n--b--\n`,
  )
  assert.is(correlation, 'abc234')
})

for (const [what, status] of [
  ['empty', '--b\nContent-Type: message/delivery-status\n\n\n'],
  [
    'of the message alone',
    '--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; there.example\n\n',
  ],
  ['taken out on the way', ''],
] as const)
  test(`when the status is ${what}, then the words tell, whoever sent them`, () => {
    const { kind, recipients } = read(`From: Somebody <somebody@there.example>
Subject: your mail
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

<gone@there.example>: 550 5.1.1 no such user
${status}--b--
`)
    assert.is(kind, 'bounce')
    assert.equal([recipients[0]!.recipient, recipients[0]!.isHard], ['gone@there.example', true])
  })

const HOSTILE: Record<string, string> = {
  'nothing at all': '',
  'a head without an end': 'X: y',
  'a megabyte of one header': `X: ${'a'.repeat(1_000_000)}`,
  'ten thousand multiparts in each other': Array.from(
    { length: 10_000 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`,
  ).join(''),
  'ten thousand messages in each other': 'Content-Type: message/rfc822\n\n'.repeat(10_000),
  'a hundred thousand parts': `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(100_000)}`,
  'brackets that are no tags': `${NOTICE}Content-Type: text/html\n\n${'<'.repeat(500_000)}`,
  'tags that never end': `${NOTICE}Content-Type: text/html\n\n${'<style>'.repeat(70_000)}`,
  'nothing but at signs': `${NOTICE}\n${'a@'.repeat(250_000)}`,
  'an unknown charset and encoding': `${NOTICE}Content-Type: text/plain; charset=x-none\nContent-Transfer-Encoding: x\n\n\xff\xfe`,
  'names of the language itself': `__proto__: x\nconstructor: y\nContent-Type: text/plain; __proto__=z; constructor=a\n\nhasOwnProperty`,
}
for (const [what, text] of Object.entries(HOSTILE))
  test(`${what}: is read without an error, and is no bounce of anybody`, () => {
    const report: BounceReport = read(text)
    assert.equal(
      report.recipients.filter(({ isHard }) => isHard),
      [],
    )
  })

test.run()
