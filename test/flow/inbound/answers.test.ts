import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('received mail, passed on and answered')
const ZONE = 'here.example MX 10 mailhorn.test'
const MAIL = `From: Ann <delivered@simulator.test>
To: bob@here.example
Subject: A question
Message-ID: <second@simulator.test>
References: <first@simulator.test>
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<p>What <b>is</b> it?</p>
--b
Content-Type: text/plain; name=notes.txt

the notes
--b--
`

let mailhorn: Mailhorn

test.before(async () => {
  mailhorn = await startMailhorn({ zone: ZONE })
  await mailhorn.verifiedDomain('here.example')
})
test.after(() => mailhorn.close())

const key = () => mailhorn.apiKey
const get = (path: string) => mailhorn.call('GET', path, { key: key() })
const post = (path: string, body: object, headers = {}) =>
  mailhorn.call('POST', path, { key: key(), body, headers })

// biome-ignore lint/suspicious/noExplicitAny: views of every field
type View = any

/** Once it is listed. */
async function received(subject: string): Promise<View> {
  return until(async () => {
    const { body } = await get(`/inbound?q=${encodeURIComponent(subject)}`)
    return body.data.length > 0 ? (await get(`/inbound/${body.data[0].id}`)).body : undefined
  })
}

async function receive(data: string, from = 'delivered@simulator.test'): Promise<View> {
  const known = (await get('/inbound?limit=1')).body.data[0]?.id
  const reply = await sendMail(mailhorn.app.inboundAddress!, { from, to: 'bob@here.example', data })
  assert.match(reply, /^250 /)
  return until(async () => {
    const { body } = await get('/inbound?limit=1')
    return body.data[0]?.id === known ? undefined : (await get(`/inbound/${body.data[0].id}`)).body
  })
}

/** Returns the message as it was sent, with header lines unfolded. */
async function rawOf(id: string): Promise<string> {
  await mailhorn.emailWhen(id, 'delivered')
  return (await get(`/emails/${id}/raw`)).body.replace(/\r\n[\t ]/g, ' ')
}

test('a message that answers an email names it, in the inbox and to webhooks', async () => {
  const id = await mailhorn.send({
    from: 'bob@here.example',
    to: 'delivered@simulator.test',
    subject: 'Your order',
    text: 'It is on its way.',
  })
  const { message_id: sent } = await mailhorn.emailWhen(id, 'delivered')
  const answer = (fields: string) =>
    receive(`From: Ann <delivered@simulator.test>\nTo: bob@here.example\nSubject: Re\n${fields}\nThanks.\n`)
  for (const [fields, email] of [
    [`In-Reply-To: ${sent}\n`, id],
    [`References: <first@there.test> ${sent} <later@there.test>\nIn-Reply-To: <later@there.test>\n`, id],
    [`In-Reply-To: ${sent.replace(/<.{8}/, '<00000000')}\n`, null],
    ['', null],
  ] as const) {
    const message = await answer(fields)
    assert.is(message.in_reply_to_email_id, email, fields)
    const [event] = mailhorn.rows<{ data: string }>(
      "select data from events where type = 'email.received' order by id desc limit 1",
    )
    assert.is(JSON.parse(event!.data).in_reply_to_email_id, email)
  }
})

test('mail from here to a domain that is received here is in its inbox, once, and over no network', async () => {
  const id = await mailhorn.send({
    from: 'ann@here.example',
    to: ['bob@here.example', 'carol@here.example'],
    subject: 'Lunch?',
    text: 'at noon',
  })
  const email = await mailhorn.emailWhen(id, 'delivered')
  for (const { reply, transcripts } of email.recipients) {
    assert.is(reply, '250 2.0.0 handed over to the inbox of here.example on this server, over no network')
    assert.equal([transcripts.length, transcripts[0].outcome, transcripts[0].mx_host], [1, 'delivered', null])
  }
  const message = await received('Lunch?')
  assert.equal(
    [message.from, message.text, message.envelope.client_ip],
    ['ann@here.example', 'at noon\n', null],
  )
  assert.match(message.headers.received[0], /^by mailhorn\.test with local id eml_/)
  const both = await until(async () => {
    const { body } = await get('/inbound?q=Lunch')
    return body.total > 1 ? body : undefined
  })
  assert.is(both.total, 2)
})

