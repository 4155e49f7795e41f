import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('GET /emails/:id')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
// biome-ignore lint/suspicious/noExplicitAny: a view of every field
let everything: any
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('far.example', 'eu-west-1')
  everything = await finished(FULL)
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
const prefixed = (prefix: string) => new RegExp(`^${prefix}_${UUID}$`)
const FULL = {
  from: 'Ann <ann@here.example>',
  to: 'Bob <ok@there.example>',
  cc: ['perm-550-511@there.example', 'defer-451@there.example'],
  bcc: 'delivered@simulator.test',
  reply_to: 'Replies <replies@here.example>',
  subject: 'Everything',
  html: '<p>html</p>',
  text: 'text',
  headers: { 'X-Entity-Ref-ID': 'ref' },
  tags: [{ name: 'kind', value: 'test' }],
  attachments: [
    { filename: 'a.txt', content: 'aGVsbG8=' },
    { filename: 'logo.png', content: 'aGVsbG8=', content_id: 'logo' },
  ],
}

async function finished(email: object) {
  const id = await mailhorn.send(email)
  for (;;) {
    const shown = await mailhorn.email(id)
    if (shown.recipients.every(({ status }: { status: string }) => !['queued', 'sent'].includes(status)))
      return shown
  }
}

test('shows all fields of an email with their types', async () => {
  const email = everything
  assert.match(email.id, prefixed('eml'))
  assert.equal(
    {
      object: email.object,
      from: email.from,
      to: email.to,
      cc: email.cc,
      bcc: email.bcc,
      reply_to: email.reply_to,
      subject: email.subject,
      html: email.html,
      text: email.text,
      headers: email.headers,
      tags: email.tags,
    },
    {
      object: 'email',
      from: FULL.from,
      to: [FULL.to],
      cc: FULL.cc,
      bcc: [FULL.bcc],
      reply_to: [FULL.reply_to],
      subject: FULL.subject,
      html: FULL.html,
      text: FULL.text,
      headers: FULL.headers,
      tags: FULL.tags,
    },
  )
  assert.match(email.message_id, new RegExp(`^<${UUID}@here\\.example>$`))
  assert.equal([email.open_count, email.click_count], [0, 0])
  assert.equal(
    [email.broadcast_id, email.template_id, email.topic_id, email.scheduled_at],
    [null, null, null, null],
  )
  assert.is(email.status, 'bounced', 'one of several recipients bounced')
  assert.is(email.last_event, 'bounced')
  assert.match(email.error, /^550 5\.1\.1 .*mx\.there\.example/)
  assert.match(email.created_at, TIME)
  assert.match(email.last_event_at, TIME)
  assert.ok(email.created_at <= email.last_event_at)
})

test('has no undocumented field', async () => {
  const email = everything
  assert.equal(Object.keys(email).sort(), [
    'attachments',
    'bcc',
    'broadcast_id',
    'cc',
    'click_count',
    'created_at',
    'error',
    'events',
    'explanation',
    'from',
    'headers',
    'html',
    'id',
    'last_event',
    'last_event_at',
    'message_id',
    'object',
    'open_count',
    'recipients',
    'reply_to',
    'scheduled_at',
    'status',
    'subject',
    'tags',
    'template_id',
    'text',
    'to',
    'topic_id',
  ])
})

test('lists attachments without their content', async () => {
  const { attachments } = everything
  for (const attachment of attachments) assert.match(attachment.id, prefixed('att'))
  const [text, logo] = attachments
  assert.equal(
    [text.filename, text.content_type, text.size, text.content_id],
    ['a.txt', 'text/plain', 5, null],
  )
  assert.equal(
    [logo.filename, logo.content_type, logo.size, logo.content_id],
    ['logo.png', 'image/png', 5, 'logo'],
  )
  assert.not(JSON.stringify(attachments).includes('aGVsbG8'))
})

