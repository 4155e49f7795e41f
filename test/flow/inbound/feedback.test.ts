import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWireId } from '../../../src/lib/ids.ts'
import { unsubscribeAddress } from '../../../src/pipeline/tracking/email-links.ts'
import { createMailToken, createUnsubscribeToken } from '../../../src/pipeline/tracking/unsubscribe-token.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, secretsOf, startMailhorn } from '../../kit/mailhorn.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('feedback')
const DAY_MS = 24 * 3_600_000
const ZONE = `
  there.example       MX 10 mx.there.example
  mx.there.example    A 127.0.0.2
`

let mx: FakeMx
let mailhorn: Mailhorn
let counter = 0

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('quiet.example', 'eu-west-1')
  const { id } = await mailhorn.verifiedDomain('mute.example')
  await mailhorn.call('PATCH', `/domains/${id}`, {
    session: await mailhorn.signIn(),
    body: { receiving: false },
  })
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

interface Sent {
  id: string
  recipient: string
  /** Address for bounces of the email. */
  returnPath: string
  /** Its head, as the recipient's host got it. */
  head: string
}

/** An email that its recipient's host has taken. */
async function delivered(from = 'ann@here.example'): Promise<Sent> {
  const recipient = `ok${++counter}@there.example`
  const id = await mailhorn.send({ from, to: recipient, subject: `mail ${counter}`, text: 'hi' })
  const { mailFrom, data } = await until(() => mx.messages.find(({ rcptTo }) => rcptTo.includes(recipient)))
  const quiet = from.endsWith('quiet.example')
  await mailhorn.emailWhen(id, quiet ? 'sent' : 'delivered')
  await until(
    () => mailhorn.rows("select 1 from deliveries where status = 'delivered' and address = ?", recipient)[0],
  )
  return { id, recipient, returnPath: mailFrom, head: data.toString('latin1').split('\r\n\r\n')[0]! }
}

const send = (to: string, data: string, from = '') =>
  sendMail(mailhorn.app.inboundAddress!, { to, data, from })

/** Sends it and waits until it has been read. @returns what came of it */
async function report(to: string, data: string, from?: string): Promise<string> {
  const before = readCount()
  assert.match(await send(to, data, from), /^250 /)
  await until(() => readCount() > before)
  const [row] = mailhorn.rows<{ effect: string }>('select effect from reports order by id desc limit 1')
  return row!.effect
}

function readCount(): number {
  return mailhorn.rows('select 1 from reports where state = 1').length
}

function bounce({
  status = '5.1.1',
  action = 'failed',
  answerText = '550 5.1.1 no such user',
  recipient = 'x@there.example',
} = {}) {
  return `From: MAILER-DAEMON@mx.there.example
To: whom@it.concerns.example
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

It could not be delivered.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.there.example

Final-Recipient: rfc822; ${recipient}
Action: ${action}
Status: ${status}
Remote-MTA: dns; inner.there.example
Diagnostic-Code: smtp; ${answerText}

--b--
`
}

function complaint(head: string, type = 'abuse') {
  return `From: fbl@there.example
To: fbl@mailhorn.test
Subject: complaint
Content-Type: multipart/report; report-type=feedback-report; boundary=b

--b
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: there/1
Version: 1

--b
Content-Type: message/rfc822

${head}

hi
--b--
`
}

function types(email: { events: { type: string }[] }): string[] {
  return email.events.map(({ type }) => type.replace('email.', ''))
}

function suppressedFor(address: string): string | undefined {
  return mailhorn.rows<{ reason: string }>('select reason from suppressions where email = ?', address)[0]
    ?.reason
}

/** A recipient who is a contact, too, with the address by which it leaves. */
async function listedRecipient() {
  const session = await mailhorn.signIn()
  const { id, recipient } = await delivered()
  const { body: audience } = await mailhorn.call('POST', '/audiences', { session, body: { name: 'Readers' } })
  const contacts = `/audiences/${audience.id}/contacts`
  await mailhorn.call('POST', contacts, { session, body: { email: recipient } })
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const emailId = parseWireId('eml', id)!
  const secrets = secretsOf(mailhorn)
  return {
    emailId,
    to: unsubscribeAddress(createMailToken(secrets, { emailId, ordinal: 0 }), 'here.example'),
    token: createUnsubscribeToken(secrets, {
      ...{ accountId: parseWireId('acc', account.id)!, address: recipient, topicId: null, broadcastId: null },
    }),
    isUnsubscribed: async () =>
      (await mailhorn.call('GET', `${contacts}/${recipient}`, { session })).body.unsubscribed,
  }
}

