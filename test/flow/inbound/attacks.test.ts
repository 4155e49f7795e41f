import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { localForms, relayForms } from '../../kit/attack.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { certificateFiles } from '../../kit/tls.ts'

/** Attacks on port 25: nothing is relayed or held for long, and other clients do not notice. */
const test = suite('attacks on port 25')

const HERE = 'here.example'
const THERE = 'there.example'
const POSTMASTER = 'postmaster@mailhorn.test'

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: `${THERE} MX 10 mx.${THERE}\nmx.${THERE} A 127.0.0.2`,
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_TLS_CERT_FILE: certificateFiles.cert,
      MAILHORN_SMTP_TLS_KEY_FILE: certificateFiles.key,
      MAILHORN_SMTP_INBOUND_CONNECTIONS_PER_MINUTE: '0',
    },
  })
  await mailhorn.verifiedDomain(HERE)
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

async function dial(t: TestContext): Promise<SmtpClient> {
  return t.using(dialSmtp(mailhorn.app.inboundAddress!))
}

async function greeted(t: TestContext): Promise<SmtpClient> {
  const client = await dial(t)
  await client.reply()
  await client.say('EHLO client.example')
  return client
}

async function inData(t: TestContext, recipient = POSTMASTER): Promise<SmtpClient> {
  const client = await greeted(t)
  await client.say('MAIL FROM:<ann@there.example>')
  await client.say(`RCPT TO:<${recipient}>`)
  assert.match(await client.say('DATA'), /^354 /)
  return client
}

const storedCount = () => mailhorn.rows('select 1 from inbound_messages').length
const reportCount = () => mailhorn.rows('select 1 from reports').length

/** Somebody who means well is served as ever. */
async function serves(t: TestContext) {
  const before = reportCount()
  const client = await inData(t)
  client.write('Subject: hello\r\n\r\nhi\r\n')
  assert.match(await client.say('.'), /^250 /)
  assert.is(reportCount(), before + 1)
  await client.close()
}

test('no form of a recipient elsewhere is taken, whoever claims to send it', async t => {
  const senders = ['<>', `<ann@${THERE}>`, `<postmaster@${HERE}>`, '<root@localhost>', '<x@[127.0.0.1]>']
  for (const sender of senders) {
    let client = await greeted(t)
    assert.match(await client.say(`MAIL FROM:${sender}`), /^[25]/)
    for (const [i, form] of relayForms(HERE, THERE).entries()) {
      assert.match(await client.say(`RCPT TO:${form}`), /^5\d\d /, `${sender} ${form}`)
      if (i % 10 < 9) continue
      await client.close()
      client = await greeted(t)
      await client.say(`MAIL FROM:${sender}`)
    }
    assert.match(await client.say('DATA'), /^503 /)
    await client.close()
  }
  assert.equal(mx.messages, [])
})

test('what only looks like elsewhere stays with its own domain', async t => {
  const before = storedCount()
  for (const form of localForms(HERE, THERE)) {
    const client = await greeted(t)
    await client.say(`MAIL FROM:<ann@${THERE}>`)
    const reply = await client.say(`RCPT TO:${form}`)
    if (reply.startsWith('250')) {
      await client.say('DATA')
      client.write('Subject: odd\r\n\r\nhi\r\n')
      assert.match(await client.say('.'), /^250 /)
    } else assert.match(reply, /^5/)
    await client.close()
  }
  assert.ok(storedCount() > before)
  assert.equal(mx.messages, [])
})

test('after twenty refusals somebody is trying things out, and has to go', async t => {
  const client = await greeted(t)
  await client.say('MAIL FROM:<>')
  for (let i = 1; i <= 20; i++) assert.match(await client.say(`RCPT TO:<user${i}@${THERE}>`), /^550 /)
  assert.match(await client.reply(), /^421 4\.7\.0 Too many errors/)
  assert.is(await client.reply(), '')
})

for (const [what, line] of [
  ['GET', 'GET / HTTP/1.1'],
  ['POST', 'POST / HTTP/1.1'],
  ['CONNECT', 'CONNECT mx.there.example:25 HTTP/1.1'],
  ['PUT, of a program that knows no version', 'put /x'],
] as const)
  test(`${what} ends the connection before anything behind it is looked at`, async t => {
    const before = reportCount()
    const client = await dial(t)
    await client.reply()
    client.write(
      `${line}\r\nHost: x\r\n\r\nEHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<${POSTMASTER}>\r\nDATA\r\n\r\n.\r\n`,
    )
    assert.match(await client.reply(), /^421 .*not HTTP/)
    assert.is(await client.reply(), '')
    assert.is(reportCount(), before)
  })

for (const [what, text] of [
  ['EHLO', `EHLO x\r\nMAIL FROM:<>\r\nRCPT TO:<${POSTMASTER}>\r\n`],
  ['DATA', `MAIL FROM:<>\r\nRCPT TO:<${POSTMASTER}>\r\nDATA\r\nSubject: x\r\n\r\nhi\r\n.\r\n`],
] as const)
  test(`whoever does not wait for the reply to ${what} has to go`, async t => {
    const before = reportCount()
    const client = what === 'EHLO' ? await dial(t) : await greeted(t)
    if (what === 'EHLO') await client.reply()
    client.write(text)
    assert.match(await client.reply(), /^421 .*Wait for the reply/)
    assert.is(await client.reply(), '')
    assert.is(reportCount(), before)
  })

