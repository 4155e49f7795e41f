import * as assert from 'uvu/assert'
import { readMail } from '../../../src/protocols/mime/read/read-mail.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient, sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Clients that submit mail ask for notifications of its delivery (RFC 3461). */
const test = suite('delivery status notifications')

const ZONE = `
  there.example         MX 10 mx.there.example
  mx.there.example      A 127.0.0.2
  app.here.example      MX 10 mx.here.example
  mx.here.example       A 127.0.0.2
`
const HOUR_MS = 3_600_000

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', extensions: ['8BITMIME', 'DSN', 'ENHANCEDSTATUSCODES'] })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: { MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0', MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.0/8' },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

async function dialed(t: TestContext): Promise<SmtpClient> {
  const client = await t.using(dialSmtp({ port: mailhorn.app.submission.relay!.port }))
  await client.reply()
  await client.say('EHLO program.example')
  return client
}

interface Sending {
  mail?: string
  sender?: string
  /** RCPT without its verb: the path and parameters. */
  rcpt: readonly string[]
}

async function submitted(t: TestContext, { mail = '', sender = 'app@app.here.example', rcpt }: Sending) {
  const client = await dialed(t)
  assert.match(await client.say(`MAIL FROM:<${sender}>${mail}`), /^250/)
  for (const one of rcpt) assert.match(await client.say(`RCPT TO:${one}`), /^250/)
  await client.say('DATA')
  client.write(
    'From: ann@here.example\r\nTo: bob@there.example\r\nSubject: hi\r\nX-Note: kept\r\n\r\nbody\r\n',
  )
  return client.say('.')
}

/** The notifications to an address. */
const noticesTo = (address: string) =>
  mx.messages
    .filter(({ rcptTo }) => rcptTo.includes(address))
    .map(({ data, mailFrom }) => {
      const text = data.toString('latin1')
      const field = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'm').exec(text)?.[1]
      return { text, mailFrom, field, mail: readMail(data) }
    })

const noticeTo = (address: string, action: string) =>
  until(() => noticesTo(address).find(({ field }) => field('Action') === action))

test('EHLO offers DSN and ENHANCEDSTATUSCODES, and each reply has one status code', async t => {
  const client = await dialed(t)
  const offer = await client.say('EHLO program.example')
  assert.match(offer, /^250[- ]DSN$/m)
  assert.match(offer, /^250[- ]ENHANCEDSTATUSCODES$/m)
  for (const [command, reply] of [
    ['MAIL FROM:<a@b.example>', /^250 2\.1\.0 \D/],
    ['MAIL FROM:<a@b.example>', /^503 5\.5\.1 \D/],
    ['RCPT TO:<no address>', /^501 5\.\d\.\d \D/],
    ['RCPT TO:<bob@there.example>', /^250 2\.1\.5 \D/],
    ['RSET', /^250 2\.0\.0 \D/],
    ['DATA', /^503 5\.5\.1 \D/],
    ['NOOP', /^250 2\.0\.0 \D/],
    ['XYZZY', /^500 5\.5\.\d \D/],
    ['QUIT', /^221 2\.0\.0 \D/],
  ] as const)
    assert.match(await client.say(command), reply, command)
})

