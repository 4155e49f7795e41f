import * as assert from 'uvu/assert'
import { openDebianRoot } from '../../kit/debian-root.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { freePort } from '../../kit/free-port.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** An Exim that hands all its mail on to us, with a login or to our port 25. */
const test = suite('Exim as a relaying client')

const PROGRAM = '/usr/sbin/exim4'
const USER = 'Debian-exim'
const HOST = '127.0.0.8'
const LETTER = 'From: ann@here.example\nTo: ok@there.example\nSubject: relayed\n\n.\n..\nhi\n'

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    dns: true,
    zone: 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2',
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
})

interface Way {
  port: number
  /** Options of its transport, besides host and port. */
  transport: string
}

async function relaying(t: TestContext, way: Way) {
  const root = openDebianRoot({ package: 'exim4-daemon-light', programs: [PROGRAM], users: [USER] })
  t.after(() => root.close())
  const port = await freePort()
  for (const folder of ['mail', 'var/spool/exim4', 'var/log/exim4']) root.folder(folder, { user: USER })
  root.write('etc/exim4/exim4.conf', configuration(port, way))
  const exim = root.start(PROGRAM, '-bdf', '-q1h')
  t.after(() => exim.end())
  const log = () => exim.log() + root.read('var/log/exim4/mainlog')
  await until(() => {
    if (exim.hasEnded()) throw new Error(`Exim does not start: ${log()}`)
    return /listening for SMTP/.test(log())
  })
  const send = (to: string | string[], data: string) =>
    sendMail({ host: HOST, port }, { from: 'ann@local.example', to, data })
  return { send, log }
}

function configuration(port: number, { port: ours, transport }: Way): string {
  return `
primary_hostname = exim.local.example
local_interfaces = ${HOST}
daemon_smtp_ports = ${port}
log_file_path = /var/log/exim4/%slog
acl_smtp_rcpt = accept
acl_smtp_data = accept
tls_advertise_hosts =
host_lookup =
rfc1413_hosts =
keep_environment =

begin routers
back:
  driver = accept
  domains = local.example
  transport = mailbox
onward:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = onward

begin transports
mailbox:
  driver = appendfile
  file = /mail/$local_part_data
  user = ${USER}
onward:
  driver = smtp
  port = ${ours}
  allow_localhost
  tls_verify_hosts =
  tls_try_verify_hosts =
${transport}

begin retry
* * F,1h,1m

begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  client_send = ^mailhorn^${mailhorn.apiKey}
`
}

const login = (port: number, isTls: boolean): Way => ({
  port,
  transport: [
    'hosts_require_tls = *',
    'hosts_require_auth = *',
    isTls ? 'protocol = smtps' : 'protocol = smtp',
  ]
    .map(line => `  ${line}\n`)
    .join(''),
})

for (const way of ['587', '465'] as const)
  test(`with a login at ${way} its mail is delivered, and what is refused comes back to its user`, async t => {
    const { submission, submissionTls } = mailhorn.app.submission
    const port = (way === '587' ? submission : submissionTls)!.port
    const exim = await relaying(t, login(port, way === '465'))
    const to = [`ok-${way}@there.example`, `hidden-${way}@there.example`]
    assert.match(await exim.send(to, LETTER), /^250/)
    const taken = () => mx.messages.filter(({ rcptTo }) => rcptTo.some(one => to.includes(one)))
    await until(() => {
      if (/ (?:\*\*|==) /.test(exim.log())) throw new Error(exim.log())
      return taken().length === 2
    })
    for (const { data } of taken()) assert.ok(data.toString().endsWith('\r\n\r\n.\r\n..\r\nhi\r\n\r\n'))
    await until(() => / Completed$/m.test(exim.log())) // which it writes after we have passed the mail on
    assert.match(exim.log(), / => ok-\d+@there\.example .* X=TLS1\.3.* A=plain .*C="250 .*eml_/)
    assert.match(await exim.send(to[0]!, LETTER.replace('ann@here', 'ann@other')), /^250/)
    await until(() => / \*\* .* 550 5\.7\.1 /.test(exim.log()))
  })

test('at port 25 it is let in for addresses here, over TLS, and for no others', async t => {
  const { port } = mailhorn.app.inboundAddress!
  const exim = await relaying(t, { port, transport: '  hosts_require_tls = *\n' })
  assert.match(await exim.send('someone@here.example', LETTER), /^250/)
  const listed = await until(
    async () =>
      (await mailhorn.call('GET', '/inbound', { key: mailhorn.apiKey })).body.data[0] as
        | Record<string, unknown>
        | undefined,
  )
  assert.is(listed.subject, 'relayed')
  const [row] = mailhorn.rows<{ helo: string; tls: string }>('select helo, tls from inbound_messages')
  assert.equal(row, { helo: 'exim.local.example', tls: 'TLSv1.3' })
  assert.match(await exim.send('ok@there.example', LETTER), /^250/)
  await until(() => / \*\* ok@there\.example .* 550 5\.7\.1 /.test(exim.log()))
})

test.run()