const letter = (subject: string, more = '') =>
  `From: somebody@there.example\nTo: whom@it.concerns.example\nSubject: ${subject}\n${more}\nplease\n`

test('mail to the unsubscribe address of an email unsubscribes its recipient, whoever sends it and whatever it says', async () => {
  const { to, isUnsubscribed } = await listedRecipient()
  assert.is(await report(to.toUpperCase(), letter('unsubscribe'), 'alias@elsewhere.example'), 'unsubscribed')
  assert.is(await isUnsubscribed(), true)
  assert.is(await report(to, letter('unsubscribe'), 'alias@elsewhere.example'), 'repeated')
})

test('what programs send by themselves unsubscribes nobody', async () => {
  const { to, isUnsubscribed } = await listedRecipient()
  assert.is(
    await report(to, letter('out of office', 'Auto-Submitted: auto-replied\n'), 'a@b.example'),
    'nothing-to-do',
  )
  assert.is(await report(to, letter('Undelivered'), ''), 'nothing-to-do')
  assert.is(await isUnsubscribed(), false)
})

test('when the email is gone, the subject that its link has brought along still says who it is', async () => {
  const { to, token, emailId, isUnsubscribed } = await listedRecipient()
  mailhorn.change('delete from deliveries where email_id = ?', emailId)
  mailhorn.change('delete from emails where id = ?', emailId)
  assert.is(await report(to, letter('unsubscribe'), 'a@b.example'), 'unknown-delivery')
  const altered = (token.startsWith('x') ? 'y' : 'x') + token.slice(1)
  assert.is(await report(to, letter(altered), 'a@b.example'), 'unknown-delivery')
  assert.is(await isUnsubscribed(), false)
  assert.is(await report(to, letter(`Re: ${token}`), 'a@b.example'), 'unsubscribed')
  assert.is(await isUnsubscribed(), true)
})

test('an unsubscribe address that is not ours is nobody', async () => {
  const { to } = await listedRecipient()
  const altered = to.replace(/.@/, last => (last === 'a@' ? 'b@' : 'a@'))
  assert.match(await send(altered, letter('unsubscribe'), 'a@b.example'), /^550 5\.7\.1 /)
})

test('a late bounce moves a delivered email to bounced, tells of it in full, and suppresses the address', async () => {
  const { id, recipient, returnPath } = await delivered()
  assert.is(await report(returnPath, bounce()), 'bounced')
  const email = await mailhorn.email(id)
  assert.is(email.status, 'bounced')
  assert.is(email.error, '550 5.1.1 no such user (inner.there.example)')
  assert.equal(types(email), ['sent', 'delivered', 'bounced'])
  assert.equal(email.events[2].data.bounce, {
    type: 'Permanent',
    subtype: 'NoEmail',
    class: 'invalid-recipient',
    code: 550,
    enhanced_code: '5.1.1',
    message: '550 5.1.1 no such user',
    mx_host: 'inner.there.example',
  })
  assert.is(suppressedFor(recipient), 'bounce')
})

test('a bounce for another reason than the address suppresses nothing', async () => {
  const { id, recipient, returnPath } = await delivered()
  const full = bounce({ status: '5.2.2', answerText: '552 5.2.2 mailbox full' })
  assert.is(await report(returnPath, full), 'bounced')
  const { status, events } = await mailhorn.email(id)
  assert.is(status, 'bounced')
  assert.equal([events[2].data.bounce.type, events[2].data.bounce.subtype], ['Transient', 'MailboxFull'])
  assert.is(suppressedFor(recipient), undefined)
})

for (const [what, answerText, status] of [
  ['with a diagnostic', '451 4.4.7 delivery time expired', '4.4.7'],
  ['without one', undefined, '4.4.7'],
  ['whose status is permanent', 'QUEUE.Expired; message expired', '5.4.7'],
  ['whose domain was not found for now', '450 4.1.2 Domain not found', '4.1.2'],
] as const)
  test(`a report ${what} of mail that was given up for its age is a transient bounce`, async () => {
    const { id, recipient, returnPath } = await delivered()
    const data = bounce({ status, answerText: answerText ?? '' })
    const sent = answerText === undefined ? data.replace(/^Diagnostic-Code:.*\n/m, '') : data
    assert.is(await report(returnPath, sent), 'bounced')
    assert.is((await mailhorn.email(id)).events[2].data.bounce.type, 'Transient')
    assert.is(suppressedFor(recipient), undefined)
  })