test('parameters that are not offered, not valid or doubled are refused by name', async t => {
  const client = await dialed(t)
  for (const [parameters, reply] of [
    ['FOO=BAR', /^555 5\.5\.4 The parameter FOO /],
    ['BY=120;R', /^555 5\.5\.4 The parameter BY /],
    ['REQUIRETLS', /^555 5\.5\.4 The parameter REQUIRETLS /],
    ['AUTH=<>', /^555 5\.5\.4 The parameter AUTH /],
    ['NOTIFY=SUCCESS', /^555 5\.5\.4 /],
    ['RET=SOME', /^501 5\.5\.4 /],
    ['RET', /^501 5\.5\.4 /],
    ['RET=FULL RET=FULL', /^501 5\.5\.4 /],
    [`ENVID=${'x'.repeat(101)}`, /^501 5\.5\.4 /],
  ] as const)
    assert.match(await client.say(`MAIL FROM:<a@here.example> ${parameters}`), reply, parameters)
  assert.match(
    await client.say('MAIL FROM:<a@here.example> RET=hdrs ENVID=Q+2Bx SIZE=100 BODY=8BITMIME'),
    /^250/,
  )
  for (const [parameters, reply] of [
    ['NOTIFY=NEVER,SUCCESS', /^501 5\.5\.4 /],
    ['NOTIFY=SOMETIMES', /^501 5\.5\.4 /],
    ['NOTIFY=', /^501 5\.5\.4 /],
    ['NOTIFY=SUCCESS NOTIFY=FAILURE', /^501 5\.5\.4 /],
    ['ORCPT=bob', /^501 5\.5\.4 /],
    [`ORCPT=rfc822;${'x'.repeat(500)}`, /^501 5\.5\.4 /],
    ['RET=FULL', /^555 5\.5\.4 The parameter RET /],
    ['XYZ', /^555 5\.5\.4 The parameter XYZ /],
  ] as const)
    assert.match(await client.say(`RCPT TO:<bob@there.example> ${parameters}`), reply, parameters)
})

for (const [what, sender, from, notify, reply] of [
  [
    'no verified domain',
    'hello@example.com',
    'hello@example.com',
    'SUCCESS',
    /^550 5\.7\.1 NOTIFY .* example\.com/,
  ],
  [
    'no verified domain',
    'a@b.example.net',
    'Ann <c@example.net>',
    'FAILURE,DELAY',
    /^550 5\.7\.1 NOTIFY .* example\.net/,
  ],
  ['no verified domain', 'hello@example.com', 'hello@example.com', 'NEVER', /^250/],
  ['a simulator address', 'delivered@simulator.test', 'delivered@simulator.test', 'SUCCESS', /^250/],
  ['a verified domain', 'ann@here.example', 'ann@here.example', 'SUCCESS', /^250/],
] as const)
  test(`mail to the simulator from ${what} with NOTIFY=${notify} of ${from} is answered ${reply}`, async t => {
    const client = await dialed(t)
    assert.match(await client.say(`MAIL FROM:<${sender}>`), /^250/)
    assert.match(await client.say(`RCPT TO:<delivered@simulator.test> NOTIFY=${notify}`), /^250/)
    await client.say('DATA')
    client.write(`From: ${from}\r\nTo: delivered@simulator.test\r\nSubject: hi\r\n\r\nbody\r\n`)
    assert.match(await client.say('.'), reply)
  })

test('a success is reported as relayed, with the ids that the client gave', async t => {
  const sender = 'success@app.here.example'
  const rcpt = ['<ok-1@there.example> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Old+2Bone@first.example']
  assert.match(await submitted(t, { sender, mail: ' RET=FULL ENVID=job+2B17', rcpt }), /^250 2\.0\.0 Ok/)
  const { field, text, mailFrom, mail } = await noticeTo(sender, 'relayed')
  assert.is(mailFrom, '')
  assert.equal(
    ['Original-Envelope-Id', 'Original-Recipient', 'Final-Recipient', 'Status', 'Remote-MTA'].map(field),
    [
      'job+17',
      'rfc822;Old+one@first.example',
      'rfc822; ok-1@there.example',
      '2.0.0',
      'dns; mx.there.example',
    ],
  )
  assert.match(text, 'multipart/report; report-type=delivery-status')
  assert.match(text, /^Auto-Submitted: auto-replied\r$/m)
  assert.match(text, /^Reporting-MTA: dns; mailhorn\.test\r$/m)
  assert.match(text, /^DKIM-Signature: /m)
  assert.match(text, /Content-Type: text\/rfc822-headers\r\n\r\n[\s\S]*X-Note: kept\r\n/)
  assert.not.match(text, /^body\r$/m)
  assert.match(mail.text ?? '', 'ok-1@there.example')
  const passed = mx.transcript.findLast(line => line.includes('RCPT TO:<ok-1@there.example>'))!
  assert.match(passed, 'NOTIFY=FAILURE,DELAY ORCPT=rfc822;Old+2Bone@first.example')
})