test('shows the status of each recipient', async () => {
  const { recipients } = everything
  assert.equal(
    recipients.map((r: { kind: string; address: string; status: string }) => [r.kind, r.address, r.status]),
    [
      ['to', 'ok@there.example', 'delivered'],
      ['cc', 'perm-550-511@there.example', 'bounced'],
      ['cc', 'defer-451@there.example', 'delivery_delayed'],
      ['bcc', 'delivered@simulator.test', 'delivered'],
    ],
  )
  const [delivered, bounced, delayed, simulated] = recipients
  assert.equal(
    [delivered.attempts, delivered.next_attempt_at, delivered.mx_host],
    [1, null, 'mx.there.example'],
  )
  assert.match(delivered.reply, /^250 2\.0\.0 /)
  assert.match(bounced.reply, /^550 5\.1\.1 /)
  assert.match(delayed.reply, /^451 /)
  assert.match(delayed.next_attempt_at, TIME)
  assert.is(simulated.mx_host, null)
})

test('shows the transcript of each attempt', async () => {
  const { recipients, created_at: createdAt } = everything
  for (const { transcripts } of recipients) {
    assert.is(transcripts.length, 1)
    const [attempt] = transcripts
    assert.is(attempt.attempt, 1)
    assert.match(attempt.at, TIME)
    assert.match(attempt.finished_at, TIME)
    assert.ok(createdAt <= attempt.at && attempt.at <= attempt.finished_at)
  }
  assert.equal(
    recipients.map((r: { transcripts: { outcome: string }[] }) => r.transcripts[0]!.outcome),
    ['delivered', 'bounced', 'deferred', 'delivered'],
  )
  const [{ transcripts }] = recipients
  assert.equal([transcripts[0].mx_host, transcripts[0].mx_ip], ['mx.there.example', '127.0.0.2'])
  assert.match(transcripts[0].tls, /^TLSv1\.3/)
})

test('lists events in order with their recipient', async () => {
  const { events } = everything
  for (const event of events) {
    assert.equal(Object.keys(event).sort(), ['created_at', 'data', 'id', 'recipient', 'type'])
    assert.match(event.id, prefixed('evt'))
    assert.match(event.created_at, TIME)
    assert.type(event.data, 'object')
  }
  const times = events.map(({ created_at: at }: { created_at: string }) => at)
  assert.equal(times, times.toSorted())
  assert.equal([events[0].type, events[0].recipient], ['email.sent', null])
  const later = events.slice(1).map((e: { type: string; recipient: string }) => `${e.type} ${e.recipient}`)
  assert.equal(later.sort(), [
    'email.bounced perm-550-511@there.example',
    'email.delivered delivered@simulator.test',
    'email.delivered ok@there.example',
    'email.delivery_delayed defer-451@there.example',
  ])
})

test('shows the data of events', async () => {
  const { events } = everything
  const of = (recipient: string) =>
    events.find((event: { recipient: string; type: string }) => event.recipient === recipient).data
  const { delivery } = of('ok@there.example')
  assert.equal(Object.keys(delivery).sort(), ['duration_ms', 'mx_host', 'mx_ip', 'reply', 'tls'])
  assert.equal([delivery.mx_host, delivery.mx_ip], ['mx.there.example', '127.0.0.2'])
  assert.ok(Number.isInteger(delivery.duration_ms))
  const { bounce } = of('perm-550-511@there.example')
  assert.equal(Object.keys(bounce).sort(), [
    'class',
    'code',
    'enhanced_code',
    'message',
    'mx_host',
    'subtype',
    'type',
  ])
  assert.equal([bounce.type, bounce.code, bounce.enhanced_code], ['Permanent', 550, '5.1.1'])
  const { delay } = of('defer-451@there.example')
  assert.equal(Object.keys(delay).sort(), ['attempt', 'next_attempt_at', 'reply'])
  assert.is(delay.attempt, 1)
  assert.match(delay.next_attempt_at, TIME)
})

