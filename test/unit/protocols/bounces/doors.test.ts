import * as assert from 'uvu/assert'
import { classify } from '../../../../src/protocols/bounces/classify.ts'
import { suite } from '../../../kit/suite.ts'
import { FACTS, type Row, rowsOf, saidInReport, saidLive, type WhatItMeans } from './doors.ts'
import { readLine } from './replies.ts'

const test = suite('bounces/doors')

/** Classes that say what the row means, beside `unknown`; a hard one is told by its verdict. */
const FITTING: Record<Exclude<WhatItMeans, 'hard'>, readonly string[]> = {
  full: ['mailbox-full'],
  sender: ['sender', 'authentication', 'policy', 'content'],
  host: ['policy', 'blocked', 'no-route', 'sender'],
  content: ['content', 'spam', 'attachment', 'sender', 'policy'],
  policy: ['policy', 'blocked', 'sender', 'content', 'spam', 'attachment'],
  soft: ['greylisted', 'rate-limited', 'policy', 'no-route', 'invalid-recipient'],
}
const MISSED_MAX = 0.03

for (const table of ['tuned.txt', 'held-back.txt', 'further.txt', 'fresh.txt']) {
  const rows = rowsOf(table)
  const hard = rows.filter(({ meaning }) => meaning === 'hard')

  test(`${table}: no reply about anything else suppresses the address, at either door`, () => {
    for (const row of rows.filter(({ meaning }) => meaning !== 'hard'))
      assert.equal([saidLive(row).isHard, saidInReport(row).isHard], [false, false], row.line)
  })

  test(`${table}: at most three in a hundred replies about a missing mailbox are missed`, () => {
    const missed = hard.filter(row => !saidLive(row).isHard)
    assert.ok(missed.length <= hard.length * MISSED_MAX, missed.map(({ line }) => line).join('\n'))
  })

  test(`${table}: a reply means the same from a host and in a report`, () => {
    for (const row of rows) {
      const [live, reported] = [saidLive(row), saidInReport(row)]
      assert.is(reported.isHard, live.isHard, row.line)
      // A report has more words, by which it can tell what the reply alone does not.
      if (live.class !== 'unknown') assert.is(reported.class, live.class, row.line)
    }
  })

  test(`${table}: the class says why a good address got no mail`, () => {
    const other = rows.filter(({ meaning }) => meaning !== 'hard').filter(row => !fits(row))
    assert.ok(other.length <= rows.length * MISSED_MAX, other.map(({ line }) => line).join('\n'))
  })
}

function fits(row: Row): boolean {
  const text = saidLive(row).class
  return text === 'unknown' || FITTING[row.meaning as keyof typeof FITTING].includes(text)
}

test('the tables are as large as they were meant to be, in eleven languages, and say nothing twice', () => {
  const [tuned, heldBack, ...further] = ['tuned.txt', 'held-back.txt', 'further.txt', 'fresh.txt'].map(rowsOf)
  assert.ok(tuned!.length >= 200 && heldBack!.length >= 80, `${tuned!.length} ${heldBack!.length}`)
  const lines = [...tuned!, ...heldBack!, ...further.flat()].map(({ line }) => line)
  assert.is(new Set(lines).size, lines.length)
})

test('an address or a domain that is ours is not the recipient, whatever is said of it', () => {
  for (const [line, isHard] of [
    ['550 5.1.1 <bob@there.test>: user unknown', true],
    ['550 5.1.1 <ann@acme.example>: user unknown', false],
    ['550 <ann@acme.example>: no such mailbox', false],
    ['550 mailbox ann@acme.example does not exist', false],
    ['550 mailbox BOB@There.Test does not exist', true],
    ['550 <b.1@bounce.acme.example> unknown', false],
    ['550 <bob@there.test>: Recipient address rejected: Domain acme.example not found', false],
    ['550 <bob@there.test>: Recipient address rejected: Domain there.test not found', true],
    ['550 5.1.2 Domain bounce.acme.example does not exist', false],
    ['550 5.1.2 Domain there.test does not exist', true],
    ['550 mail.acme.example: no such host', false],
  ] as const)
    for (const door of [saidLive, saidInReport])
      assert.is(door({ meaning: 'hard', phase: 'rcpt', line }).isHard, isHard, line)
})