for (const [ret, whole] of [
  ['FULL', true],
  ['HDRS', false],
] as const)
  test(`a failure returns ${whole ? 'the whole message' : 'the header section'} with RET=${ret}`, async t => {
    const sender = `fails-${ret.toLowerCase()}@app.here.example`
    await submitted(t, {
      sender,
      mail: ` RET=${ret}`,
      rcpt: [`<perm-550-511+${ret}@there.example> NOTIFY=FAILURE`],
    })
    const { field, text } = await noticeTo(sender, 'failed')
    assert.is(field('Status'), '5.1.1')
    assert.match(field('Diagnostic-Code')!, /^smtp; 550 5\.1\.1 /)
    assert.is(field('Original-Envelope-Id'), undefined)
    assert.is(/^body\r$/m.test(text), whole)
  })

test('each recipient gets what was asked for it, and NEVER, silence and the null sender get nothing', async t => {
  const sender = 'mixed@app.here.example'
  const rcpt = [
    '<ok-2@there.example> NOTIFY=NEVER',
    '<perm-550-511+2@there.example> NOTIFY=SUCCESS',
    '<perm-550-511+3@there.example>',
    '<ok-4@there.example> NOTIFY=FAILURE,DELAY',
    '<ok-5@there.example> NOTIFY=SUCCESS',
  ]
  const reply = await submitted(t, { sender, rcpt })
  await mailhorn.emailWhen(/eml_\S+/.exec(reply)![0], 'bounced')
  await submitted(t, { sender: '', rcpt: ['<ok-6@there.example> NOTIFY=SUCCESS'] })
  const { field } = await noticeTo(sender, 'relayed')
  assert.is(field('Final-Recipient'), 'rfc822; ok-5@there.example')
  await until(() => mx.messages.some(({ rcptTo }) => rcptTo.includes('ok-6@there.example')))
  assert.is(noticesTo(sender).length, 1)
  assert.is(mailhorn.rows('select 1 from dsn_notices where sent_at is null').length, 0)
})

test('a recipient that is suppressed when the message is accepted is reported', async t => {
  const sender = 'later@app.here.example'
  await mailhorn.call('POST', '/suppressions', {
    key: mailhorn.apiKey,
    body: { email: 'gone@there.example' },
  })
  await submitted(t, { sender, rcpt: ['<gone@there.example> NOTIFY=FAILURE'] })
  assert.is((await noticeTo(sender, 'failed')).field('Final-Recipient'), 'rfc822; gone@there.example')
})

test('each recipient of a message without To and Cc is named in their own copy', async t => {
  const client = await dialed(t)
  await client.say('MAIL FROM:<app@app.here.example>')
  const recipients = ['ok-a@there.example', 'ok-b@there.example']
  for (const one of recipients) await client.say(`RCPT TO:<${one}>`)
  await client.say('DATA')
  client.write('From: ann@here.example\r\nBcc: ok-b@there.example\r\nSubject: hi\r\n\r\nbody\r\n')
  const id = /eml_\S+/.exec(await client.say('.'))![0]
  await mailhorn.emailWhen(id, 'delivered')
  for (const one of recipients) {
    const { headers } = mx.messages.find(({ rcptTo }) => rcptTo.includes(one))!
    assert.equal(headers.match(/^(?:To|Cc|Bcc): .*$/gm), [`To: ${one}`])
  }
  const raw = await mailhorn.call('GET', `/emails/${id}/raw`, { key: mailhorn.apiKey })
  assert.is(raw.headers.get('x-mailhorn-raw'), 'exact')
})

test('notifications go to the domain of From or below it only', async t => {
  const rcpt = ['<ok-7@there.example> NOTIFY=SUCCESS']
  for (const sender of ['eve@there.example', 'x@nothere.example'])
    assert.match(await submitted(t, { sender, rcpt }), /^550 5\.7\.1 NOTIFY needs a MAIL FROM address/)
  for (const notify of ['', ' NOTIFY=NEVER'])
    assert.match(
      await submitted(t, { sender: 'eve@there.example', rcpt: [`<ok-8@there.example>${notify}`] }),
      /^250 2\.0\.0/,
    )
})

