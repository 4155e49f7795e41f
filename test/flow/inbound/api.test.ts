import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { sendMail } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('received mail over the API')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const GIF = Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')
const MAIL = `From: =?utf-8?q?J=C3=BCrgen?= <juergen@there.example>
To: Bob <bob@here.example>, carol@elsewhere.example
Cc: "Dora, D." <dora@here.example>
Reply-To: answers@there.example
Subject: =?utf-8?q?Die_Rechnung_f=C3=BCr_M=C3=A4rz?=
Message-ID: <march@there.example>
X-Twice: one
X-Twice: two
__proto__: polluted
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=outer

--outer
Content-Type: multipart/related; boundary=inner

--inner
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

<p>Gr=FC=DFe</p><img src=3D"cid:pixel@there.example">
--inner
Content-Type: image/gif
Content-ID: <pixel@there.example>
Content-Transfer-Encoding: base64

${GIF.toString('base64')}
--inner--
--outer
Content-Type: application/pdf
Content-Disposition: attachment; filename*=utf-8''Rechnung%20M%C3%A4rz.pdf
Content-Transfer-Encoding: base64

JVBERi0xLjQK
--outer--
`

let mailhorn: Mailhorn
let resend: Resend

test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_PLANS_SCALE_RETENTION_DAYS: '90' } })
  await mailhorn.verifiedDomain('here.example')
  await mailhorn.verifiedDomain('other.example')
  resend = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
})
test.after(() => mailhorn.close())

const get = (path: string, key = mailhorn.apiKey) => mailhorn.call('GET', path, { key })

/** Takes the mail in at port 25. @returns its id, once it is listed */
async function receive(data: string, to: string | string[] = 'bob@here.example'): Promise<string> {
  const known = new Set(((await get('/inbound?limit=100')).body.data as { id: string }[]).map(({ id }) => id))
  const reply = await sendMail(mailhorn.app.inboundAddress!, { from: 'ann@there.example', to, data })
  assert.match(reply, /^250 /)
  return until(async () => {
    const { body } = await get('/inbound?limit=100')
    return (body.data as { id: string }[]).find(({ id }) => !known.has(id))?.id
  })
}

async function bytesOf(url: string) {
  const response = await fetch(url)
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  }
}

test('a received message is shown with all that it says', async () => {
  const id = await receive(MAIL, ['bob@here.example', 'dora@here.example'])
  const { body } = await get(`/inbound/${id}`)
  const { created_at, raw_url, raw, attachments, headers, verdicts, envelope, size, ...rest } = body
  assert.equal(rest, {
    object: 'inbound_email',
    id,
    from: 'Jürgen <juergen@there.example>',
    to: ['Bob <bob@here.example>', 'carol@elsewhere.example'],
    cc: ['"Dora, D." <dora@here.example>'],
    bcc: [],
    reply_to: ['answers@there.example'],
    received_for: ['bob@here.example', 'dora@here.example'],
    subject: 'Die Rechnung für März',
    unread: true,
    thread_count: 1,
    automatic: null,
    message_id: '<march@there.example>',
    ...{ spam_verdict: rest.spam_verdict, virus_verdict: rest.virus_verdict, spf_verdict: rest.spf_verdict },
    ...{ dkim_verdict: rest.dkim_verdict, dmarc_verdict: rest.dmarc_verdict },
    authentication_results: rest.authentication_results,
    parse_error: null,
    in_reply_to_email_id: null,
    text: null,
    html: '<p>Grüße</p><img src="cid:pixel@there.example">',
  })
  assert.equal(
    attachments.map((one: Record<string, unknown>) => [
      one.filename,
      one.content_type,
      one.size,
      one.content_disposition,
    ]),
    [
      ['attachment-1.gif', 'image/gif', GIF.length, 'inline'],
      ['Rechnung März.pdf', 'application/pdf', 9, 'attachment'],
    ],
  )
  assert.equal(headers['x-twice'], ['one', 'two'])
  assert.equal(Object.getOwnPropertyDescriptor(headers, '__proto__')?.value, ['polluted'])
  assert.equal(
    [envelope.from, envelope.client_ip, envelope.helo],
    ['ann@there.example', '127.0.0.1', 'client.example'],
  )
  assert.match(created_at, /Z$/)
  assert.is(raw.download_url, raw_url)
  const { body: list } = await get('/inbound')
  const row = list.data.find((one: { id: string }) => one.id === id)
  assert.equal(row.attachments, attachments)
  assert.is('text' in row || 'headers' in row, false)
})