test('a reply stands in the thread of the message, and goes to its sender', async () => {
  const { id } = await receive(MAIL)
  const { status, body } = await post(`/inbound/${id}/reply`, {
    from: 'Bob <bob@here.example>',
    text: 'It is.',
  })
  assert.is(status, 200)
  const email = await mailhorn.emailWhen(body.id, 'delivered')
  assert.equal([email.subject, email.to], ['Re: A question', ['Ann <delivered@simulator.test>']])
  const raw = await rawOf(body.id)
  assert.match(raw, /^In-Reply-To: <second@simulator\.test>\r$/m)
  assert.match(raw, /^References: <first@simulator\.test> <second@simulator\.test>\r$/m)
  assert.match(raw, /^X-Mailhorn-Answered: 1\r$/m)
})

test('an address that lacks only its quotes can be answered', async () => {
  const message = await receive(
    MAIL.replace('delivered@simulator', 'user..x@simulator').replace('A question', 'Dots'),
  )
  const { status, body } = await post(`/inbound/${message.id}/reply`, {
    from: 'bob@here.example',
    text: 'Yes.',
  })
  assert.is(status, 200, JSON.stringify(body))
  const { to } = (await get(`/emails/${body.id}`)).body
  assert.equal(to, ['Ann <"user..x"@simulator.test>'])
})

test('the sender who is shown is answered, whatever words and lines are around', async () => {
  const { id, from, parse_error } = await receive(
    `no field\n${MAIL.replace('Ann <', 'Doe, Ann (of \\) X) <')}`,
  )
  assert.equal(
    [from, parse_error],
    ['"Doe, Ann" <delivered@simulator.test>', 'The header has a line that is not a header field'],
  )
  const { body } = await post(`/inbound/${id}/reply`, { from: 'bob@here.example', text: 'It is.' })
  const email = await mailhorn.emailWhen(body.id, 'delivered')
  assert.equal(email.to, ['"Doe, Ann" <delivered@simulator.test>'])
})

test('a message is passed on with its files, and with who said it', async () => {
  const { id } = await receive(MAIL)
  const { body } = await post(`/inbound/${id}/forward`, {
    from: 'bob@here.example',
    to: ['delivered@simulator.test', 'delivered+2@simulator.test'],
  })
  const email = await mailhorn.emailWhen(body.id, 'delivered')
  assert.is(email.subject, 'Fwd: A question')
  assert.match(
    email.html,
    /Forwarded message[\s\S]*From: Ann &#60;delivered@simulator\.test&#62;[\s\S]*<b>is<\/b>/,
  )
  assert.equal(
    email.attachments.map(({ filename, size }: View) => [filename, size]),
    [['notes.txt', 9]],
  )
})

test('charset and method of a file are shown, downloaded and passed on', async () => {
  const { id, attachments } = await receive(`From: Ann <delivered@simulator.test>
To: bob@here.example
Subject: Files
Content-Type: multipart/mixed; boundary=b

--b

See the files.
--b
Content-Type: text/plain; charset=iso-8859-1; name="latin.txt"; format=flowed
Content-Transfer-Encoding: quoted-printable

Gr=FC=DFe
--b
Content-Type: text/calendar; CHARSET=utf-8; method=REQUEST; component="a;b"; name=inv.ics

BEGIN:VCALENDAR
--b--
`)
  assert.equal(
    attachments.map((one: View) => [one.content_type, one.content_type_params]),
    [
      ['text/plain', { charset: 'iso-8859-1', format: 'flowed' }],
      ['text/calendar', { charset: 'utf-8', method: 'REQUEST', component: 'a;b' }],
    ],
  )
  const [row] = (await get('/inbound?limit=1')).body.data
  assert.equal(row.attachments, attachments)
  const expected = [
    'text/plain; charset=iso-8859-1; format=flowed',
    'text/calendar; charset=utf-8; method=REQUEST; component="a;b"',
  ]
  for (const [place, type] of expected.entries()) {
    const path = `${mailhorn.baseUrl}/inbound/${id}/attachments/${place}`
    const file = await fetch(path, { headers: { authorization: `Bearer ${key()}` } })
    await file.arrayBuffer()
    assert.is(file.headers.get('content-type'), type)
  }
  const { body } = await post(`/inbound/${id}/forward`, {
    from: 'bob@here.example',
    to: 'delivered@simulator.test',
  })
  const raw = await rawOf(body.id)
  assert.match(
    raw,
    /^Content-Type: text\/plain; charset="?iso-8859-1"?; format="?flowed"?; name="?latin\.txt/m,
  )
  assert.match(
    raw,
    /^Content-Type: text\/calendar; charset="?utf-8"?; method="?REQUEST"?; component="a;b"; name/m,
  )
})