test('shows lists as lists and absent values as null', async () => {
  const email = await finished({ from: 'ann@here.example', to: 'ok@there.example', subject: 's', text: 't' })
  assert.equal(email.to, ['ok@there.example'])
  assert.equal([email.cc, email.bcc, email.reply_to, email.tags, email.attachments], [[], [], [], [], []])
  assert.equal([email.html, email.error, email.scheduled_at], [null, null, null])
  assert.equal(email.headers, {})
})

test('shows a new email as queued without events', async () => {
  const session = await mailhorn.signIn()
  const hold = (how: 'hold' | 'release') =>
    mailhorn.call('POST', `/queue/${how}`, { session, body: { domain: 'there.example' } })
  assert.is((await hold('hold')).status, 201)
  const id = await mailhorn.send({ ...FULL, to: 'ok@there.example', cc: [], bcc: [] })
  const email = await mailhorn.email(id)
  assert.equal(
    [email.status, email.last_event, email.events, email.last_event_at],
    ['queued', 'queued', [], null],
  )
  assert.is((await hold('release')).status, 200)
  await mailhorn.emailWhen(id, 'delivered')
})

test('shows only sent in a region without feedback', async () => {
  const sent = { ...FULL, from: 'ann@far.example', to: 'perm-550-511b@there.example', cc: [], bcc: [] }
  const id = await mailhorn.send(sent)
  await mx.until(/RCPT TO:<perm-550-511b@there\.example>/)
  while (mailhorn.rows('select email from suppressions where email like ?', 'perm-550-511b@%').length === 0)
    await new Promise(resolve => setImmediate(resolve))
  const email = await mailhorn.email(id)
  assert.equal([email.status, email.last_event, email.error], ['sent', 'sent', null])
  assert.equal(
    email.events.map(({ type }: { type: string }) => type),
    ['email.sent'],
  )
  const [{ address, kind, status, next_attempt_at: nextAt, mx_host: mxHost, reply, transcripts }] =
    email.recipients
  assert.equal([address, kind, status, nextAt, mxHost, reply], [sent.to, 'to', 'sent', null, null, null])
  assert.equal(transcripts, [])
  assert.not(JSON.stringify(email).includes('550 5.1.1'))
})

test('accepts the id without prefix', async () => {
  const id = await mailhorn.send({ ...FULL, to: 'delivered@simulator.test', cc: [], bcc: [] })
  await mailhorn.emailWhen(id, 'delivered')
  assert.equal(await mailhorn.email(id.slice('eml_'.length)), await mailhorn.email(id))
})

test('shows ids without prefix to the client that needs it', async () => {
  const headers = { 'user-agent': 'resend-sdk/0.11.0 dotnet/9.0' }
  const body = { ...FULL, to: 'delivered@simulator.test', cc: [], bcc: [], tags: [{ any_id: 'kept' }] }
  const sent = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body, headers })
  const bare = new RegExp(`^${UUID}$`)
  assert.match(sent.body.id, bare)
  await mailhorn.emailWhen(sent.body.id, 'delivered')
  const { body: email } = await mailhorn.call('GET', `/emails/${sent.body.id}`, {
    key: mailhorn.apiKey,
    headers,
  })
  const ids = [email.id, ...email.events, ...email.attachments].map(entry => entry.id ?? entry)
  for (const id of ids) assert.match(id, bare)
  assert.is(`eml_${email.id}`, (await mailhorn.email(email.id)).id)
  assert.equal(email.tags, [{ any_id: 'kept' }])
  assert.match(email.message_id, /^<.+@here\.example>$/)

  for (const agent of ['resend-node:6.38.0', 'resend-sdkx', 'my resend-sdk/1']) {
    const options = { key: mailhorn.apiKey, headers: { 'user-agent': agent } }
    const { body: other } = await mailhorn.call('GET', `/emails/${sent.body.id}`, options)
    assert.match(other.id, prefixed('eml'))
  }
})

test('shows no return path, token, signature or hash', async () => {
  const shown = JSON.stringify(everything)
  for (const secret of [/b\+[a-z2-7]{20}/, /X-Mailhorn-Ref/i, /DKIM-Signature/i, /"hash"/, /account/i])
    assert.not.match(shown, secret)
})

test.run()