test('of a report about several recipients, what it says about the own one counts', async () => {
  const { id, recipient, returnPath } = await delivered()
  const hard = bounce({ recipient: 'gone@there.example' })
  const full = `Final-Recipient: rfc822; ${recipient}
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp; 552 5.2.2 mailbox full
`
  assert.is(await report(returnPath, hard.replace('\n--b--', `\n${full}\n--b--`)), 'bounced')
  assert.is((await mailhorn.email(id)).events[2].data.bounce.class, 'mailbox-full')
  assert.is(suppressedFor(recipient), undefined)
})

test('a delay that the other host reports is told once, and a bounce after it', async () => {
  const { id, returnPath } = await delivered()
  const delay = bounce({
    action: 'delayed',
    status: '4.4.1',
    answerText: '451 4.4.1 inner host does not answer',
  })
  assert.is(await report(returnPath, delay), 'delayed')
  assert.is(await report(returnPath, delay), 'repeated')
  const email = await mailhorn.email(id)
  assert.equal(types(email), ['sent', 'delivered', 'delivery_delayed'])
  assert.equal(email.events[2].data.delay, {
    attempt: 1,
    next_attempt_at: null,
    reply: '451 4.4.1 inner host does not answer',
  })
  assert.is(await report(returnPath, bounce()), 'bounced')
  assert.equal(types(await mailhorn.email(id)).slice(3), ['bounced'])
})

/** A bounce of a message that its attachment names by our header fields. */
const returned = (head: string, about = bounce()) =>
  about.replace('\n--b--', `\n--b\nContent-Type: text/rfc822-headers\n\n${head}\n--b--`)

test('a bounce that comes to the From address counts by our header in what it returns, and stays visible', async () => {
  const { id, recipient, head } = await delivered()
  assert.is(await report('ann@here.example', returned(head)), 'bounced')
  const email = await mailhorn.email(id)
  assert.is(email.status, 'bounced')
  assert.is(email.events[2].data.bounce.class, 'invalid-recipient')
  assert.is(suppressedFor(recipient), 'bounce')
  const { sender } = await until(
    () =>
      mailhorn.rows<{ sender: string }>('select sender from inbound_messages where listed_at is not null')[0],
  )
  assert.is(sender, '')
  assert.is(await report('ann@here.example', returned(head)), 'repeated')
})

test('a bounce to the From address without proof changes nothing', async () => {
  const { id, recipient, head } = await delivered()
  const without = head.replace(/^X-Mailhorn-Ref:.*$/m, 'X-Other: x')
  const altered = head.replace(
    /^(X-Mailhorn-Ref: .{30})(.)/m,
    (_, begin, letter) => begin + (letter === 'a' ? 'b' : 'a'),
  )
  assert.is(await report('ann@here.example', bounce({ recipient })), 'unknown-delivery')
  assert.is(await report('ann@here.example', returned(without)), 'unknown-delivery')
  assert.is(await report('ann@here.example', returned(altered)), 'unknown-delivery')
  assert.is(await report('bob@quiet.example', returned(head)), 'unknown-delivery')
  assert.is(await report('ann@here.example', complaint(head)), 'unknown-delivery')
  const before = mailhorn.rows('select 1 from reports').length
  assert.match(await send('ann@here.example', returned(head), 'mallory@there.example'), /^250 /)
  assert.is(mailhorn.rows('select 1 from reports').length, before)
  assert.equal(types(await mailhorn.email(id)), ['sent', 'delivered'])
  assert.is(suppressedFor(recipient), undefined)
})

test('what a person writes to the return path is received by the From address', async () => {
  const { returnPath } = await delivered('Shop <shop@here.example>')
  const letter = `From: Pat <pat@there.example>\nTo: ${returnPath}\nSubject: Re: Your order\n\nplease call me\n${`${'x'.repeat(998)}\n`.repeat(1_500)}`
  assert.is(await report(returnPath, letter, 'pat@there.example'), 'passed-on')
  const session = await mailhorn.signIn()
  const row = await until(async () => {
    const { body } = await mailhorn.call('GET', '/inbound', { session })
    return body.data.find(({ subject }: { subject: string }) => subject === 'Re: Your order')
  })
  assert.is(row.from, 'Pat <pat@there.example>')
  const [{ recipients }] = mailhorn.rows<{ recipients: string }>(
    "select recipients from inbound_messages where sender = 'pat@there.example'",
  ) as [{ recipients: string }]
  assert.equal(JSON.parse(recipients), ['shop@here.example'])
  const [remaining] = mailhorn.rows<{ sent: number; size: number }>(
    "select inbound_messages.size_bytes as sent, blobs.size_bytes as size from inbound_messages join blobs on hash = raw_hash where sender = 'pat@there.example'",
  )
  assert.ok(Number(remaining!.size) > 1_500_000)
  assert.is(Number(remaining!.size), Number(remaining!.sent))
})

