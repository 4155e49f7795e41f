import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Attacks on the submission ports: keys cannot be guessed, nobody is locked out, no message does harm. */
const test = suite('attacks on submission')

const ELSEWHERE = '127.0.0.9'

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2',
    mxPort: mx.port,
    env: { MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0' },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const plain = (user: string, password: string) => Buffer.from(`\0${user}\0${password}`).toString('base64')

async function secured(t: TestContext, from = '127.0.0.1'): Promise<SmtpClient> {
  const client = await t.using(dialSmtp({ port: mailhorn.app.submission.submission!.port, from }))
  await client.reply()
  await client.say('EHLO program.example')
  await client.say('STARTTLS')
  await client.startTls()
  await client.say('EHLO program.example')
  return client
}

async function signedIn(t: TestContext, from?: string): Promise<SmtpClient> {
  const client = await secured(t, from)
  assert.match(await client.say(`AUTH PLAIN ${plain('resend', mailhorn.apiKey)}`), /^235/)
  return client
}

/** Returns the reply to a guess, with the time that it took. */
async function guess(client: SmtpClient, user = 'resend', mechanism: 'PLAIN' | 'LOGIN' = 'PLAIN') {
  const began = mailhorn.clock.monotonic()
  if (mechanism === 'LOGIN') {
    await client.say('AUTH LOGIN')
    await client.say(Buffer.from(user).toString('base64'))
  }
  let reply: string | undefined
  const answerText =
    mechanism === 'LOGIN'
      ? client.say(Buffer.from('re_wrong').toString('base64'))
      : client.say(`AUTH PLAIN ${plain(user, 're_wrong')}`)
  answerText.then(text => {
    reply = text
  })
  await until(() => {
    if (reply === undefined) mailhorn.clock.advance(100)
    return reply !== undefined
  })
  return { reply: reply!, waitedMs: mailhorn.clock.monotonic() - began }
}

async function submitted(client: SmtpClient, message: string, to = 'ok@there.example'): Promise<string> {
  assert.match(await client.say('MAIL FROM:<ann@here.example>'), /^250/)
  assert.match(await client.say(`RCPT TO:<${to}>`), /^250/)
  assert.match(await client.say('DATA'), /^354/)
  client.write(Buffer.from(message, 'latin1'))
  return client.say('.')
}

const LETTER = 'From: ann@here.example\r\nTo: ok@there.example\r\nSubject: hi\r\n\r\nhi\r\n'

for (const mechanism of ['PLAIN', 'LOGIN'] as const)
  test(`wrong keys by ${mechanism} are answered ever later, and the third ends the connection`, async t => {
    const from = mechanism === 'PLAIN' ? '127.0.0.11' : '127.0.0.12'
    const client = await secured(t, from)
    const first = await guess(client, 'resend', mechanism)
    const second = await guess(client, 'resend', mechanism)
    assert.match(
      first.reply,
      /^535 5\.7\.8 These credentials are not accepted\. The password is an API key or an access token/,
    )
    assert.match(second.reply, /^535 5\.7\.8/)
    assert.ok(first.waitedMs >= 1_000 && second.waitedMs >= 2_000)
    assert.match((await guess(client, 'resend', mechanism)).reply, /^421 4\.7\.0/)
    assert.is(await client.reply(), '')
  })

test('who guesses on is not heard for a while; whoever else has a key is', async t => {
  const regular = await signedIn(t, ELSEWHERE)
  await regular.say('QUIT')
  const heard: string[] = []
  for (let connection = 0; connection < 3; connection++) {
    const client = await secured(t, ELSEWHERE)
    for (let i = 0; i < 3; i++) {
      const { reply } = await guess(client)
      heard.push(reply.slice(0, 3))
      if (reply.startsWith('421')) break
    }
    await client.close()
  }
  assert.equal(heard, ['535', '535', '421', '535', '535', '421'].concat(heard.slice(6)))
  const late = await secured(t, ELSEWHERE)
  assert.match((await guess(late)).reply, /^421 4\.7\.0/)
  await signedIn(t, '127.0.0.10')
  await signedIn(t, ELSEWHERE) // its key was right there before
})

test('a key named from many addresses is heard where it was right before alone', async t => {
  const session = await mailhorn.signIn()
  const { body: key } = await mailhorn.call('POST', '/api-keys', { session, body: { name: 'printer' } })
  const signIn = async (from: string) =>
    (await secured(t, from)).say(`AUTH PLAIN ${plain(key.id, key.token)}`)
  assert.match(await signIn('127.0.0.40'), /^235/)
  for (let i = 0; i < 10; i++)
    assert.match((await guess(await secured(t, `127.0.0.${50 + i}`), key.id)).reply, /^535/)
  assert.match(await signIn('127.0.0.70'), /^421 4\.7\.0/)
  assert.match(await signIn('127.0.0.40'), /^235/)
})

test('a login in clear, and one in the same packet as STARTTLS, are not taken', async t => {
  const client = await t.using(dialSmtp({ port: mailhorn.app.submission.submission!.port }))
  await client.reply()
  await client.say('EHLO program.example')
  assert.match(await client.say(`AUTH PLAIN ${plain('resend', mailhorn.apiKey)}`), /^538/)
  client.write(`STARTTLS\r\nAUTH PLAIN ${plain('resend', mailhorn.apiKey)}\r\n`)
  assert.match(await client.reply(), /^220/)
  await client.startTls()
  await client.say('EHLO program.example')
  assert.match(await client.say('MAIL FROM:<ann@here.example>'), /^530/)
})

test('without a login nothing but a login is listened to for long', async t => {
  const client = await secured(t)
  for (const line of ['MAIL FROM:<ann@here.example>', 'RCPT TO:<ok@there.example>', 'DATA'])
    assert.match(await client.say(line), /^530/)
  let last = ''
  for (let i = 0; i < 20 && !last.startsWith('421'); i++) last = await client.say('NOOP')
  assert.match(last, /^421/)
})

test('nothing is sent in the name of a domain of somebody else, whatever the form of From', async t => {
  const client = await signedIn(t)
  for (const from of [
    'ann@other.example',
    'here.example <ann@other.example>',
    '"ann@here.example" <ann@other.example>',
    'ann@other.example (ann@here.example)',
    'ann@here.example.other.example',
    'ann@here.example, ann@other.example',
    'Group: ann@here.example, ann@other.example;',
    '<@here.example:ann@other.example>',
    'ann%other.example@other.example',
  ])
    assert.match(await submitted(client, LETTER.replace('ann@here.example', from)), /^550 /, from)
  const twice = LETTER.replace('To:', 'From: ann@other.example\r\nTo:')
  assert.match(await submitted(client, twice), /^550 /)
  assert.equal(mx.messages, [])
})

for (const [what, message, reply] of [
  ['NUL', LETTER.replace('hi\r\n', 'h\0i\r\n'), /^550 5\.6\.0 .*NUL/],
  ['more than a thousand fields', `${'X-A: b\r\n'.repeat(100_000)}${LETTER}`, /^550 5\.6\.0 .*header/i],
  ['a head that is no head', `no head at all\r\n${LETTER}`, /^550 5\.6\.0 /],
  ['two subjects', LETTER.replace('Subject:', 'Subject: one\r\nSubject:'), /^550 5\.6\.0 .*twice/],
  ['fields that are named like parts of objects', `__proto__: x\r\nconstructor: y\r\n${LETTER}`, /^250 /],
] as const)
  test(`a message with ${what} gets its answer, and the session goes on`, async t => {
    const client = await signedIn(t)
    assert.match(await submitted(client, message), reply)
    assert.match(await submitted(client, LETTER), /^250 /)
  })

test('a line of a megabyte leaves in lines that servers take', async t => {
  const client = await signedIn(t)
  const reply = await submitted(client, `${LETTER}${'x'.repeat(1_000_000)}\r\n`, 'ok-long@there.example')
  assert.match(reply, /^250 /)
  const email = await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered', 'bounced')
  assert.is(email.status, 'delivered')
  const [taken] = mx.messages.filter(({ rcptTo }) => rcptTo.includes('ok-long@there.example'))
  const longest = Math.max(
    ...taken!.data
      .toString('latin1')
      .split('\r\n')
      .map(line => line.length),
  )
  assert.ok(longest <= 998, `${longest}`)
})

test('dots at the beginning of lines come and go as they are', async t => {
  const client = await signedIn(t)
  const body = ['.', '..', '.a', '...', '. .'].map(line => `${line}\r\n`).join('')
  const stuffed = body.replace(/^\./gm, '..')
  const reply = await submitted(
    client,
    LETTER.replace('\r\n\r\nhi\r\n', `\r\n\r\n${stuffed}`),
    'ok-dots@there.example',
  )
  await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered')
  const [taken] = mx.messages.filter(({ rcptTo }) => rcptTo.includes('ok-dots@there.example'))
  assert.ok(taken!.data.toString('latin1').endsWith(`\r\n\r\n${body}`))
})

test.run()
