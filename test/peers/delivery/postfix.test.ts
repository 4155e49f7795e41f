import { Resolver } from 'node:dns/promises'
import { join } from 'node:path'
import { authenticate } from 'mailauth'
import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { type Postfix, startPostfix } from '../../kit/postfix.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { readers, readWithMailparser } from '../../unit/protocols/mime/readers.ts'
import { runPython, temporaryFolder, writeMessages } from '../mail-format/tools.ts'

const test = suite('peers: Postfix as the MX of the recipient')
const PACKAGES = 'python3-dkim, python3-nacl and python3-dnspython'
const ZONE = `
  there.example        MX 10 mx.there.example
  mx.there.example     A 127.0.0.3
  _dmarc.here.example  TXT "v=DMARC1; p=reject; adkim=s; aspf=r"
`
let postfix: Postfix
let mailhorn: Mailhorn
let resend: Resend
test.before(async () => {
  postfix = await startPostfix({
    host: '127.0.0.3',
    domain: 'there.example',
    mailboxes: ['ann', 'bob'],
    settings: ['message_size_limit = 3000000'],
  })
  mailhorn = await startMailhorn({
    dns: true,
    zone: ZONE,
    mxPort: postfix.port,
    env: { MAILHORN_DNS_ADDRESSES: '127.0.0.1' },
  })
  await mailhorn.verifiedDomain('here.example')
  resend = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
})
test.after(async () => {
  await mailhorn?.close()
  await postfix?.close()
})

const SUBJECT = 'Everything 😀 in one long subject that has to be folded because it is longer than a line'
const MAIL = { from: 'Émile <emile@here.example>', to: 'ann@there.example', subject: 'Hello', text: 'Hello' }

async function sent(email: Parameters<Resend['emails']['send']>[0]): Promise<string> {
  const { data, error } = await resend.emails.send(email)
  if (!data) throw new Error(`it was refused: ${JSON.stringify(error)}`)
  return data.id
}

/** The verdict of dkimpy on each signature, with the keys from our name servers. */
async function dkimpy(t: TestContext, message: Buffer): Promise<string[]> {
  const folder = await temporaryFolder(t)
  await writeMessages(folder, [message])
  const script = new URL('./verify_over_dns.py', import.meta.url).href
  return (await runPython(script, [join(folder, '0.eml'), mailhorn.zone.server], PACKAGES)) as string[]
}

/** Verifies a message as a receiver does: SPF, DKIM and DMARC, over our DNS. */
async function verdicts(message: Buffer) {
  const resolver = new Resolver()
  resolver.setServers([mailhorn.zone.server])
  const [, sender] = /^Return-Path: <(.*)>/m.exec(message.toString('latin1'))!
  const { spf, dkim, dmarc } = await authenticate(message, {
    ip: '127.0.0.1',
    helo: 'mailhorn.test',
    sender: sender!,
    mta: 'mx.there.example',
    resolver: (name: string, type: string) => resolver.resolve(name, type as 'TXT'),
  })
  return {
    spf: spf ? spf.status.result : null,
    dkim: dkim.results.map(({ status, signingDomain }) => `${status.result} ${signingDomain}`),
    dmarc: dmarc ? dmarc.status.result : null,
  }
}

test('a message with everything arrives over TLS and is what was sent', async () => {
  const picture = Buffer.from(Uint8Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256))
  const text = `Grüße,\n.\n..leading dots\nFrom the start\n${'long '.repeat(300)}\ntrailing blank \n\tEnd`
  const id = await sent({
    ...MAIL,
    to: ['Ann <ann@there.example>'],
    cc: ['bob@there.example'],
    replyTo: 'replies@here.example',
    subject: 'Everything 😀 in one long subject that has to be folded because it is longer than a line',
    html: `<p>${text}</p>`,
    text,
    headers: { 'X-Entity-Ref-ID': 'ref-1' },
    attachments: [
      { filename: 'Bild – ü.png', content: picture },
      { filename: 'note.txt', content: Buffer.from('note\r\n') },
    ],
  })
  const raw = await postfix.received('ann', 'X-Entity-Ref-ID')
  for (const [reader, read] of readers) {
    const message = await read(raw)
    assert.equal(message.from, [{ name: 'Émile', address: 'emile@here.example' }], reader)
    assert.equal(message.to, [{ name: 'Ann', address: 'ann@there.example' }])
    assert.equal(message.cc, [{ name: '', address: 'bob@there.example' }])
    assert.equal(message.replyTo, [{ name: '', address: 'replies@here.example' }])
    assert.is(message.subject, SUBJECT)
    assert.equal([message.text?.trimEnd(), message.html?.trimEnd()], [text, `<p>${text}</p>`])
    assert.equal(
      message.attachments.map(({ filename, contentType }) => [filename, contentType]),
      [
        ['Bild – ü.png', 'image/png'],
        ['note.txt', 'text/plain'],
      ],
    )
    assert.ok(message.attachments[0]!.content.equals(picture))
    assert.is(message.attachments[1]!.content.toString(), 'note\r\n')
  }

  const head = raw.toString('latin1').split('\r\n\r\n')[0]!
  assert.match(head, /^Return-Path: <b\+[a-z2-7]+@send\.here\.example>$/m)
  assert.match(head, /^\tby mx\.there\.example \(Postfix\) with ESMTPS id /m)
  assert.match(head, /using TLSv1\.3 /)

  await postfix.received('bob', 'X-Entity-Ref-ID')
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.is((await readWithMailparser(raw)).messageId, email.message_id)
  assert.match(email.recipients[0].reply, /^250 2\.0\.0 Ok: (?:\d+ bytes )?queued as /)
  assert.match(email.recipients[0].transcripts[0].tls, /^TLSv1\.3/)
})