test('a repeated request is answered as its first was', async () => {
  const { id } = await receive(MAIL)
  const other = await receive(MAIL)
  const reply = (of: string, text: string) =>
    post(`/inbound/${of}/reply`, { from: 'bob@here.example', text }, { 'idempotency-key': 'once' })
  const first = await reply(id, 'one')
  assert.is((await reply(id, 'one')).body.id, first.body.id)
  assertRefusal(await reply(id, 'two'), { status: 409, name: 'invalid_idempotent_request' })
  assert.is.not((await reply(other.id, 'one')).body.id, first.body.id)
})

test('programs are not answered, and nothing goes round for ever', async () => {
  const refused = { status: 422, name: 'validation_error' }
  const reply = (id: string) => post(`/inbound/${id}/reply`, { from: 'bob@here.example', text: 'hi' })
  const automatic = await receive(`Auto-Submitted: auto-replied\n${MAIL}`)
  assertRefusal(await reply(automatic.id), { ...refused, says: /automatic message/ })
  const bounce = await receive(MAIL, '')
  assertRefusal(await reply(bounce.id), { ...refused, says: /empty return path/ })
  const round = await receive(`X-Mailhorn-Answered: 10\n${MAIL}`)
  assertRefusal(await reply(round.id), { ...refused, says: /too often/ })
  const to = { from: 'bob@here.example', to: 'delivered@simulator.test' }
  assertRefusal(await post(`/inbound/${round.id}/forward`, to), { ...refused, says: /too often/ })
  const listed = await receive(`List-Id: <list.there.example>\n${MAIL}`)
  assert.equal(
    [automatic, bounce, listed, round].map(message => message.automatic),
    ['auto-reply', 'report', 'bulk', null],
  )
  assert.is((await get('/inbound?limit=2')).body.data[1].automatic, null)
  const [event] = mailhorn.rows<{ data: string }>(
    "select data from events where type = 'email.received' order by id desc limit 1",
  )
  assert.is(JSON.parse(event!.data).automatic, 'bulk')
  const nobody = await receive('Subject: from nobody\n\nhi\n')
  assertRefusal(await reply(nobody.id), { ...refused, says: /no address to reply to/ })
  assert.is((await reply((await receive(`Auto-Submitted: no\n${MAIL}`)).id)).status, 200)
})

test('what may not be sent is not sent by these ways either', async () => {
  const { id } = await receive(MAIL)
  for (const [path, body, refusal] of [
    ['reply', { from: 'bob@here.example' }, { status: 422, name: 'missing_required_field' }],
    ['reply', { from: 'bob@here.example', html: '' }, { status: 422, name: 'missing_required_field' }],
    ['reply', { from: 'nonsense', text: 'x' }, { status: 422, name: 'invalid_from_address' }],
    ['forward', { from: 'bob@here.example' }, { status: 422, name: 'missing_required_field' }],
    [
      'forward',
      { from: 'bob@elsewhere.example', to: 'ann@there.example' },
      { status: 403, name: 'validation_error' },
    ],
    [
      'forward',
      { from: 'bob@here.example', to: 'not an address' },
      { status: 422, name: 'validation_error' },
    ],
  ] as const)
    assertRefusal(await post(`/inbound/${id}/${path}`, body), refusal)
})

test.run()
