import * as assert from 'uvu/assert'
import { SMTP_PROGRAMS } from '../../../../src/interfaces/dashboard/web/labels/smtp-programs.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: settings of SMTP programs')
const access = {
  host: 'mail.example',
  user: 'mailhorn',
  password: 're_secret',
  from: 'hello@here.example',
  selfSignedName: null,
}
/** Patterns of TLS from the start, and of TLS that is required before the login. */
const SECURITY: Record<string, readonly [tls: RegExp, starttls: RegExp]> = {
  nodemailer: [/secure: true/, /secure: false,\n\s*requireTLS: true/],
  python: [/SMTP_SSL\(/, /SMTP\(.*\n\s+server\.starttls\(/],
  phpmailer: [/SMTPSecure = 'ssl'/, /SMTPSecure = 'tls'/],
  laravel: [/MAIL_SCHEME=smtps/, /MAIL_SCHEME=smtp\n/],
  django: [/EMAIL_USE_SSL = True/, /EMAIL_USE_TLS = True/],
  rails: [/ tls: true/, /enable_starttls: true/],
  wordpress: [/'WPMS_SSL', 'ssl'/, /'WPMS_SSL', 'tls'/],
  postfix: [/smtp_tls_wrappermode = yes/, /smtp_tls_security_level = secure(?![\s\S]*wrappermode)/],
  msmtp: [/tls_starttls off/, /tls_starttls on/],
  curl: [/--ssl-reqd 'smtps:/, /--ssl-reqd 'smtp:/],
}

for (const [id, label, textOf] of SMTP_PROGRAMS)
  test(`${label}: host, port, login and security are set for both ports`, () => {
    for (const [port, security] of [
      [465, 'tls'],
      [587, 'starttls'],
    ] as const) {
      const text = textOf({ ...access, port, security })
      assert.not.match(text, 'mailhorn.pem')
      for (const part of [access.host, String(port), access.user, access.password])
        assert.ok(text.includes(part), `${part} in ${text}`)
      assert.match(text, SECURITY[id]![security === 'tls' ? 0 : 1])
    }
  })

for (const [, label, textOf] of SMTP_PROGRAMS)
  test(`${label}: a self-signed certificate is trusted by its file`, () => {
    const text = textOf({ ...access, port: 465, security: 'tls', selfSignedName: 'mailhorn.test' })
    assert.match(text, 'mailhorn.pem')
  })

test.run()