test('dkimpy and mailauth find it signed, aligned and allowed', async t => {
  const subject = 'Signed'
  await sent({
    ...MAIL,
    subject,
    html: '<p>Hello</p>',
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(999) }],
  })
  const message = await postfix.received('ann', `Subject: ${subject}`)
  assert.equal(await dkimpy(t, message), ['pass', 'pass'])
  assert.equal(await verdicts(message), {
    spf: 'pass',
    dkim: ['pass here.example', 'pass here.example'],
    dmarc: 'pass',
  })
})

test('neither does once a letter is changed', async t => {
  const subject = 'Altered'
  await sent({ ...MAIL, subject })
  const message = await postfix.received('ann', `Subject: ${subject}`)
  const altered = Buffer.from(message.toString('latin1').replace(/Hello\r\n$/, 'Hallo\r\n'), 'latin1')
  assert.not(altered.equals(message))
  for (const verdict of await dkimpy(t, altered)) assert.match(verdict, /^fail/)
  const { dkim, dmarc } = await verdicts(altered)
  assert.equal([dkim.map(verdict => verdict.split(' ')[0]), dmarc], [['neutral', 'neutral'], 'pass'])
})

test('an unknown user bounces, and gets no more mail', async () => {
  const mail = { ...MAIL, to: 'nobody@there.example' }
  const email = await mailhorn.emailWhen(await sent(mail), 'bounced')
  assert.match(email.error, /^550 5\.1\.1 .*User unknown.* \(mx\.there\.example\)$/)
  const { bounce } = email.events.at(-1).data
  assert.equal([bounce.type, bounce.code, bounce.enhanced_code], ['Permanent', 550, '5.1.1'])
  assert.is(bounce.class, 'invalid-recipient')
  assert.equal(mailhorn.rows('select email, reason from suppressions'), [
    { email: 'nobody@there.example', reason: 'bounce' },
  ])
  assert.is((await mailhorn.email(await sent(mail))).status, 'suppressed')
})

test('known and unknown users of one message have each their own fate', async () => {
  const id = await sent({
    ...MAIL,
    subject: 'Mixed',
    to: ['ann@there.example', 'missing@there.example', 'bob@there.example'],
  })
  const email = await until(async () => {
    const shown = await mailhorn.email(id)
    return (
      shown.recipients.every(
        ({ attempts, status }: { attempts: number; status: string }) => attempts > 0 && status !== 'sent',
      ) && shown
    )
  })
  assert.equal(
    email.recipients.map(({ status }: { status: string }) => status),
    ['delivered', 'bounced', 'delivered'],
  )
  for (const mailbox of ['ann', 'bob']) await postfix.received(mailbox, 'Subject: Mixed')
})

test('a message that is too large for it bounces, and blames nobody', async () => {
  const before = mailhorn.rows('select email from suppressions')
  const attachments = [{ filename: 'big.bin', content: Buffer.alloc(3_000_000) }]
  const email = await mailhorn.emailWhen(await sent({ ...MAIL, attachments }), 'bounced')
  assert.match(email.error, /^552 5\.3\.4 /)
  assert.equal(mailhorn.rows('select email from suppressions'), before)
})

test('two megabytes arrive byte by byte', async t => {
  const content = Buffer.from(Uint8Array.from({ length: 2_000_000 }, (_, i) => (i * i + i) % 251))
  await sent({ ...MAIL, subject: 'Large', attachments: [{ filename: 'large.bin', content }] })
  const message = await postfix.received('ann', 'Subject: Large')
  const [attachment] = (await readWithMailparser(message)).attachments
  assert.ok(attachment!.content.equals(content))
  assert.equal(await dkimpy(t, message), ['pass', 'pass'])
})

test('a hundred messages at once all arrive, once', async () => {
  const ids = await Promise.all(
    Array.from({ length: 100 }, (_, i) => sent({ ...MAIL, to: 'bob@there.example', subject: `Many ${i}.` })),
  )
  for (const id of ids) await mailhorn.emailWhen(id, 'delivered')
  for (let i = 0; i < ids.length; i++) await postfix.received('bob', `Subject: Many ${i}.`)
  assert.is(postfix.mail('bob').filter(message => message.includes('Subject: Many ')).length, ids.length)
})

test('what it cannot take while it is down it gets when it is back', async t => {
  await postfix.stop()
  const id = await sent({ ...MAIL, subject: 'Later' })
  const delayed = await mailhorn.emailWhen(id, 'delivery_delayed')
  assert.match(delayed.recipients[0].reply, /ECONNREFUSED/)
  assert.equal(
    delayed.events.map(({ type }: { type: string }) => type),
    ['email.sent', 'email.delivery_delayed'],
  )
  await postfix.start()
  mailhorn.clock.advance(70_000)
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(
    email.recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
    ['deferred', 'delivered'],
  )
  const message = await postfix.received('ann', 'Subject: Later')
  assert.match(message.toString('latin1'), new RegExp(`^Message-ID: ${email.message_id}`, 'm'))
  assert.equal(await dkimpy(t, message), ['pass', 'pass'])
})

test('it complained about nothing we did', () => {
  const complaint = /smtpd\[\d+\]: (?:warning|error|.*(?:improper|lost connection|timeout after|too many))/
  const complaints = postfix
    .log()
    .split('\n')
    .filter(line => complaint.test(line))
    .filter(line => !/after CONNECT/.test(line)) // which is how the test sees that it listens
  assert.equal(complaints, [])
})

test.run()
