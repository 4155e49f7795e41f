import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/**
 * Programs that people use hand their mail over as they do everywhere, and show what is wrong when it is
 * refused.
 */
const test = suite('mail programs')

const SENDER = 'ann@here.example'
const script = new URL('./send_mail.py', import.meta.url).pathname
/** Every octet there is. */
const DATA = Buffer.from(Array.from({ length: 256 }, (_, i) => i))

let mx: FakeMx
let mailhorn: Mailhorn
let folder: string

test.before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'clients-'))
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    dns: true,
    zone: 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2',
    mxPort: mx.port,
    env: {
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8',
    },
  })
  await mailhorn.verifiedDomain('here.example')
  writeFileSync(join(folder, 'daten.bin'), DATA)
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
  rmSync(folder, { recursive: true })
})

interface Ended {
  code: number | null
  output: string
}

/** @throws when the program is not there */
function run(program: string, args: readonly string[], input = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    child.on('error', error => reject(new Error(`${program} cannot be run: install it`, { cause: error })))
    child.on('close', code => resolve({ code, output }))
    child.stdin.on('error', () => {}) // it may not want to hear all of it
    child.stdin.end(input)
  })
}

/** Returns a complete message, for programs that submit one as it is. */
const letter = (sender: string, to: string) =>
  [
    `From: ${sender}`,
    `To: ${to}`,
    `Subject: =?utf-8?B?${Buffer.from('Grüße').toString('base64')}?=`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Schöne Grüße.',
    '.',
    '..',
    'Ende.',
    '--b',
    'Content-Type: application/octet-stream; name=daten.bin',
    'Content-Disposition: attachment; filename=daten.bin',
    'Content-Transfer-Encoding: base64',
    '',
    DATA.toString('base64').replace(/.{76}/g, '$&\n'),
    '--b--',
    '',
  ].join('\n')

interface Mail {
  sender: string
  to: string
  hidden: string
  key: string
}

type Program = (mail: Mail) => Promise<Ended>

const ports = () => {
  const { submission, submissionTls, relay } = mailhorn.app.submission
  return { starttls: submission!.port, tls: submissionTls!.port, relay: relay!.port }
}

const swaks: Program = ({ sender, to, hidden, key }) =>
  run('swaks', [
    ...['--server', '127.0.0.1', '--port', String(ports().starttls), '--tls', '--auth', 'LOGIN'],
    ...['--auth-user', 'mailhorn', '--auth-password', key, '--from', sender, '--to', `${to},${hidden}`],
    ...['--header-To', to, '--header-Subject', `=?utf-8?B?${Buffer.from('Grüße').toString('base64')}?=`],
    ...['--body', 'Schöne Grüße.\n.\n..\nEnde.'],
    ...[
      '--attach-type',
      'application/octet-stream',
      '--attach-name',
      'daten.bin',
      '--attach',
      `@${join(folder, 'daten.bin')}`,
    ],
  ])

const curl: Program = ({ sender, to, hidden, key }) => {
  writeFileSync(join(folder, 'letter.eml'), letter(sender, to).replaceAll('\n', '\r\n'))
  return run('curl', [
    ...['--silent', '--verbose', '--insecure', '--url', `smtps://127.0.0.1:${ports().tls}`],
    ...['--user', `mailhorn:${key}`, '--mail-from', sender, '--mail-rcpt', to, '--mail-rcpt', hidden],
    ...['--upload-file', join(folder, 'letter.eml')],
  ])
}

