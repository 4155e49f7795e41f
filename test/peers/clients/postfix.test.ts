import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { startPostfix } from '../../kit/postfix.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** A Postfix that hands all its mail on to us, as on hosts whose programs know of no other way. */
const test = suite('Postfix as a relaying client')

let mx: FakeMx
let mailhorn: Mailhorn
let folder: string

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relaying-'))
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    dns: true,
    zone: 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2',
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8',
    },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
  rmSync(folder, { recursive: true })
})

function relaying(t: TestContext, settings: string[]) {
  return t.using(
    startPostfix({
      host: '127.0.0.7',
      domain: 'local.example',
      mailboxes: ['ann'],
      settings: [
        'mynetworks = 127.0.0.0/8',
        'smtpd_relay_restrictions = permit_mynetworks, reject',
        ...settings,
      ],
    }),
  )
}

const LETTER = 'From: ann@here.example\nTo: ok@there.example\nSubject: relayed\n\n.\n..\nhi\n'

for (const way of ['with a login', 'through the relay listener'] as const)
  test(`${way} its mail is delivered, and what is refused comes back to its user`, async t => {
    const { submission, relay } = mailhorn.app.submission
    const port = way === 'with a login' ? submission!.port : relay!.port
    const passwords = join(folder, 'passwords')
    writeFileSync(passwords, `[127.0.0.1]:${port} mailhorn:${mailhorn.apiKey}\n`)
    const login = [
      'smtp_sasl_auth_enable = yes',
      `smtp_sasl_password_maps = texthash:${passwords}`,
      'smtp_sasl_security_options = noanonymous',
      'smtp_tls_security_level = encrypt',
    ]
    const postfix = await relaying(t, [
      `relayhost = [127.0.0.1]:${port}`,
      ...(way === 'with a login' ? login : []),
    ])
    const host = { port: postfix.port, host: postfix.host }
    const to = [`ok-${port}@there.example`, `hidden-${port}@there.example`]
    assert.match(await sendMail(host, { from: 'ann@local.example', to, data: LETTER }), /^250/)
    const taken = () => mx.messages.filter(({ rcptTo }) => rcptTo.some(one => to.includes(one)))
    await until(() => {
      if (/status=(?:bounced|deferred)/.test(postfix.log())) throw new Error(postfix.log())
      return taken().length === 2
    })
    assert.equal(
      taken()
        .flatMap(({ rcptTo }) => rcptTo)
        .sort(),
      to.toSorted(),
    )
    for (const { data } of taken()) assert.ok(data.toString().endsWith('\r\n\r\n.\r\n..\r\nhi\r\n\r\n'))
    const foreign = LETTER.replace('ann@here.example', 'ann@other.example')
    assert.match(await sendMail(host, { from: 'ann@local.example', to: to[0]!, data: foreign }), /^250/)
    await until(() => /status=bounced .*550 5\.7\.1/.test(postfix.log()))
  })

test.run()
