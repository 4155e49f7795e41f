import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../src/lib/secret-keys.ts'
import { createRefToken, returnPath } from '../../../src/protocols/smtp/verp.ts'
import { readOrCreateSecret } from '../../../src/store/opening/secret-file.ts'
import { FALSE_ENDS } from '../../kit/attack.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient, sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { certificateFiles } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'

const test = suite('port 25')
const ZONE = `
  there.example       MX 10 mx.there.example
  mx.there.example    A 127.0.0.2
`
const POSTMASTER = 'postmaster@mailhorn.test'

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_TLS_CERT_FILE: certificateFiles.cert,
      MAILHORN_SMTP_TLS_KEY_FILE: certificateFiles.key,
    },
  })
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

async function inData(t: TestContext): Promise<SmtpClient> {
  const client = await greeted(t)
  await client.say('MAIL FROM:<>')
  await client.say(`RCPT TO:<${POSTMASTER}>`)
  assert.match(await client.say('DATA'), /^354 /)
  return client
}

function storedCount(): number {
  return mailhorn.rows('select 1 from reports').length
}

test('it greets with the mail host, and offers what it has', async t => {
  const client = await dial(t)
  assert.match(await client.reply(), /^220 mailhorn\.test ESMTP/)
  const offered = await client.say('EHLO client.example')
  for (const keyword of ['SIZE 62914560', 'STARTTLS', '8BITMIME', 'SMTPUTF8', 'PIPELINING'])
    assert.match(offered, new RegExp(`^250[ -]${keyword}$`, 'm'))
  assert.not.match(offered, /AUTH|CHUNKING|XCLIENT/)
})

test('mail to the postmaster is on the disk before it is acknowledged', async () => {
  const before = storedCount()
  const data = 'Subject: your mail\n\n.a line with a dot\n'
  const reply = await sendMail(mailhorn.app.inboundAddress!, {
    to: 'Abuse@Mailhorn.Test',
    data,
    from: 'ann@there.example',
  })
  assert.match(reply, /^250 /)
  assert.is(storedCount(), before + 1)
  const [row] = mailhorn.rows<{ address_kind: string; sender: string; body: Uint8Array }>(
    'select address_kind, sender, body from reports join blobs on hash = blob_hash order by id desc limit 1',
  )
  assert.equal([row!.address_kind, row!.sender], ['postmaster', 'ann@there.example'])
  assert.is(Buffer.from(row!.body).toString(), 'Subject: your mail\r\n\r\n.a line with a dot\r\n\r\n')
})

for (const sender of ['user..x@docomo.ne.jp', '"a b"@b.example', 'a@sub_domain.example', 'x@[192.0.2.1]'])
  test(`mail from ${sender} is accepted, and its return path is kept as text`, async () => {
    const to = 'abuse@mailhorn.test'
    assert.match(
      await sendMail(mailhorn.app.inboundAddress!, { to, data: 'Subject: x\n', from: sender }),
      /^250 /,
    )
    const [row] = mailhorn.rows<{ sender: string }>('select sender from reports order by id desc limit 1')
    assert.is(row!.sender, sender)
  })

test('a return path that is a syntax error is refused, and parameters behind one are still checked', async t => {
  const client = await greeted(t)
  assert.match(await client.say('MAIL FROM:<a b@there.example>'), /^501 /)
  assert.match(await client.say('MAIL FROM:<"a> SIZE=1"@there.example> SIZE=99999999999'), /^552 /)
  assert.match(await client.say('MAIL FROM:<"a> SIZE=99999999999"@there.example> SIZE=1'), /^250 /)
})

test('quoted local parts and the root dot are taken, and forms of devices are not', async t => {
  const client = await greeted(t)
  assert.match(await client.say('MAIL FROM:<a@peer.example.>'), /^250/)
  assert.match(await client.say('RCPT TO:<"x y"@mailhorn.test>'), /^550 5\.7\.1/)
  assert.match(await client.say('RCPT TO:<postmaster@mailhorn.test.>'), /^250/)
  assert.match(await client.say('RSET'), /^250/)
  assert.match(await client.say('MAIL FROM:ann@peer.example'), /^501/)
  assert.match(await client.say('EHLO two words'), /^501/)
})