for (const [what, data] of [
  [
    'an automatic reply',
    'From: pat@there.example\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nAway.\n',
  ],
  [
    'a receipt',
    'From: pat@there.example\nSubject: Read\nContent-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\nContent-Type: message/disposition-notification\n\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n',
  ],
  [
    'an answer of a calendar',
    'From: pat@there.example\nSubject: Accepted: lunch\nContent-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR\n',
  ],
] as const)
  test(`${what} at a return path is not received as mail`, async () => {
    const { returnPath } = await delivered()
    const before = mailhorn.rows('select 1 from inbound_messages').length
    assert.is(await report(returnPath, data, 'pat@there.example'), 'nothing-to-do')
    assert.is(mailhorn.rows('select 1 from inbound_messages').length, before)
  })

test('what a person writes to the return path of a domain that receives nothing is not passed on', async () => {
  const { returnPath } = await delivered('ann@mute.example')
  const letter = 'From: pat@there.example\nSubject: hello\n\nplease call me\n'
  assert.is(await report(returnPath, letter, 'pat@there.example'), 'nothing-to-do')
})

test('a complaint counts by our header in what it returns, once, and suppresses the address', async () => {
  const { id, recipient, head } = await delivered()
  assert.is(await report('fbl@mailhorn.test', complaint(head), 'fbl@there.example'), 'complained')
  assert.is(await report('fbl@mailhorn.test', complaint(head), 'fbl@there.example'), 'repeated')
  const email = await mailhorn.email(id)
  assert.is(email.status, 'complained')
  assert.equal(types(email), ['sent', 'delivered', 'complained'])
  assert.equal(email.events[2].data, { complaint: { type: 'abuse' } })
  assert.is(suppressedFor(recipient), 'complaint')
})

test('where a region gives no feedback, nothing is told, and a hard bounce still suppresses', async () => {
  const { id, recipient, returnPath } = await delivered('ann@quiet.example')
  assert.is(await report(returnPath, bounce()), 'bounced')
  const email = await mailhorn.email(id)
  assert.is(email.status, 'sent')
  assert.equal(types(email), ['sent'])
  assert.is(suppressedFor(recipient), 'bounce')
})

const NO_NEWS: Record<string, string> = {
  'an automatic reply': `From: ann@there.example\nSubject: Out of office\nAuto-Submitted: auto-replied\n\nI am away. 550 5.1.1 no such user\n`,
  'a success report': bounce({ action: 'delivered', status: '2.0.0', answerText: '250 ok' }),
  'word that it is no spam': complaint('Subject: x', 'not-spam'),
  'a letter of somebody': 'From: ann@there.example\nSubject: Re: mail\n\nThank you!\n',
}
for (const [what, data] of Object.entries(NO_NEWS))
  test(`${what} at a return path changes nothing, and is kept`, async () => {
    const { id, returnPath } = await delivered()
    assert.is(await report(returnPath, data), 'nothing-to-do')
    assert.equal(types(await mailhorn.email(id)), ['sent', 'delivered'])
  })

test('what a report says of its recipient and of other messages decides nothing', async () => {
  const other = await delivered()
  const { id, recipient, returnPath } = await delivered()
  const forged = bounce({ recipient: other.recipient }).replace(
    '--b--',
    `--b\nContent-Type: text/rfc822-headers\n\n${other.head}\n--b--`,
  )
  assert.is(await report(returnPath, forged), 'bounced')
  assert.is((await mailhorn.email(id)).status, 'bounced')
  assert.is((await mailhorn.email(other.id)).status, 'delivered')
  assert.equal([suppressedFor(recipient), suppressedFor(other.recipient)], ['bounce', undefined])
})