test('a mailbox that a look-up of our address has not found is not the recipient', () => {
  for (const [line, isHard] of [
    ['550 5.1.1 Callout verification of postmaster@acme.example failed: no such mailbox', false],
    ['550 We called your server back for <ann@acme.example> and were told: no such user', false],
    ['550 5.1.1 SMTP probe of abuse@acme.example: recipient does not exist', false],
    ['550 Verifikation von postmaster@acme.example fehlgeschlagen: Postfach existiert nicht', false],
    ["550 La verification de l'adresse ann@acme.example a echoue: utilisateur inconnu", false],
    ['550 5.1.1 Check of <> to ann@acme.example failed: 550 no mailbox here by that name', false],
    ['550 5.1.1 Callout verification of bob@there.test failed: no such mailbox', true],
    ['550 5.1.1 Recipient verify failed: no such user here', true],
  ] as const)
    for (const door of [saidLive, saidInReport])
      assert.is(door({ meaning: 'hard', phase: 'rcpt', line }).isHard, isHard, line)
})

test('a mailbox that was closed for good is hard', () => {
  for (const line of [
    '550 Account bob was shut down for good',
    '550 5.1.1 The mailbox bob@there.test has been wound up for good',
    '550 mailbox closed forever',
  ])
    for (const door of [saidLive, saidInReport])
      assert.is(door({ meaning: 'hard', phase: 'rcpt', line }).isHard, true, line)
})

test('an address probe that did not reach the mailbox is never hard', () => {
  for (const why of [
    'connect to mx2.there.test[192.0.2.9]:25: Connection timed out',
    'connect to mx2.there.test[2001:db8::9]:25: No route to host',
    'conversation with mx2.there.test[192.0.2.9] timed out while sending RCPT TO',
    'lost connection with mx2.there.test[192.0.2.9] while receiving the initial server greeting',
    'Host or domain name not found. Name service error for name=there.test type=MX: Host not found, try again',
  ])
    for (const door of [saidLive, saidInReport])
      assert.is(
        door({
          ...{ meaning: 'host', phase: 'rcpt' },
          line: `550 5.1.1 <bob@there.test>: Recipient address rejected: unverified address: ${why}`,
        }).isHard,
        false,
        why,
      )
})

for (const [line, isHard] of [
  ['550 5.0.0 User does not accept mail from unknown senders', false],
  ['550 Address of sending server not found in DNS', false],
  ['554 5.7.1 The From domain does not exist', false],
  ['550 Invalid address in header From', false],
  ['554 5.7.1 Mailbox for this recipient is inactive for security reasons, retry in 24 hours', false],
  ['551 <bob@there.test> is a deactivated mailbox', true],
  ['550 5.2.0 Boite du destinataire archivee. Archived recipient. OFR_417', true],
  ['550 Employee no longer with the company', true],
  ['550 No MX found for domain there.test', true],
] as const)
  test(`${line}: ${isHard ? 'the mailbox is gone' : 'nobody is blamed'}, at either door`, () => {
    for (const door of [saidLive, saidInReport])
      assert.is(door({ meaning: 'hard', phase: 'rcpt', line }).isHard, isHard)
  })

test('a status code is evidence where the words say nothing else', () => {
  for (const [line, blamesAddress] of [
    ['550 5.1.1 delivery is not possible', true],
    ['550 5.1.1', true],
    ['550 5.2.1 no', true],
    ['550 5.1.1 the sender does not exist', false],
    ['550 5.1.1 please come back in 24 hours', false],
    ['550 5.2.1 your server is unknown', false],
  ] as const)
    assert.is(classify({ phase: 'rcpt', ...readLine(line), facts: FACTS }).blamesAddress, blamesAddress, line)
})

test.run()