test('mail to the postmaster without a domain is accepted for the mail host', async () => {
  const to = 'PostMaster'
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { to, data: 'Subject: x\n' }), /^250 /)
  const [row] = mailhorn.rows<{ recipient: string }>('select recipient from reports order by id desc limit 1')
  assert.is(row!.recipient, 'PostMaster@mailhorn.test')
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { to: 'abuse', data: 'Subject: x\n' }), /^501 /)
})

test('STARTTLS secures the connection, and what was said before it is forgotten', async t => {
  const client = await greeted(t)
  assert.match(await client.say('STARTTLS'), /^220 /)
  await client.startTls()
  assert.match(await client.say('MAIL FROM:<>'), /^503 /)
  assert.not.match(await client.say('EHLO client.example'), /STARTTLS/)
  assert.match(await client.say('MAIL FROM:<>'), /^250 /)
})

for (const [what, end] of [...FALSE_ENDS, ['CR LF NUL . CR LF', '\r\n\0.\r\n'] as const])
  test(`${what} ends no message`, async t => {
    const isWhole = end === '\r\n\0.\r\n'
    const before = storedCount()
    const client = await inData(t)
    const smuggled = `MAIL FROM:<smug@evil.example>\r\nRCPT TO:<${POSTMASTER}>\r\nDATA\r\nsmuggled`
    client.write(`Subject: one\r\n\r\nhello${end}${smuggled}`)
    assert.match(await client.say('\r\n.'), isWhole ? /^250 / : /^550 5\.6\.11 /)
    assert.is(mailhorn.rows("select 1 from reports where sender = 'smug@evil.example'").length, 0)
    assert.is(storedCount(), before + (isWhole ? 1 : 0))
    assert.match(await client.say('NOOP'), /^250 /)
  })

test('a bare line feed is found wherever the pieces of a message are cut', async t => {
  for (const pieces of [
    ['one\n', 'two'],
    ['one', '\ntwo'],
    ['one\r', 'two'],
    ['one', '\rtwo'],
    ['one\r', '\ntwo'],
  ]) {
    const client = await inData(t)
    for (const piece of pieces) {
      client.write(piece)
      await new Promise(resolve => setImmediate(resolve))
    }
    const good = pieces.join('').includes('\r\n')
    assert.match(await client.say('\r\n.'), good ? /^250 / : /^550 5\.6\.11 /)
    await client.close()
  }
})

test('commands that end in a bare line feed are refused', async t => {
  const client = await dial(t)
  await client.reply()
  client.write('EHLO client.example\nMAIL FROM:<>\n')
  assert.match(await client.reply(), /^421 .*Lines end in CR LF/)
  assert.is(await client.reply(), '')
})

test('nothing is relayed, in whatever form it is asked', async t => {
  const client = await greeted(t)
  await client.say('MAIL FROM:<postmaster@mailhorn.test>')
  for (const address of [
    'a%there.example@mailhorn.test',
    '@mailhorn.test:a@there.example',
    'a@there.example',
    'a@[127.0.0.1]',
    'there.example!a@mailhorn.test',
    '"a@there.example"@mailhorn.test',
    'fbl@mailhorn.test.there.example',
  ])
    assert.match(await client.say(`RCPT TO:<${address}>`), /^5\d\d /, address)
  assert.match(await client.say('DATA'), /^503 /)
})

test('what nobody needs is not there', async t => {
  const client = await greeted(t)
  for (const line of [
    'VRFY postmaster',
    'EXPN all',
    'XCLIENT ADDR=10.0.0.1',
    'XFORWARD NAME=x',
    'AUTH PLAIN AGEAYg==',
    'BDAT 4 LAST',
  ])
    assert.match(await client.say(line), /^(?:252|5\d\d) /, line)
})

test('a message that says it is too large is refused at once', async t => {
  const client = await greeted(t)
  assert.match(await client.say('MAIL FROM:<> SIZE=99999999999'), /^552 /)
})