const msmtp: Program = ({ sender, to, hidden, key }) => {
  const config = join(folder, 'msmtprc')
  const lines = [
    ...['account mailhorn', 'host 127.0.0.1', `port ${ports().starttls}`, `from ${sender}`],
    ...['auth on', 'user mailhorn', `password ${key}`, 'tls on', 'tls_starttls on', 'tls_certcheck off'],
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  chmodSync(config, 0o600)
  return run('msmtp', ['-C', config, '-a', 'mailhorn', '--', to, hidden], letter(sender, to))
}

const python: Program = ({ sender, to, hidden, key }) =>
  run('python3', [script, '127.0.0.1', String(ports().starttls), 'mailhorn', key, sender, `${to},${hidden}`])

const nodemailer: Program = async ({ sender, to, hidden, key }) => {
  const transport = createTransport({
    host: '127.0.0.1',
    port: ports().tls,
    secure: true,
    auth: { user: 'mailhorn', pass: key },
    tls: { rejectUnauthorized: false },
  })
  try {
    const text = 'Schöne Grüße.\n.\n..\nEnde.'
    const attachments = [{ filename: 'daten.bin', content: DATA }]
    const { response } = await transport.sendMail({
      from: sender,
      to,
      bcc: hidden,
      subject: 'Grüße',
      text,
      attachments,
    })
    return { code: 0, output: response }
  } catch (error) {
    return { code: 1, output: String(error) }
  }
}

const PROGRAMS: Record<string, Program> = { swaks, curl, msmtp, 'smtplib of Python': python, nodemailer }

// biome-ignore lint/suspicious/noExplicitAny: emails as the API shows them
async function emailTo(address: string): Promise<any> {
  const listed = await until(async () => {
    const { body } = await mailhorn.call('GET', `/emails?to=${encodeURIComponent(address)}`, {
      key: mailhorn.apiKey,
    })
    return body.data[0]
  })
  return mailhorn.emailWhen(listed.id, 'delivered')
}

for (const [name, send] of Object.entries(PROGRAMS)) {
  const label = name.split(' ')[0]!
  test(`${name} sends text, a file and a blind copy, and all of it arrives`, async () => {
    const [to, hidden] = [`ok-${label}@there.example`, `hidden-${label}@there.example`]
    const { code, output } = await send({ sender: SENDER, to, hidden, key: mailhorn.apiKey })
    assert.is(code, 0, output)
    const email = await emailTo(to)
    assert.equal([email.to, email.bcc], [[to], [hidden]])
    assert.match(email.subject, /^Grüße/)
    assert.match(email.text.replaceAll('\r\n', '\n'), /^Schöne Grüße\.\n\.\n\.\.\nEnde\./)
    assert.equal(
      email.attachments.map(({ filename, size }: Record<string, unknown>) => [filename, size]),
      [['daten.bin', DATA.length]],
    )
    const taken = mx.messages.filter(({ rcptTo }) =>
      rcptTo.some(one => one.endsWith(`-${label}@there.example`)),
    )
    assert.equal(taken.flatMap(({ rcptTo }) => rcptTo).sort(), [hidden, to].sort())
    for (const { data } of taken) {
      const text = data.toString('latin1')
      assert.match(text, /^DKIM-Signature: /)
      assert.not.match(text, hidden.split('@')[0]!)
    }
    assert.equal(mx.violations, [])
  })

  test(`${name} shows whose key is wrong, and who may not send`, async () => {
    const [to, hidden] = [`never-${label}@there.example`, `never-too-${label}@there.example`]
    const wrongKey = send({ sender: SENDER, to, hidden, key: 're_wrong' })
    let isOver = false
    wrongKey.finally(() => {
      isOver = true
    })
    await until(() => {
      mailhorn.clock.advance(50) // wrong keys are answered late
      return isOver
    })
    const refused = await wrongKey
    assert.is.not(refused.code, 0)
    assert.match(refused.output, /535|API key|[Ll]ogin denied|authentication failed/, refused.output)
    mailhorn.clock.advance(3_600_000) // and after some the address is not heard
    const foreign = await send({ sender: 'ann@other.example', to, hidden, key: mailhorn.apiKey })
    assert.is.not(foreign.code, 0)
    assert.match(foreign.output, /550|other\.example/, foreign.output)
    assert.equal(mailhorn.rows('select 1 from deliveries where address = ?', to), [])
  })
}

test('swaks hands mail over to the relay listener without a login', async () => {
  const to = 'ok-relay@there.example'
  const { code, output } = await run('swaks', [
    ...['--server', '127.0.0.1', '--port', String(ports().relay), '--from', SENDER, '--to', to],
    ...['--header', 'Subject: from a printer', '--body', 'page 1'],
  ])
  assert.is(code, 0, output)
  assert.match(output, /250 2\.0\.0 Ok: queued as eml_/)
  assert.is((await emailTo(to)).subject, 'from a printer')
})

const SMTPLIB = `
import smtplib, ssl, sys
port, key, sender, to = sys.argv[1:]
context = ssl._create_unverified_context()
with smtplib.SMTP('127.0.0.1', int(port)) as client:
    client.starttls(context=context)
    client.ehlo()
    assert client.has_extn('dsn') and client.has_extn('enhancedstatuscodes')
    client.login('mailhorn', key)
    client.sendmail(sender, [to], f'From: ann@here.example\\r\\nTo: {to}\\r\\nSubject: hi\\r\\n\\r\\nhi\\r\\n',
        mail_options=['RET=HDRS', 'ENVID=job+2B17'], rcpt_options=['NOTIFY=SUCCESS,FAILURE', 'ORCPT=rfc822;' + to])
    try:
        client.sendmail(sender, [to], 'From: x\\r\\n\\r\\n', mail_options=['FOO=BAR'])
    except smtplib.SMTPSenderRefused as refused:
        assert refused.smtp_code == 555 and refused.smtp_error.startswith(b'5.5.4 '), refused
    else:
        raise AssertionError('FOO=BAR was taken')
`

test('Python’s smtplib asks for notifications by its options, and gets them', async () => {
  const to = 'ok-dsn@there.example'
  const [sender, port] = ['app@bounces.here.example', String(ports().starttls)]
  mailhorn.zone.add('bounces.here.example MX 10 mx.there.example')
  const { code, output } = await run('python3', ['-c', SMTPLIB, port, mailhorn.apiKey, sender, to])
  assert.is(code, 0, output)
  const notice = await until(() => mx.messages.find(({ rcptTo }) => rcptTo.includes(sender)))
  assert.is(notice!.mailFrom, '')
  for (const field of ['Original-Envelope-Id: job+17', `Original-Recipient: rfc822;${to}`, 'Action: relayed'])
    assert.match(notice!.data.toString(), `\r\n${field}\r\n`)
})

test.run()
