import { connect } from 'node:net'
import { createTransport } from 'nodemailer'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { binaryHeaderOf } from '../../kit/proxy-header.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Addresses in mail, verdicts and rules of the relay are about the client that a trusted proxy names. */
const test = suite('mail listeners behind a proxy')

const PROXY = '127.9.9.9'
const CLIENT = '192.0.2.7'
const TOKEN = 'for-prometheus-alone'
const textHeader = `PROXY TCP4 ${CLIENT} 10.0.0.1 40960 25\r\n`

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: `
      there.example     MX 10 mx.there.example
      mx.there.example  A 127.0.0.2
      sender.example    TXT "v=spf1 ip4:${CLIENT} -all"
    `,
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_NETWORKS: `${CLIENT},${PROXY}`,
      MAILHORN_SMTP_TRUSTED_PROXIES: PROXY,
      MAILHORN_METRICS_TOKEN: TOKEN,
    },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

async function dial(t: TestContext, port: number, header: string | Uint8Array, from = PROXY) {
  const client = await t.using(dialSmtp({ port, from }))
  client.write(header)
  return client
}

/** A mail library behind the proxy. */
function program(port: number, header: string | Uint8Array, secure: boolean) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: PROXY })
  socket.write(header)
  return createTransport({
    connection: socket,
    secure,
    requireTLS: true,
    auth: { user: 'resend', pass: mailhorn.apiKey },
    tls: { rejectUnauthorized: false },
  })
}

test('received mail has the address of the client, which its SPF record allows', async t => {
  const client = await dial(t, mailhorn.app.inboundAddress!.port, textHeader)
  assert.match(await client.reply(), /^220 /)
  for (const line of [
    'EHLO mail.sender.example',
    'MAIL FROM:<ann@sender.example>',
    'RCPT TO:<bob@here.example>',
  ])
    assert.match(await client.say(line), /^250/)
  assert.match(await client.say('DATA'), /^354 /)
  assert.match(await client.say('From: ann@sender.example\r\nSubject: hi\r\n\r\nHi.\r\n.'), /^250 /)
  const [row] = await until(() => {
    const rows = mailhorn.rows<{ client_ip: string; spf_verdict: string }>(
      'select client_ip, spf_verdict from inbound_messages where listed_at is not null',
    )
    return rows.length > 0 ? rows : undefined
  })
  assert.equal({ ...row }, { client_ip: CLIENT, spf_verdict: 'PASS' })
})

for (const [what, secure, header] of [
  ['port 465, where the header is in front of TLS', true, binaryHeaderOf(CLIENT)],
  ['port 587', false, textHeader],
] as const)
  test(`a program sends through a proxy on ${what}, and the mail has its address`, async () => {
    const { submission, submissionTls } = mailhorn.app.submission
    const to = `${secure ? 'tls' : 'starttls'}@there.example`
    const sending = program(secure ? submissionTls!.port : submission!.port, header, secure)
    await sending.sendMail({ from: 'ann@here.example', to, subject: 'hi', text: 'Hi.' })
    const received = await until(() => mx.messages.find(({ rcptTo }) => rcptTo.includes(to)))
    assert.match(received.data.toString(), /^Received: from [^;]*\[192\.0\.2\.7\]/m)
  })

test('a program whose proxy sends no header gets no TLS on port 465', async t => {
  const client = await dial(
    t,
    mailhorn.app.submission.submissionTls!.port,
    new Uint8Array([0x16, 3, 1, 0, 0]),
  )
  assert.is(await client.reply(), '')
})

test('port 465: a header of an address that is not listed is no TLS, and is counted as refused', async t => {
  const client = await dial(t, mailhorn.app.submission.submissionTls!.port, textHeader, '127.1.1.1')
  assert.is(await client.reply(), '')
  const { body } = await mailhorn.call('GET', '/metrics', { key: TOKEN })
  assert.match(
    body,
    /^mailhorn_smtp_deferred_total\{listener="submission_tls",code="421",status="4\.7\.0"\} 1$/m,
  )
})

test('the relay takes mail of listed clients behind the proxy, not of all of them', async t => {
  const { port } = mailhorn.app.submission.relay!
  const listed = await dial(t, port, textHeader)
  assert.match(await listed.reply(), /^220 /)
  const other = await dial(t, port, binaryHeaderOf('192.0.2.8'))
  assert.match(await other.reply(), /^554 5\.7\.1 Nothing is taken from your network here/)
})

test.run()