test('a delay is reported once, after four hours', async t => {
  const sender = 'slow@app.here.example'
  const reply = await submitted(t, { sender, rcpt: ['<grey-12@there.example> NOTIFY=DELAY,FAILURE'] })
  const id = /eml_\S+/.exec(reply)![0]
  await mailhorn.emailWhen(id, 'delivery_delayed')
  assert.is(noticesTo(sender).length, 0)
  for (let hours = 0; hours < 10; hours += 5) {
    const attempts = async () => (await mailhorn.email(id)).recipients[0].transcripts.length
    const before = await attempts()
    mailhorn.clock.advance(5 * HOUR_MS)
    await until(async () => (await attempts()) > before)
  }
  const { field } = await until(() => {
    mailhorn.clock.advance(60_000) // the sender of notifications rests after a step in which the clock jumped
    return noticesTo(sender)[0]
  })
  assert.is(field('Action'), 'delayed')
  assert.match(field('Status')!, /^4\./)
  assert.is(mailhorn.rows("select 1 from dsn_notices where action = 'delayed'").length, 1)
})

/** Actions of the notifications that changes of the delivery to an address have made due. */
const dueFor = (address: string) =>
  mailhorn
    .rows<{ action: string }>(
      `select n.action from dsn_notices n join deliveries d on d.email_id = n.email_id and d.ordinal = n.ordinal
       where d.address = ? order by n.action`,
      address,
    )
    .map(({ action }) => action)

/** Reports that the next hop sends to the return path after it has accepted a message. */
const REPORTS = {
  failed: {
    action: 'failed',
    status: '5.2.2',
    diagnostic: 'smtp; 552 5.2.2 The mailbox is full',
  },
  gone: { action: 'failed', status: '5.1.1', diagnostic: 'smtp; 550 5.1.1 User unknown' },
  delayed: {
    action: 'delayed',
    status: '4.4.1',
    diagnostic: 'smtp; 451 4.4.1 No answer from the inner host',
  },
} as const

function reportOf(kind: keyof typeof REPORTS, recipient: string): string {
  const { action, status, diagnostic } = REPORTS[kind]
  return `From: MAILER-DAEMON@mx.there.example
Subject: Delivery status
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain

About your message.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; inner.there.example

Final-Recipient: rfc822; ${recipient}
Action: ${action}
Status: ${status}
Remote-MTA: dns; store.there.example
Diagnostic-Code: ${diagnostic}
--b--
`
}

/** A submitted message that the next hop has accepted, and what it reports later. @returns the effect */
async function reportedLater(
  t: TestContext,
  {
    kind,
    to,
    parameters,
    ...rest
  }: { kind: string; to: string; parameters: string; sender: string; mail?: string },
) {
  const reply = await submitted(t, { ...rest, rcpt: [`<${to}>${parameters}`] })
  await mailhorn.emailWhen(/eml_\S+/.exec(reply)![0], 'delivered')
  const { mailFrom } = mx.messages.find(({ rcptTo }) => rcptTo.includes(to))!
  const read = () => mailhorn.rows('select 1 from reports where state = 1').length
  const before = read()
  const data = kind in REPORTS ? reportOf(kind as keyof typeof REPORTS, to) : kind
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { to: mailFrom, from: '', data }), /^250/)
  await until(() => read() > before)
  const [last] = mailhorn.rows<{ effect: string }>('select effect from reports order by id desc limit 1')
  return last!.effect
}