test('whoever talks before the greeting is not greeted', async t => {
  const client = await dial(t)
  client.write('EHLO early.example\r\n')
  assert.match(await client.reply(), /^(?:421 .*too soon|220 )/)
})

test('commands without end, and too long ones, end the connection', async t => {
  for (const bytes of ['A'.repeat(70_000), `MAIL FROM:<${'a'.repeat(70_000)}@x.example>\r\n`]) {
    const client = await greeted(t)
    client.write(bytes)
    assert.match(await client.reply(), /^421 .*too long/)
    assert.is(await client.reply(), '')
  }
  await serves(t)
})

test('NUL and other octets that no command has are refused, and the session goes on', async t => {
  const client = await greeted(t)
  for (const line of ['\0', 'NO\0OP', 'MAIL FROM:<a\0b@x.example>', '\x7f\x80\xff'])
    assert.match(await client.say(line), /^5\d\d /, JSON.stringify(line))
  assert.match(await client.say('NOOP'), /^250 /)
})

for (const line of ['BDAT', 'BDAT -1', 'BDAT 99999999999999999999 LAST', 'BDAT 4 LAST\r\nQUIT'])
  test(`${JSON.stringify(line)} is no command here, and takes nothing with it`, async t => {
    const client = await greeted(t)
    await client.say('MAIL FROM:<>')
    await client.say(`RCPT TO:<${POSTMASTER}>`)
    assert.match(await client.say(line), /^50\d /)
    if (line.includes('QUIT')) assert.match(await client.reply(), /^221 /)
    else assert.match(await client.say('NOOP'), /^250 /)
  })

test('what is said in the same packet as STARTTLS is never carried out', async t => {
  const client = await greeted(t)
  client.write(`STARTTLS\r\nMAIL FROM:<injected@evil.example>\r\nRCPT TO:<${POSTMASTER}>\r\n`)
  assert.match(await client.reply(), /^220 /)
  await client.startTls()
  await client.say('EHLO client.example')
  assert.match(await client.say('DATA'), /^503 /)
  assert.match(await client.say('MAIL FROM:<>'), /^250 /)
})

test('a TLS session is not negotiated anew', async t => {
  const client = await greeted(t)
  await client.say('STARTTLS')
  const secure = await client.startTls({ maxVersion: 'TLSv1.2' })
  await client.say('EHLO client.example')
  const refused = new Promise<NodeJS.ErrnoException>(resolve => secure.once('error', resolve))
  secure.renegotiate({ rejectUnauthorized: false }, () => {})
  assert.is((await refused).code, 'ERR_SSL_NO_RENEGOTIATION')
})

test('a head of 100,000 fields, and one of a megabyte, are mail like any other', async t => {
  for (const head of ['X-A: b\r\n'.repeat(100_000), `X-Long: ${'x'.repeat(1_000_000)}\r\n`]) {
    const before = storedCount()
    const client = await inData(t, `many@${HERE}`)
    client.write(`${head}\r\nhi\r\n`)
    assert.match(await client.say('.'), /^250 /)
    assert.is(storedCount(), before + 1)
    await client.close()
  }
  await serves(t)
})

test('10,000 nested parts are mail like any other, and keep nobody waiting', async t => {
  const deep = Array.from(
    { length: 10_000 },
    (_, i) => `--b${i}\r\nContent-Type: multipart/mixed; boundary=b${i + 1}\r\n\r\n`,
  )
  const client = await inData(t, `deep@${HERE}`)
  client.write(`Content-Type: multipart/mixed; boundary=b0\r\n\r\n${deep.join('')}`)
  assert.match(await client.say('\r\n.'), /^250 /)
  await serves(t)
})

test('more than a hundred Received fields are a loop', async t => {
  const client = await inData(t, `loop@${HERE}`)
  client.write(`${'Received: from a by b\r\n'.repeat(120)}Subject: round\r\n\r\nhi\r\n`)
  assert.match(await client.say('.'), /^554 5\.4\.6 /)
})

test('a message that trickles is cut off within minutes, however many bytes keep it alive', async t => {
  const before = reportCount()
  const client = await inData(t)
  const gone = client.reply()
  let isGone = false
  gone.then(() => {
    isGone = true
  })
  for (let second = 0; second < 300 && !isGone; second++) {
    client.write('x')
    await new Promise(resolve => setImmediate(resolve))
    mailhorn.clock.advance(1_000)
  }
  assert.match(await gone, /^421 4\.4\.2 .*slowly/)
  assert.is(reportCount(), before)
})

test('TLS from the first octet, where it is not spoken, ends without a word too many', async () => {
  const { port } = mailhorn.app.inboundAddress!
  await new Promise<void>(resolve => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    socket.once('error', () => resolve())
    socket.once('secureConnect', () => assert.unreachable())
  })
})

test.run()