test('one transaction has room for a hundred recipients', async t => {
  const secrets = createSecretKeys(readOrCreateSecret(mailhorn.dataDir))
  const emailId = createIdSource()(mailhorn.clock.now())
  const addressOf = (ordinal: number) =>
    returnPath(createRefToken(secrets, 'verp', { emailId, ordinal }, mailhorn.clock.now()), 'here.example')
  const client = await greeted(t)
  await client.say('MAIL FROM:<>')
  for (let i = 0; i < 100; i++) assert.match(await client.say(`RCPT TO:<${addressOf(i)}>`), /^250 /)
  assert.match(await client.say(`RCPT TO:<${addressOf(100)}>`), /^452 4\.5\.3 /)
})

test('the twenty-first connection of one address is put off', async t => {
  const clients = await Promise.all(Array.from({ length: 20 }, () => greeted(t)))
  const late = await dial(t)
  assert.match(await late.reply(), /^421 4\.7\.0 /)
  await clients[0]!.say('QUIT')
  await clients[0]!.close()
  await until(async () => {
    const again = await dialSmtp(mailhorn.app.inboundAddress!)
    const reply = await again.reply()
    await again.close()
    return reply.startsWith('220')
  })
})

test('whoever leaves in the middle of the handshake is not counted as connected any more', async t => {
  for (let i = 0; i < 25; i++) {
    const client = await greeted(t)
    assert.match(await client.say('STARTTLS'), /^220 /)
    const socket = await client.startTls() // ours is over before theirs
    socket.destroy()
  }
  await until(async () => {
    const client = await dialSmtp(mailhorn.app.inboundAddress!)
    const reply = await client.reply()
    await client.close()
    return reply.startsWith('220')
  })
})

for (const secured of [false, true])
  test(`who sends QUIT with the final dot and closes their side is answered${secured ? ', over TLS' : ''}`, async t => {
    const before = storedCount()
    const client = await greeted(t)
    if (secured) {
      await client.say('STARTTLS')
      await client.startTls()
      await client.say('EHLO client.example')
    }
    client.write(`MAIL FROM:<>\r\nRCPT TO:<${POSTMASTER}>\r\nDATA\r\n`)
    const replies = [await client.reply(), await client.reply(), await client.reply()]
    assert.equal(
      replies.map(reply => reply.slice(0, 3)),
      ['250', '250', '354'],
    )
    client.write('Subject: in a hurry\r\n\r\nhi\r\n.\r\nQUIT\r\n')
    client.end()
    assert.match(await client.reply(), /^250 /)
    assert.match(await client.reply(), /^221 /)
    assert.is(await client.reply(), '')
    assert.is(storedCount(), before + 1)
  })

test('who closes their side in the middle of a message leaves nothing behind', async t => {
  const before = storedCount()
  const client = await inData(t)
  client.write('Subject: unfinished\r\n')
  client.end()
  assert.is(await client.reply(), '')
  assert.is(storedCount(), before)
})

test('no connection lasts for ever', async t => {
  const client = await greeted(t)
  mailhorn.clock.advance(16 * 60_000)
  assert.match(await client.reply(), /^421 4\.4\.2 /)
  assert.is(await client.reply(), '')
})

test('a message that takes its time is cut off, and nothing of it is kept', async t => {
  const before = storedCount()
  const client = await inData(t)
  client.write('Subject: slow\r\n')
  await new Promise(resolve => setImmediate(resolve))
  mailhorn.clock.advance(6 * 60_000)
  assert.match(await client.reply(), /^421 4\.4\.2 /)
  assert.is(storedCount(), before)
})

test('of a long report the beginning is kept, and its whole size is known', async t => {
  const client = await inData(t)
  const line = `${'x'.repeat(998)}\r\n`
  for (let i = 0; i < 20; i++) client.write(line.repeat(100))
  assert.match(await client.say('.'), /^250 /)
  const [row] = mailhorn.rows<{ size: number; kept_size: number }>(
    'select reports.size_bytes as size, blobs.size_bytes as kept_size from reports join blobs on hash = blob_hash order by id desc limit 1',
  )
  assert.equal([Number(row!.size), Number(row!.kept_size)], [2_000_000, 1024 * 1024])
})

test.run()