for (const [kind, ret, status] of [
  ['failed', 'FULL', '5.2.2'],
  ['gone', 'HDRS', '5.1.1'],
] as const)
  test(`a failure that the next hop reports later (${kind}, RET=${ret}) is reported behind the success`, async t => {
    const sender = `later-${kind}@app.here.example`
    const to = `ok-later-${kind}@there.example`
    const effect = await reportedLater(t, {
      ...{ kind, to, sender },
      mail: ` RET=${ret} ENVID=${kind}+2B1`,
      parameters: ` NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;list@first.example`,
    })
    assert.is(effect, 'bounced')
    assert.equal(dueFor(to), ['failed', 'relayed'])
    await noticeTo(sender, 'relayed')
    const { field, text, mailFrom } = await noticeTo(sender, 'failed')
    assert.is(mailFrom, '')
    assert.equal(
      ['Original-Envelope-Id', 'Original-Recipient', 'Final-Recipient', 'Status', 'Remote-MTA'].map(field),
      [`${kind}+1`, 'rfc822;list@first.example', `rfc822; ${to}`, status, 'dns; store.there.example'],
    )
    assert.match(field('Diagnostic-Code')!, REPORTS[kind].diagnostic)
    assert.is(/^body\r$/m.test(text), ret === 'FULL')
  })

test('a bounce that is only text for people is reported as the failure that it means', async t => {
  const [sender, to] = ['later-text@app.here.example', 'ok-later-text@there.example']
  const data = `From: postmaster@there.example
Subject: Unzustellbar

Ihre Nachricht an <${to}> konnte nicht zugestellt werden:
550 5.1.1 <${to}>: Empfaenger unbekannt
`
  assert.is(await reportedLater(t, { kind: data, to, sender, parameters: ' NOTIFY=FAILURE' }), 'bounced')
  const { field } = await noticeTo(sender, 'failed')
  assert.is(field('Final-Recipient'), `rfc822; ${to}`)
  assert.match(field('Status')!, /^5\./)
})

for (const [parameters, kind, effect, due] of [
  ['', 'gone', 'bounced', []],
  [' NOTIFY=NEVER', 'gone', 'bounced', []],
  [' NOTIFY=NEVER ORCPT=rfc822;a@b.example', 'delayed', 'delayed', []],
  [' NOTIFY=DELAY', 'gone', 'bounced', []],
  [' NOTIFY=SUCCESS', 'gone', 'bounced', ['relayed']],
  [' NOTIFY=FAILURE', 'delayed', 'delayed', []],
  [' NOTIFY=DELAY', 'delayed', 'delayed', ['delayed']],
  [' NOTIFY=SUCCESS,FAILURE,DELAY', 'delayed', 'delayed', ['delayed', 'relayed']],
] as const)
  test(`a report (${kind}) about a message with${parameters || ' no NOTIFY'} makes ${due.join(' and ') || 'nothing'} due`, async t => {
    const id = `${parameters}${kind}`.toLowerCase().replace(/[^a-z]+/g, '-')
    const to = `ok-when${id}@there.example`
    const sender = `when${id}@app.here.example`
    assert.is(await reportedLater(t, { kind, to, sender, parameters }), effect)
    assert.equal(dueFor(to), due)
    for (const action of due) await noticeTo(sender, action)
  })

test('mail that is delivered here is reported as delivered, and a second bounce is not reported again', async t => {
  const sender = 'here@app.here.example'
  await submitted(t, { sender, rcpt: ['<delivered@simulator.test> NOTIFY=SUCCESS'] })
  const { field } = await noticeTo(sender, 'delivered')
  assert.equal([field('Status'), field('Remote-MTA')], ['2.0.0', undefined])
  const twice = { kind: 'gone', to: 'ok-twice@there.example', parameters: ' NOTIFY=FAILURE' }
  assert.is(await reportedLater(t, { ...twice, sender: 'twice@app.here.example' }), 'bounced')
  const { mailFrom } = mx.messages.find(({ rcptTo }) => rcptTo.includes(twice.to))!
  await sendMail(mailhorn.app.inboundAddress!, { to: mailFrom, from: '', data: reportOf('gone', twice.to) })
  await until(() => mailhorn.rows("select 1 from reports where effect = 'repeated'").length > 0)
  assert.equal(dueFor(twice.to), ['failed'])
})

test.run()
