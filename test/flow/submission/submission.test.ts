import { createTransport, type SentMessageInfo } from 'nodemailer'
import * as assert from 'uvu/assert'
import { FALSE_ENDS } from '../../kit/attack.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

/**
 * Mail programs and libraries hand their mail over by SMTP: it is stored, signed and delivered as that of the
 * API.
 */
const test = suite('submission over SMTP')

const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
  old.example       MX 10 mx.old.example
  mx.old.example    A 127.0.0.3
`

let mx: FakeMx
/** A host without 8BITMIME. */
let oldMx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  oldMx = await startFakeMx({ host: '127.0.0.3', port: mx.port, extensions: ['SIZE 52428800'] })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
    },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
  await oldMx.close()
})

const ports = () => ({
  starttls: mailhorn.app.submission.submission!.port,
  tls: mailhorn.app.submission.submissionTls!.port,
})

function program({ key = mailhorn.apiKey, user = 'resend', tls = false } = {}) {
  return createTransport({
    host: '127.0.0.1',
    port: tls ? ports().tls : ports().starttls,
    secure: tls,
    requireTLS: true,
    auth: { user, pass: key },
    tls: { rejectUnauthorized: false },
  })
}

const idIn = ({ response }: SentMessageInfo): string =>
  /^250 2\.0\.0 Ok: queued as (eml_\S+)$/.exec(response ?? '')?.[1] ?? ''

for (const tls of [false, true])
  test(`a program sends over ${tls ? 'TLS' : 'STARTTLS'}, and the recipient gets what it sent, signed`, async () => {
    const to = tls ? 'ok-tls@there.example' : 'ok-starttls@there.example'
    const sent = await program({ tls }).sendMail({
      from: 'Änn <ann@here.example>',
      to,
      bcc: `hidden-${to}`,
      subject: 'Grüße',
      text: 'Hi.\n.\n..\nBye.',
      html: '<p>Hi</p>',
      attachments: [{ filename: 'a.csv', content: 'a,b' }],
      headers: { 'X-Mine': 'yes' },
    })
    const email = await mailhorn.emailWhen(idIn(sent), 'delivered')
    assert.equal(
      [email.from, email.to, email.bcc, email.subject, email.text, email.html.trim()],
      ['Änn <ann@here.example>', [to], [`hidden-${to}`], 'Grüße', 'Hi.\n.\n..\nBye.', '<p>Hi</p>'],
    )
    assert.equal(email.headers, { 'X-Mine': 'yes' })
    assert.equal(
      email.attachments.map(({ filename, size }: Record<string, unknown>) => [filename, size]),
      [['a.csv', 3]],
    )
    const messages = mx.messages.filter(({ rcptTo }) => rcptTo.some(one => one.endsWith(to)))
    assert.equal(messages.flatMap(({ rcptTo }) => rcptTo).sort(), [`hidden-${to}`, to])
    for (const { data: bytes } of messages) {
      const data = bytes.toString('latin1')
      assert.match(data, /^DKIM-Signature: /)
      assert.match(data, `\r\nMessage-ID: ${sent.messageId}\r\n`)
      assert.not.match(data, /^bcc:/im)
    }
    const raw = await mailhorn.call('GET', `/emails/${email.id}/raw`, { key: mailhorn.apiKey })
    assert.is(raw.headers.get('x-mailhorn-raw'), 'exact')
  })

test('an access token with the scope to send is a password, another is not', async () => {
  const tokenWith = async (scopes: string[]) => {
    const session = await mailhorn.signIn()
    const body = { name: scopes.join(), scopes, networks: ['127.0.0.0/8'] }
    return (await mailhorn.call('POST', '/access-tokens', { session, body })).body
  }
  const message = { from: 'ann@here.example', to: 'ok-token@there.example', subject: 'x', text: 'x' }
  const { id, token } = await tokenWith(['emails:send'])
  for (const user of ['resend', id]) {
    const sent = await program({ key: token, user }).sendMail(message)
    assert.is((await mailhorn.emailWhen(idIn(sent), 'delivered')).subject, 'x')
  }
  const { token: reader } = await tokenWith(['emails:read'])
  try {
    await program({ key: reader }).sendMail(message)
    assert.unreachable()
  } catch (error) {
    assert.is((error as { responseCode?: number }).responseCode, 535)
  }
})

/** Signed in, and ready for MAIL. */
async function signedIn(t: TestContext, key = mailhorn.apiKey): Promise<SmtpClient> {
  const client = await t.using(dialSmtp({ port: ports().starttls }))
  assert.match(await client.reply(), /^220 mailhorn\.test/)
  await client.say('EHLO program.example')
  assert.match(await client.say('STARTTLS'), /^220/)
  await client.startTls()
  await client.say('EHLO program.example')
  assert.match(await client.say(`AUTH PLAIN ${plain('resend', key)}`), /^235/)
  return client
}

const plain = (user: string, password: string) => Buffer.from(`\0${user}\0${password}`).toString('base64')

async function envelope(client: SmtpClient, ...recipients: string[]) {
  assert.match(await client.say('MAIL FROM:<whoever@elsewhere.example>'), /^250/)
  for (const one of recipients) assert.match(await client.say(`RCPT TO:<${one}>`), /^250/)
  assert.match(await client.say('DATA'), /^354/)
}

async function submitted(
  client: SmtpClient,
  message: string,
  recipient = 'ok@there.example',
): Promise<string> {
  await envelope(client, recipient)
  client.write(Buffer.from(message, 'latin1'))
  return client.say('.')
}

const LETTER = 'From: ann@here.example\r\nTo: ok@there.example\r\nSubject: hi\r\n\r\nhi\r\n'

test('nobody signs in without TLS: a login is neither offered nor taken', async t => {
  const client = await t.using(dialSmtp({ port: ports().starttls }))
  await client.reply()
  const greeting = await client.say('EHLO program.example')
  assert.match(greeting, /STARTTLS/)
  assert.not.match(greeting, /AUTH/)
  assert.match(await client.say(`AUTH PLAIN ${plain('resend', mailhorn.apiKey)}`), /^538/)
  assert.match(await client.say('MAIL FROM:<ann@here.example>'), /^530/)
})

test('mail of a suspended account is refused with 550 5.7.1', async t => {
  t.after(() => mailhorn.call('PATCH', `/accounts/${id}`, { session, body: { suspended: false } }))
  const session = await mailhorn.signIn()
  const { id } = (await mailhorn.call('GET', '/account', { session })).body
  await mailhorn.call('PATCH', `/accounts/${id}`, { session, body: { suspended: true } })
  assert.match(await submitted(await signedIn(t), LETTER), /^550 5\.7\.1 The account is suspended/)
})

test('mail from a domain that is not verified is refused, as over the API', async t => {
  const client = await signedIn(t)
  const reply = await submitted(client, LETTER.replace('here.example', 'other.example'))
  assert.match(reply, /^550 5\.7\.1 The other\.example domain in `from` is not registered/)
  assert.match(await submitted(client, LETTER), /^250 2\.0\.0 Ok: queued as eml_/)
})

test('whoever repeats a message with its key gets the first answer', async t => {
  const client = await signedIn(t)
  const keyed = `Resend-Idempotency-Key: once\r\n${LETTER}`
  const first = await submitted(client, keyed)
  assert.match(first, /^250/)
  assert.is(await submitted(client, keyed), first)
  assert.match(await submitted(client, keyed.replace('\r\nhi', '\r\nbye')), /^550 5\.5\.4/)
})

test('a message can wait for its time, and have tags', async t => {
  const client = await signedIn(t)
  const at = new Date(mailhorn.clock.now() + 86_400_000).toISOString()
  const reply = await submitted(client, `X-Scheduled-At: ${at}\r\nX-Tag-kind: test\r\n${LETTER}`)
  const email = await mailhorn.email(reply.slice(reply.indexOf('eml_')))
  assert.equal([email.status, email.scheduled_at], ['scheduled', at])
  assert.equal(email.tags, [{ name: 'kind', value: 'test' }])
  const past = await submitted(client, `X-Scheduled-At: 2020-01-01T00:00:00Z\r\n${LETTER}`)
  assert.match(past, /^550 5\.6\.0 .*in the future/)
})

test('the Date of a message that waited is its time of delivery, also if that was moved', async t => {
  const client = await signedIn(t)
  const at = mailhorn.clock.now() + 5 * 86_400_000
  const date = new Date(mailhorn.clock.now()).toUTCString()
  const to = 'scheduled@there.example'
  const letter = `X-Scheduled-At: ${new Date(at).toISOString()}\r\nDate: ${date}\r\n${LETTER}`
  const id = idIn({ response: await submitted(client, letter, to) } as SentMessageInfo)
  const later = new Date(at + 3_600_000)
  const body = { scheduled_at: later.toISOString() }
  const moved = await mailhorn.call('PATCH', `/emails/${id}`, { key: mailhorn.apiKey, body })
  assert.is(moved.status, 200)
  mailhorn.clock.advance(5 * 86_400_000 + 3_700_000)
  await mailhorn.emailWhen(id, 'delivered')
  const { data } = mx.messages.find(({ rcptTo }) => rcptTo.includes(to))!
  const field = /^Date: (.*)\r$/m.exec(data.toString('latin1'))![1]!
  assert.is(Date.parse(field), Math.floor(later.getTime() / 1_000) * 1_000)
  const raw = await mailhorn.call('GET', `/emails/${id}/raw`, { key: mailhorn.apiKey })
  assert.is(raw.headers.get('x-mailhorn-raw'), 'exact')
})

test('text in UTF-8 without MIME fields reaches a host without 8BITMIME in 7 bits, signed', async t => {
  const client = await signedIn(t)
  const letter = `${LETTER}${Buffer.from('Many greetings, Grüße\r\n').toString('latin1')}`
  const reply = await submitted(client, letter, 'ok@old.example')
  await mailhorn.emailWhen(idIn({ response: reply } as SentMessageInfo), 'delivered')
  const data = oldMx.messages.at(-1)!.data.toString('latin1')
  assert.match(data, /^DKIM-Signature: /)
  assert.match(data, '\r\nContent-Type: text/plain; charset=utf-8\r\n')
  assert.match(data, '\r\nMany greetings, Gr=C3=BC=C3=9Fe\r\n')
  assert.equal(oldMx.violations, [])
})

test('a signed part of 8 bits bounces at a host without 8BITMIME, and arrives unchanged elsewhere', async t => {
  const client = await signedIn(t)
  const body = '--b\r\n\r\n\xc3\xa4\r\n--b\r\n\r\nsignature\r\n--b--\r\n'
  const head = LETTER.replace(
    '\r\n\r\nhi\r\n',
    '\r\nMIME-Version: 1.0\r\nContent-Type: multipart/signed; boundary=b',
  )
  const send = async (to: string) => {
    const response = await submitted(client, `${head}\r\n\r\n${body}`, to)
    return idIn({ response } as SentMessageInfo)
  }
  const email = await mailhorn.emailWhen(await send('signed@old.example'), 'bounced')
  assert.match(JSON.stringify(email), '5.6.3')
  await mailhorn.emailWhen(await send('signed@there.example'), 'delivered')
  const arrived = mx.messages.find(({ rcptTo }) => rcptTo.includes('signed@there.example'))!
  assert.match(arrived.data.toString('latin1'), body)
  assert.is(arrived.params.get('BODY'), '8BITMIME')
})

test('recipients beyond the fiftieth have to wait; an address that is none is refused', async t => {
  const client = await signedIn(t)
  await client.say('MAIL FROM:<ann@here.example>')
  for (let i = 0; i < 50; i++) assert.match(await client.say(`RCPT TO:<ok${i}@there.example>`), /^250/)
  assert.match(await client.say('RCPT TO:<ok50@there.example>'), /^452 4\.5\.3/)
  await client.say('RSET')
  await client.say('MAIL FROM:<ann@here.example>')
  assert.match(await client.say('RCPT TO:<bob@localhost>'), /^553 5\.1\.3/)
})

test('what is larger than we take is refused before it is sent', async t => {
  const client = await signedIn(t)
  assert.match(await client.say(`MAIL FROM:<ann@here.example> SIZE=${41 * 1024 * 1024}`), /^552/)
})

for (const [what, end] of FALSE_ENDS)
  test(`${what} ends no message, and leaves as whole lines`, async t => {
    const client = await signedIn(t)
    const to = `ok-${Buffer.from(end).toString('hex')}@there.example`
    const inner = 'MAIL FROM:<smuggler@here.example>\r\nRCPT TO:<victim@there.example>\r\nDATA\r\n'
    const reply = await submitted(client, `${LETTER}${end}${inner}${LETTER}`, to)
    assert.match(reply, /^250/)
    await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered')
    const taken = mx.messages.filter(({ rcptTo }) => rcptTo.includes(to))
    assert.is(taken.length, 1)
    assert.not.match(taken[0]!.data.toString('latin1'), /\r(?!\n)|(?<!\r)\n/)
    assert.is(mx.messages.filter(({ rcptTo }) => rcptTo.includes('victim@there.example')).length, 0)
    assert.equal(mx.violations, [])
  })

test('a message that breaks whoever takes it apart is sent all the same', async t => {
  const client = await signedIn(t)
  const deep = Array.from(
    { length: 2_000 },
    (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
  )
  const message = LETTER.replace(
    '\r\n\r\nhi',
    `\r\nContent-Type: multipart/mixed; boundary=b0\r\n\r\n${deep.join('')}`,
  )
  const reply = await submitted(client, message, 'ok-deep@there.example')
  assert.match(reply, /^250/)
  await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered')
})

test.run()
