import { createTransport } from 'nodemailer'
import * as assert from 'uvu/assert'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

/** The setting `smtp.submission.hide_origin`, as the recipient sees it. */
const test = suite('fields of the sender’s network')

const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const ORIGIN = [
  'Received: from printer (printer.lan [192.168.1.20]) by relay.lan',
  'X-Originating-IP: [10.1.2.3]',
  'X-PHP-Originating-Script: 1000:/var/www/form.php',
  'User-Agent: Mutt/2.2',
]
const FIELDS = /^(?:Received: from printer|X-Originating-IP|X-PHP-Originating-Script|User-Agent):?/gim

for (const hides of [false, true])
  test(`with hide_origin=${hides}, they are ${hides ? 'removed from' : 'kept in'} a submitted message`, async t => {
    const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
    const mailhorn = await t.using(
      startMailhorn({
        zone: ZONE,
        mxPort: mx.port,
        env: {
          MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
          MAILHORN_SMTP_SUBMISSION_HIDE_ORIGIN: String(hides),
        },
      }),
    )
    await mailhorn.verifiedDomain('here.example')
    const program = createTransport({
      host: '127.0.0.1',
      port: mailhorn.app.submission.submission!.port,
      requireTLS: true,
      auth: { user: 'resend', pass: mailhorn.apiKey },
      tls: { rejectUnauthorized: false },
    })
    const { response } = await program.sendMail({
      envelope: { from: 'ann@here.example', to: 'bob@there.example' },
      raw: [...ORIGIN, 'Delivered-To: old@there.example', 'From: ann@here.example', 'To: bob@there.example']
        .join('\r\n')
        .concat('\r\nSubject: hi\r\nX-Mine: yes\r\n\r\nhi\r\n'),
    })
    const email = await mailhorn.emailWhen(/eml_\S+/.exec(response)![0], 'delivered')
    const [message] = mx.messages
    assert.equal(message!.headers.match(FIELDS)?.length ?? 0, hides ? 0 : ORIGIN.length)
    assert.match(message!.headers, /^X-Mine: yes$/m)
    assert.not.match(message!.headers, /^Delivered-To:/im)
    assert.is('User-Agent' in email.headers, !hides)
  })

test.run()