test('the message itself and its files are there to the octet', async () => {
  const id = await receive(MAIL)
  const { body } = await get(`/inbound/${id}`)
  const raw = MAIL.replace(/\n/g, '\r\n')
  for (const url of [`/inbound/${id}/raw`, body.raw_url.slice(mailhorn.baseUrl.length)]) {
    const answer = await fetch(mailhorn.baseUrl + url, {
      headers: { authorization: `Bearer ${mailhorn.apiKey}` },
    })
    assert.is(answer.headers.get('content-type'), 'message/rfc822')
    assert.ok((await answer.text()).includes(raw), url)
  }
  for (const [place, expected] of [
    ['0', GIF],
    ['1', Buffer.from('%PDF-1.4\n')],
    [body.attachments[1].id, Buffer.from('%PDF-1.4\n')],
  ] as const) {
    const answer = await fetch(`${mailhorn.baseUrl}/inbound/${id}/attachments/${place}`, {
      headers: { authorization: `Bearer ${mailhorn.apiKey}` },
    })
    assert.equal(Buffer.from(await answer.arrayBuffer()), expected)
    assert.is(answer.headers.get('content-length'), String(expected.length))
    assert.is(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.match(answer.headers.get('content-disposition')!, /^attachment/)
  }
  for (const place of ['2', '00', '-1', 'x'])
    assertRefusal(await get(`/inbound/${id}/attachments/${place}`), { status: 404, name: 'not_found' })
})

test('the source begins with the return path and where the message came from', async () => {
  const id = await receive(`Return-Path: <forged@there.example>\n${MAIL}`)
  const { body } = await get(`/inbound/${id}`)
  const { body: raw } = await get(`/inbound/${id}/raw`)
  const [head] = raw.split('\r\n\r\n')
  assert.match(head, /^Return-Path: <ann@there\.example>\r\n/)
  assert.is(head.match(/^Return-Path:/gm).length, 1)
  const [, received] = /^Received: ((?:.+\r\n)(?:\t.+\r\n)+)/m.exec(head)!
  const at = new Date(body.created_at).toUTCString().replace('GMT', '+0000')
  assert.is(
    received,
    'from client.example ([127.0.0.1])\r\n' +
      `\tby mailhorn.test with ESMTP id ${id.replace('inb_', '')}\r\n\tfor <bob@here.example>;\r\n\t${at}\r\n`,
  )
})

test('the SDK lists, gets and downloads received mail', async () => {
  const id = await receive(MAIL)
  const { data: list } = await resend.emails.receiving.list({ limit: 1 })
  assert.equal([list!.data[0]!.id, list!.has_more], [id, true])
  const { data: mail } = await resend.emails.receiving.get(id)
  assert.equal(
    [mail!.object, mail!.subject, mail!.message_id, mail!.received_for, mail!.headers!['x-twice']],
    ['email', 'Die Rechnung für März', '<march@there.example>', ['bob@here.example'], 'one, two'],
  )
  assert.is(mail!.html, `<p>Grüße</p><img src="data:image/gif;base64,${GIF.toString('base64')}">`)
  const { data: plain } = await resend.emails.receiving.get(id, { html_format: 'cid' })
  assert.match(plain!.html!, /cid:pixel@there\.example/)
  const { data: files } = await resend.emails.receiving.attachments.list({ emailId: id })
  assert.is(files!.data.length, 2)
  const { data: file } = await resend.emails.receiving.attachments.get({
    emailId: id,
    id: files!.data[1]!.id,
  })
  assert.equal(
    [file!.filename, file!.size, file!.content_disposition],
    ['Rechnung März.pdf', 9, 'attachment'],
  )
  const { bytes } = await bytesOf(file!.download_url)
  assert.is(bytes.toString(), '%PDF-1.4\n')
  assert.ok(
    (await bytesOf(mail!.raw!.download_url)).bytes.toString().includes('Message-ID: <march@there.example>'),
  )
  mailhorn.clock.advance(HOUR_MS + 1)
  assert.is((await bytesOf(file!.download_url)).status, 403)
})

test('the SDK forwards a received message as it was', async () => {
  const id = await receive(MAIL)
  const { data, error } = await resend.emails.receiving.forward({
    ...{ emailId: id, from: 'bob@here.example', to: 'delivered@simulator.test' },
  })
  assert.is(error, null)
  const email = await mailhorn.emailWhen(data!.id, 'delivered')
  assert.is(email.subject, 'Die Rechnung für März')
  assert.equal(
    email.attachments.map(({ filename }: { filename: string }) => filename),
    ['attachment-1.gif', 'Rechnung März.pdf'],
  )
})

test('mail is found by part of its subject, in any case, and listed by pages', async () => {
  const ids: string[] = []
  for (const subject of [
    '=?utf-8?q?100%=5FM=C3=A4use?= eins',
    'Zwei MAEUSE',
    '=?utf-8?q?drei_100=25=5FM=C3=84USE?=',
  ])
    ids.push(await receive(`Subject: ${subject}\n\nhi\n`))
  const found = async (query: string) => {
    const { body } = await get(`/inbound?${query}`)
    return [body.total, body.data.map(({ id }: { id: string }) => ids.indexOf(id)), body.has_more]
  }
  assert.equal(await found(`q=${encodeURIComponent('100%_mäuse')}`), [2, [2, 0], false])
  assert.equal(await found(`q=${encodeURIComponent('%_m')}&limit=1`), [2, [2], true])
  assert.equal(await found(`q=${encodeURIComponent('%_m')}&limit=1&offset=1`), [2, [0], false])
  assert.equal(await found('q=nowhere'), [0, [], false])
  const { body: all } = await get('/inbound')
  assert.equal(await found(`limit=2&after=${ids[2]}`), [all.total, [1, 0], true])
  assert.equal(await found(`limit=2&before=${ids[0]}`), [all.total, [2, 1], false])
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'after=x', `after=${ids[0]}&offset=1`])
    assertRefusal(await get(`/inbound?${query}`), { status: 422, name: 'validation_error' })
})

