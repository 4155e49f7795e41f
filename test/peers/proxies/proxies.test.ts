import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createTransport } from 'nodemailer'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { PROXY, runProxy } from './run-proxy.ts'

/** HAProxy and nginx, set up as documented, name the clients of the mail ports and of HTTPS. */
const test = suite('behind HAProxy and nginx')

const CLIENT = '127.0.0.7'
const TOKEN = 'for-prometheus-alone'

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
      MAILHORN_HTTP_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_TRUSTED_PROXIES: PROXY,
      MAILHORN_HTTP_TRUSTED_PROXIES: PROXY,
      MAILHORN_METRICS_TOKEN: TOKEN,
    },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

/** @param names ports as documented */
function servicePortsOf(names: readonly string[]): Record<string, number> {
  const { inboundAddress, submission, secureAddress } = mailhorn.app
  const ports: Record<string, number> = {
    25: inboundAddress!.port,
    587: submission.submission!.port,
    465: submission.submissionTls!.port,
    443: secureAddress!.port,
  }
  return Object.fromEntries(names.map(name => [name, ports[name]!]))
}

async function receivedThrough(t: TestContext, port: number, subject: string) {
  const client = await t.using(dialSmtp({ port, from: CLIENT }))
  await client.reply()
  for (const line of [
    'EHLO mail.sender.example',
    'MAIL FROM:<ann@sender.example>',
    'RCPT TO:<bob@here.example>',
  ])
    assert.match(await client.say(line), /^250/)
  assert.match(await client.say('DATA'), /^354 /)
  assert.match(await client.say(`From: ann@sender.example\r\nSubject: ${subject}\r\n\r\nHi.\r\n.`), /^250 /)
  const row = await until(
    () =>
      mailhorn.rows<{ client_ip: string; spf_verdict: string }>(
        'select client_ip, spf_verdict from inbound_messages where listed_at is not null and subject = ?',
        subject,
      )[0],
  )
  return { ...row }
}

/** Sends through the proxy. @returns the first `Received` field of the mail */
async function sentThrough(port: number, { secure, to }: { secure: boolean; to: string }): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    secure,
    requireTLS: true,
    localAddress: CLIENT,
    auth: { user: 'resend', pass: mailhorn.apiKey },
    tls: { rejectUnauthorized: false },
  })
  await transport.sendMail({ from: 'ann@here.example', to, subject: 'hi', text: 'Hi.' })
  const { data } = await until(() => mx.messages.find(({ rcptTo }) => rcptTo.includes(to)))
  return /^Received: from [^;]*/m.exec(data.toString())![0]
}

/** Makes a request through the proxy. @returns the address of its client in the request log */
async function addressOverHttps(port: number): Promise<string> {
  const agent = `client of ${port}`
  const headers = { authorization: `Bearer ${mailhorn.apiKey}`, 'user-agent': agent }
  const options = { host: '127.0.0.1', port, localAddress: CLIENT, rejectUnauthorized: false }
  const sent = request({ ...options, method: 'POST', path: '/emails', headers }).end()
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  reply.resume()
  assert.is(reply.statusCode, 422)
  const logged = await until(async () => {
    const { body } = await mailhorn.call('GET', '/logs?limit=100', { session: await mailhorn.signIn() })
    return body.data.find((entry: { user_agent: string }) => entry.user_agent === agent)
  })
  return logged.client_address
}

/** Counts replies 4xx and 5xx of the mail listeners. */
async function refusedCount(): Promise<number> {
  const { body } = await mailhorn.call('GET', '/metrics', { key: TOKEN })
  const counts = [...String(body).matchAll(/^mailhorn_smtp_(?:refused|deferred)_total\S* (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

for (const [what, program, version] of [
  ['HAProxy with headers of version 1', 'haproxy', 1],
  ['HAProxy with headers of version 2', 'haproxy', 2],
  ['nginx', 'nginx', 1],
] as const)
  test(`through ${what}, mail has the address of its client, and checks of the proxy are not refused`, async t => {
    const refusedBefore = await refusedCount()
    const names = program === 'haproxy' ? ['25', '587', '465', '443'] : ['25', '587', '465']
    const { ports } = await t.using(runProxy({ program, version, servicePorts: servicePortsOf(names) }))
    const subject = `through ${program} ${version}`
    const received = await receivedThrough(t, ports['25']!, subject)
    assert.equal(received, { client_ip: CLIENT, spf_verdict: 'PASS' })
    for (const [port, secure] of [
      [ports['587']!, false],
      [ports['465']!, true],
    ] as const) {
      const field = await sentThrough(port, { secure, to: `${program}-${version}-${secure}@there.example` })
      assert.match(field, `[${CLIENT}]`)
    }
    assert.is(await refusedCount(), refusedBefore)
    if (ports['443']) assert.is(await addressOverHttps(ports['443']), CLIENT)
  })

test('a proxy that is not listed is refused, and its clients read why', async t => {
  const refusedBefore = await refusedCount()
  const servicePorts = servicePortsOf(['25', '587', '465', '443'])
  const { ports } = await t.using(
    runProxy({ program: 'haproxy', version: 2, servicePorts, from: '127.8.8.8' }),
  )
  const client = await t.using(dialSmtp({ port: ports['25']!, from: CLIENT }))
  assert.match(await client.reply(), /^421 .*A PROXY header is taken from smtp\.trusted_proxies only/)
  assert.ok((await refusedCount()) > refusedBefore)
})

test.run()