test('a bounce at the feedback loop, and a complaint there without our header, change nothing', async () => {
  const { id, head, returnPath } = await delivered()
  const without = head.replace(/^X-Mailhorn-Ref:.*$/m, 'X-Other: x')
  assert.is(await report('fbl@mailhorn.test', complaint(without)), 'unknown-delivery')
  assert.is(
    await report('fbl@mailhorn.test', bounce().replace('It could', `${head}\n\nIt could`)),
    'unknown-delivery',
  )
  const altered = head.replace(
    /^(X-Mailhorn-Ref: .{30})(.)/m,
    (_, begin, letter) => begin + (letter === 'a' ? 'b' : 'a'),
  )
  assert.is(await report('fbl@mailhorn.test', complaint(altered)), 'unknown-delivery')
  // A token of the return path is none of the header.
  const token = returnPath.slice(2, returnPath.indexOf('@'))
  const swapped = head.replace(/^X-Mailhorn-Ref:.*$/m, `X-Mailhorn-Ref: ${token}`)
  assert.is(await report('fbl@mailhorn.test', complaint(swapped)), 'unknown-delivery')
  assert.equal(types(await mailhorn.email(id)), ['sent', 'delivered'])
})

test('guessed tokens, foreign addresses and the header’s token are refused at RCPT', async () => {
  const { id, returnPath, head } = await delivered()
  const before = mailhorn.rows('select 1 from reports').length
  const [, token = ''] = /^b\+(.*)@/.exec(returnPath)!
  const flipped = token.slice(0, -2) + (token.at(-2) === 'a' ? 'b' : 'a') + token.slice(-1)
  const correlation = /^X-Mailhorn-Ref: (\S+)/m.exec(head)![1]!
  const refused = [
    returnPath.replace(token, flipped),
    returnPath.replace(token, 'a'.repeat(token.length)),
    returnPath.replace(token, correlation),
    returnPath.replace('send.here', 'elsewhere'),
    `b+@send.here.example`,
    `u+${token}@send.here.example`,
    'ann@elsewhere.example',
    'ann@mailhorn.test',
    'fbl@elsewhere.example',
    'postmaster@elsewhere.example',
    'delivered@simulator.test',
    'x%there.example@mailhorn.test',
  ]
  for (const address of refused) assert.match(await send(address, bounce()), /^550 5\.7\.1 /, address)
  assert.is(mailhorn.rows('select 1 from reports').length, before)
  assert.equal(types(await mailhorn.email(id)), ['sent', 'delivered'])
})

test('a token is read in any case, and is good for thirty days', async () => {
  const { id, returnPath } = await delivered()
  mailhorn.clock.jump(29 * DAY_MS)
  assert.is(await report(returnPath.toUpperCase(), bounce()), 'bounced')
  assert.is((await mailhorn.email(id)).status, 'bounced')
  const later = await delivered()
  mailhorn.clock.jump(32 * DAY_MS)
  assert.match(await send(later.returnPath, bounce()), /^550 5\.7\.1 /)
  assert.is(await report('fbl@mailhorn.test', complaint(later.head)), 'unknown-delivery')
})

test('what was taken and not read before a stop is read after it, and what was recorded then is not recorded again', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const first = await startMailhorn({ zone: ZONE, mxPort: mx.port, dataDir })
  const mail = 'From: ann@there.example\nSubject: hello\n\nhi\n'
  await sendMail(first.app.inboundAddress!, { to: 'postmaster@mailhorn.test', data: mail })
  await until(() => first.rows('select 1 from reports where state = 1')[0])
  first.change('update reports set state = 0, effect = null, kind = null')
  await first.close()
  const second = await t.using(startMailhorn({ zone: ZONE, mxPort: mx.port, dataDir }))
  const row = await until(() => second.rows('select kind, effect from reports where state = 1')[0])
  assert.equal(row, { kind: 'mail', effect: 'nothing-to-do' })
})

test('a report that cannot be read is kept with its fault, and stands in nobody’s way', async () => {
  assert.is(await report('postmaster@mailhorn.test', 'Subject: one\n\nhi\n'), 'nothing-to-do')
  mailhorn.change('update reports set state = 0, blob_hash = ? where state = 1', Buffer.alloc(32))
  const { id, returnPath } = await delivered()
  assert.match(await send(returnPath, bounce()), /^250 /)
  await mailhorn.emailWhen(id, 'bounced')
  const [lost] = mailhorn.rows<{ effect: string; fault: string }>(
    'select effect, fault from reports where fault is not null limit 1',
  )
  assert.is(lost!.effect, 'unreadable')
  assert.match(lost!.fault, /no blob/)
})

test.run()