test('a key that is bound to a domain sees its mail alone', async () => {
  const session = await mailhorn.signIn()
  const { body: domains } = await mailhorn.call('GET', '/domains', { session })
  const other = domains.data.find(({ name }: { name: string }) => name === 'other.example')
  const { body: bound } = await mailhorn.call('POST', '/api-keys', {
    session,
    body: { name: 'bound', domain_id: other.id },
  })
  const theirs = await receive('Subject: not for other\n\nhi\n', 'bob@here.example')
  const own = await receive('Subject: for other\n\nhi\n', 'bob@other.example')
  const { body: list } = await get('/inbound', bound.token)
  assert.equal([list.total, list.data.map(({ id }: { id: string }) => id)], [1, [own]])
  assert.is((await get(`/inbound/${own}`, bound.token)).status, 200)
  for (const path of [`/inbound/${theirs}`, `/inbound/${theirs}/raw`, `/emails/receiving/${theirs}`])
    assertRefusal(await get(path, bound.token), { status: 404, name: 'not_found' })
})

test('another account sees nothing of it', async () => {
  const id = await receive('Subject: ours\n\nhi\n')
  const { apiKey } = addAccount(mailhorn, 'stranger')
  assert.is((await get('/inbound', apiKey)).body.total, 0)
  assertRefusal(await get(`/inbound/${id}`, apiKey), { status: 404, name: 'not_found' })
})

test('what is deleted is gone, with its bytes', async () => {
  const id = await receive(`Subject: delete me\n\n${'x'.repeat(90)}\n`.repeat(1))
  const { body: before } = await get('/inbound')
  const { body } = await mailhorn.call('DELETE', `/inbound/${id}`, { key: mailhorn.apiKey })
  assert.equal(body, { object: 'inbound_email', id, deleted: true })
  assertRefusal(await get(`/inbound/${id}`), { status: 404, name: 'not_found' })
  assert.is((await get('/inbound')).body.total, before.total - 1)
  assert.is(mailhorn.rows('select 1 from events where data like ?', `%${id}%`).length, 0)
})

test('what cannot be read is listed all the same, and says why', async () => {
  const parts = '--b\nContent-Type: text/plain; name=a\n\nx\n'.repeat(1_200)
  const id = await receive(
    `Subject: many\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nthe text\n${parts}--b--\n`,
  )
  const { body } = await get(`/inbound/${id}`)
  assert.equal(
    [body.subject, body.text, body.parse_error],
    ['many', 'the text', 'The message has more than 1,000 parts; the others were not read'],
  )
  assert.is(body.attachments.length, 998)
})

test('received mail is counted, and leaves the account’s sight by its age', async () => {
  const id = await receive('Subject: old\n\nhi\n')
  const session = await mailhorn.signIn()
  mailhorn.clock.advance(HOUR_MS)
  const { body: metrics } = await mailhorn.call('GET', '/emails/metrics?metrics=received', { session })
  assert.ok(metrics.totals.received > 0)
  mailhorn.clock.advance(91 * DAY_MS)
  assertRefusal(await get(`/inbound/${id}`), { status: 404, name: 'not_found' })
  assert.is((await get('/inbound')).body.total, 0)
  await until(async () => {
    mailhorn.clock.advance(60_000) // a sweeper rests after a step that the clock made long
    return mailhorn.rows('select 1 from inbound_messages').length === 0 || undefined
  })
  assert.is(mailhorn.rows('select 1 from inbound_subjects').length, 0)
})

test.run()
