import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('GET /emails/:id/raw')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const DAY_MS = 86_400_000
const MAIL = { from: 'Ann <ann@here.example>', subject: 'Hello', text: 'text' }
let mx: FakeMx
let mailhorn: Mailhorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  for (const name of ['here.example', 'gone.example', 'turns.example']) await mailhorn.verifiedDomain(name)
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

interface Raw {
  status: number
  fidelity: string | null
  headers: Headers
  bytes: Buffer
}

async function raw(id: string, query = '', method = 'GET'): Promise<Raw> {
  const { status, headers, ...response } = await answer(id, query, method)
  return { status, headers, fidelity: headers.get('x-mailhorn-raw'), bytes: response.bytes }
}

async function answer(id: string, query: string, method = 'GET') {
  const response = await fetch(`${mailhorn.baseUrl}/emails/${id}/raw${query}`, {
    method,
    headers: { authorization: `Bearer ${mailhorn.apiKey}` },
  })
  const { status, headers } = response
  return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const ask = (id: string, query = '') =>
  mailhorn.call('GET', `/emails/${id}/raw${query}`, { key: mailhorn.apiKey })

/** Returns the newest message that the MX accepted for an address. */
const taken = (address: string) => mx.messages.findLast(({ rcptTo }) => rcptTo.includes(address))!.data
const sameBytes = (a: Buffer, b: Buffer) => assert.ok(a.equals(b), `\n${a}\n-----\n${b}`)

test('HTML alone is sent with a text derived from it, which is not shown as given', async () => {
  const html = '<style>p{}</style><p>Hi Ann,</p><a href="https://here.example/a?b=1&amp;c=2">Go</a>'
  const textOf = async (mail: object) => {
    const id = await mailhorn.send({ ...MAIL, to: 'ok-html@there.example', html, ...mail })
    await mailhorn.emailWhen(id, 'delivered')
    const shown = await mailhorn.call('GET', `/emails/${id}`, { key: mailhorn.apiKey })
    const sent = await PostalMime.parse(taken('ok-html@there.example'))
    assert.is(sent.html?.trim(), html)
    return [(shown.body as { text: unknown }).text, sent.text?.trim()]
  }
  const derived = 'Hi Ann,\n\nGo (https://here.example/a?b=1&c=2)'
  assert.equal(await textOf({ text: undefined }), [null, derived])
  assert.equal(await textOf({ text: null }), [null, derived])
  assert.equal(await textOf({ text: '' }), ['', undefined], 'an empty text opts out')
})

test('is byte for byte the message sent to each recipient', async () => {
  const recipients = ['ok-a@there.example', 'ok-b@there.example', 'ok-c@there.example']
  const id = await mailhorn.send({
    from: 'Änn Émile <ann@here.example>',
    to: `Bob <${recipients[0]}>`,
    cc: recipients[1],
    bcc: recipients[2],
    reply_to: 'replies@here.example',
    subject: `Grüße 😀 ${'und noch mehr '.repeat(20)}`,
    html: `<p>héllo</p>\n.\n..\n<img src="cid:logo">${'x'.repeat(3_000)}`,
    text: '.\r\nFrom here\n\ttab  \nlast line without an end',
    headers: { 'X-Entity-Ref-ID': 'ref-1', 'In-Reply-To': '<a@b.example>' },
    attachments: [
      { filename: 'ä.txt', content: 'aGVsbG8=' },
      { filename: 'logo.png', content: Buffer.alloc(200_000, 7).toString('base64'), content_id: 'logo' },
    ],
  })
  await mailhorn.emailWhen(id, 'delivered')
  for (const address of recipients) {
    const { status, fidelity, headers, bytes } = await raw(id, `?recipient=${address}`)
    assert.equal([status, fidelity, headers.get('content-type')], [200, 'exact', 'message/rfc822'])
    assert.is(headers.get('content-length'), String(bytes.length))
    sameBytes(bytes, taken(address))
  }
  assert.not(taken(recipients[0]!).equals(taken(recipients[1]!)), 'each has a reference of its own')
  sameBytes((await raw(id)).bytes, taken(recipients[0]!))
  sameBytes((await raw(id, '?recipient=OK-B@There.Example')).bytes, taken(recipients[1]!))
})

for (const [what, mail] of [
  ['empty text', { text: '' }],
  ['html alone', { html: '<p>only</p>' }],
  ['an attached message', { text: 't', attachments: [{ filename: 'a.eml', content: 'QTogYg0KDQpj' }] }],
  ['a scheduled time', { text: 't', scheduled_at: 'soon' }],
] as const)
  test(`is exact with ${what}`, async () => {
    const to = `ok-${what.replaceAll(' ', '-')}@there.example`
    const later = 'scheduled_at' in mail
    const at = new Date(mailhorn.clock.now() + 60_000).toISOString()
    const base = { from: MAIL.from, subject: 's', to, html: '<p>html</p>' }
    const id = await mailhorn.send({ ...base, ...mail, ...(later ? { scheduled_at: at } : {}) })
    if (later) mailhorn.clock.advance(61_000)
    await mailhorn.emailWhen(id, 'delivered')
    const { fidelity, bytes } = await raw(id)
    assert.is(fidelity, 'exact')
    sameBytes(bytes, taken(to))
  })

test('has signatures that an independent verifier accepts', async () => {
  const to = 'ok-verified@there.example'
  const id = await mailhorn.send({ ...MAIL, to })
  await mailhorn.emailWhen(id, 'delivered')
  const { bytes } = await raw(id)
  const { results } = await dkimVerify(bytes, { resolver: keysInStore })
  assert.equal(
    results.map(({ status }: { status: { result: string } }) => status.result),
    ['pass', 'pass'],
  )
})

/** The keys as their TXT records say them. */
async function keysInStore(name: string): Promise<string[][]> {
  const token = name.split('.')[0]!
  const [key] = mailhorn.rows<{ algorithm: string; public_key: string }>(
    'select algorithm, public_key from dkim_keys where token = ?',
    token,
  )
  return [[`v=DKIM1; k=${key!.algorithm.split('-')[0]}; p=${key!.public_key}`]]
}

test('is the message of every attempt after a deferral, signed once', async () => {
  const to = 'dot-451@there.example'
  const id = await mailhorn.send({ ...MAIL, to })
  await mailhorn.emailWhen(id, 'delivery_delayed')
  const first = await raw(id)
  assert.is(first.fidelity, 'exact')
  mailhorn.clock.advance(2 * 3_600_000)
  for (;;) {
    const [recipient] = (await mailhorn.email(id)).recipients
    if (recipient.attempts > 1 && recipient.transcripts.length > 1) break
  }
  const second = await raw(id)
  assert.is(second.fidelity, 'exact')
  assert.is(`${second.bytes}`, `${first.bytes}`)
})

test('is marked and unsigned before the first attempt has ended', async () => {
  const scheduled = { ...MAIL, scheduled_at: new Date(mailhorn.clock.now() + DAY_MS).toISOString() }
  const id = await mailhorn.send({ ...scheduled, to: 'ok-waiting@there.example' })
  const { status, fidelity, bytes } = await raw(id)
  assert.equal([status, fidelity], [200, 'not-sent'])
  assert.not.match(`${bytes}`, /DKIM-Signature|X-Mailhorn-Ref/i)
  const { subject, text } = await PostalMime.parse(bytes)
  assert.equal([subject, text?.trim()], ['Hello', 'text'])
})

test('is marked unsigned for simulated mail from an unverified domain', async () => {
  const id = await mailhorn.send({ ...MAIL, from: 'ann@nowhere.example', to: 'delivered@simulator.test' })
  await mailhorn.emailWhen(id, 'delivered')
  const { fidelity, bytes } = await raw(id)
  assert.is(fidelity, 'unsigned')
  assert.match(`${bytes}`, /^X-Mailhorn-Ref: /m)
  assert.not.match(`${bytes}`, /DKIM-Signature/i)
})

test('is marked inexact if the stored data do not match the signature', async () => {
  const id = await mailhorn.send({ ...MAIL, to: 'ok-changed@there.example' })
  await mailhorn.emailWhen(id, 'delivered')
  const messageId = (await mailhorn.email(id)).message_id
  mailhorn.change('update emails set subject = ? where message_id = ?', 'Hullo', messageId)
  const { fidelity, bytes } = await raw(id)
  assert.is(fidelity, 'inexact')
  assert.match(`${bytes}`, /^Subject: Hullo/m)
  assert.not.match(`${bytes}`, /DKIM-Signature/, 'nothing is signed that was not sent')
})

test('has no signatures after the domain was deleted', async () => {
  const to = 'ok-gone@there.example'
  const id = await mailhorn.send({ ...MAIL, from: 'ann@gone.example', to })
  await mailhorn.emailWhen(id, 'delivered')
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/domains', { session })
  const domain = body.data.find(({ name }: { name: string }) => name === 'gone.example')
  await mailhorn.call('DELETE', `/domains/${domain.id}`, { session })
  const { fidelity, bytes } = await raw(id)
  assert.is(fidelity, 'inexact')
  const sent = `${taken(to)}`
  assert.is(`${bytes}`, sent.slice(sent.indexOf('Date: ')))
})

test('accepts a session and HEAD', async () => {
  const id = await mailhorn.send({ ...MAIL, to: 'delivered@simulator.test' })
  await mailhorn.emailWhen(id, 'delivered')
  const session = await mailhorn.signIn()
  const shown = await mailhorn.call('GET', `/emails/${id}/raw`, { session })
  assert.match(shown.body, /^Subject: Hello/m)
  const { status, headers, bytes } = await raw(id, '', 'HEAD')
  assert.equal([status, bytes.length], [200, 0])
  assert.is(headers.get('content-length'), String(Buffer.byteLength(shown.body)))
})

test('refuses an address that is not a recipient', async () => {
  const id = await mailhorn.send({ ...MAIL, to: 'delivered@simulator.test' })
  assertRefusal(await ask(id, '?recipient=bob@there.example'), { status: 404, name: 'not_found' })
  assertRefusal(await ask(id, '?recipient=nobody'), {
    ...{ status: 422, name: 'validation_error', path: 'recipient' },
  })
})

test('slow readers do not block others, and HEAD takes no slot', async () => {
  const content = Buffer.alloc(8 * 1024 * 1024, 1).toString('base64')
  const attachments = [{ filename: 'large.bin', content }]
  const id = await mailhorn.send({ ...MAIL, to: 'delivered@simulator.test', attachments })
  await mailhorn.emailWhen(id, 'delivered')
  for (let i = 0; i < 5; i++) assert.is((await raw(id, '', 'HEAD')).status, 200)
  const headers = { authorization: `Bearer ${mailhorn.apiKey}` }
  const unread: IncomingMessage[] = []
  for (let i = 0; i < 2; i++)
    unread.push((await once(get(`${mailhorn.baseUrl}/emails/${id}/raw`, { headers }), 'response'))[0])
  const third = raw(id)
  const { body } = await mailhorn.call('GET', '/emails?limit=1', { key: mailhorn.apiKey })
  assert.is(body.data.length, 1)
  for (const reply of unread) reply.destroy()
  assert.ok((await third).bytes.length > 8 * 1024 * 1024, 'it comes when the others have left')
})

test('is deleted with its email', async () => {
  const id = await mailhorn.send({ ...MAIL, to: 'delivered@simulator.test' })
  await mailhorn.emailWhen(id, 'delivered')
  mailhorn.clock.advance(91 * DAY_MS)
  assertRefusal(await ask(id), { status: 404, name: 'not_found', says: /^Email not found/ })
})

test('is exact after a key rotation until the old key is destroyed', async () => {
  const to = 'ok-rotated@there.example'
  const id = await mailhorn.send({ ...MAIL, from: 'ann@turns.example', to })
  await mailhorn.emailWhen(id, 'delivered')
  const keys = mailhorn.rows<{ id: Uint8Array }>(
    "select id from dkim_keys where domain_id = (select id from domains where name = 'turns.example')",
  )
  mailhorn.change(
    `insert into former_dkim_keys (id, domain_id, token, algorithm, public_key, retired_at, private_key)
     select id, domain_id, token, algorithm, public_key, 1, private_key from dkim_keys where domain_id =
     (select id from domains where name = 'turns.example')`,
  )
  for (const key of keys) mailhorn.change('delete from dkim_keys where id = ?', key.id)
  const { fidelity, bytes } = await raw(id)
  assert.is(fidelity, 'exact')
  assert.is(`${bytes}`, `${taken(to)}`)
  for (const key of keys)
    mailhorn.change('update former_dkim_keys set private_key = null where id = ?', key.id)
  const without = await raw(id)
  assert.is(without.fidelity, 'inexact')
  const sent = `${taken(to)}`
  assert.is(`${without.bytes}`, sent.slice(sent.indexOf('Date: ')))
})

test.run()
