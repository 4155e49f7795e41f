import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { rawRequest } from '../../kit/raw-http.ts'
import { suite } from '../../kit/suite.ts'
import { assertReadable, type ReplyKind } from '../../kit/typed-readers.ts'
import { until } from '../../kit/until.ts'
import { WIRE_CLIENTS, type WireCall, wireRequest } from '../../kit/wire-clients.ts'

const test = suite('clients of other languages, byte by byte')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const HOUR_MS = 3_600_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
let mx: FakeMx
let mailhorn: Mailhorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
const integers = [...BYTES]
const base64 = BYTES.toString('base64')
const HTML = '<p>Grüße & "Küsse" 😀</p>'
const MAIL = { from: 'Ann <ann@here.example>', to: ['ok+label@there.example'] }

interface Written {
  /** Returns an email with the given subject and every field that the library can write. */
  email(subject: string): object
  /** Fields of the stored email that differ from those common to all libraries. */
  stored?: object
  /** One from a template; without it the library has no templates. */
  templated?(id: string): object
  /** Headers of a batch of two emails. */
  batch?: { headers?: string[] }
  /** Returns further fields of a request that reschedules an email. */
  moved?(id: string): object
}

const common = { ...MAIL, html: HTML, text: 'hello' }
const file = { filename: 'a.bin', content_type: 'application/x-own' }
const tags = [{ name: 'kind', value: 'a' }]
const headers = { 'X-Entity-Ref-ID': 'ref/1' }
const STRICT = { headers: ['x-batch-validation: strict'] }

/** Requests by name of the client. A client without a key for a kind of request does not send it. */
const WRITTEN: Readonly<Record<string, Written>> = {
  'node 1.1': {
    email: subject => ({
      ...{ ...common, subject, cc: 'ok-cc@there.example', replyTo: 'r@here.example', headers, tags },
      attachments: [{ filename: 'a.bin', content: BYTES.toJSON(), contentType: 'application/x-own' }],
    }),
    stored: { cc: ['ok-cc@there.example'] },
  },
  python: {
    email: subject => ({
      ...{ ...common, subject, reply_to: 'r@here.example', headers, tags },
      attachments: [{ ...file, content: integers }],
    }),
    templated: id => ({ ...MAIL, template: { id, variables: { no: 4711 } } }),
    moved: id => ({ id }),
  },
  go: {
    email: subject => ({
      ...{ ...common, subject, reply_to: 'r@here.example', tags, headers },
      ...{ cc: null, bcc: null },
      attachments: [{ content: integers, ...file }],
    }),
    templated: id => ({
      from: MAIL.from,
      to: MAIL.to,
      subject: '',
      template: { id, variables: { no: 4711 } },
    }),
    moved: id => ({ id }),
  },
  php: {
    email: subject => ({
      ...{ ...common, subject, reply_to: ['r@here.example'], tags, headers },
      ...{ cc: [], bcc: [] },
      attachments: [{ ...file, content: base64 }],
    }),
    templated: id => ({ ...MAIL, headers: [], tags: [], template: { id, variables: { no: 4711 } } }),
    batch: STRICT,
  },
  ruby: {
    email: subject => ({
      ...{ ...common, subject, reply_to: 'r@here.example', tags, headers },
      attachments: [{ ...file, content: integers, content_id: null }],
    }),
    templated: id => ({ ...MAIL, template: { id, variables: { no: 4711 } } }),
    moved: id => ({ email_id: id }),
  },
  rust: {
    email: subject => ({
      ...{ ...common, subject, reply_to: ['r@here.example'], tags, headers },
      attachments: [{ content: integers, filename: 'a.bin', contentType: 'application/x-own' }],
    }),
    templated: id => ({ ...MAIL, subject: '', template: { id, variables: { no: 4711 } } }),
    batch: STRICT,
  },
  java: {
    email: subject => ({
      ...{ ...common, subject, reply_to: ['r@here.example'], tags, headers },
      ...{ cc: null, bcc: null, scheduled_at: null, template: null },
      attachments: [{ ...file, content: base64, path: null, content_id: null }],
    }),
    templated: id => ({ ...MAIL, subject: null, template: { id, variables: { no: 4711 } } }),
  },
  '.NET': {
    email: subject => ({
      ...{ ...common, subject, reply_to: ['r@here.example'], tags, headers, created_at: null },
      ...{ cc: null, bcc: null, topic_id: null, scheduled_at: null },
      attachments: [{ ...file, content: base64, path: null, content_id: null }],
    }),
    templated: id => ({ ...MAIL, template: { id: bare(id), variables: { no: 4711 } } }),
    batch: STRICT,
  },
}

const bare = (id: string) => id.slice(4)
const inHours = (hours: number) => new Date(mailhorn.clock.now() + hours * HOUR_MS).toISOString()

for (const [name, written] of Object.entries(WRITTEN)) {
  const client = WIRE_CLIENTS[name]!
  const bareIds = name === '.NET'
  const ask = async (kind: ReplyKind, call: WireCall) => {
    const host = new URL(mailhorn.baseUrl).host
    const answer = await rawRequest(
      mailhorn.baseUrl,
      wireRequest(client, call, { host, key: mailhorn.apiKey }),
    )
    assertReadable(kind, answer, { bareIds })
    // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
    return answer.body as any
  }
  const send = async (body: object, more: string[] = []): Promise<string> => {
    const { id } = await ask('send', { method: 'POST', path: '/emails', body, headers: more })
    assert.is(UUID.test(id), bareIds, id)
    return id
  }

  test(`${name}: an email arrives as it was written, once`, async () => {
    const subject = `Written in ${name}`
    const key = [`Idempotency-Key: ${name}-1`]
    const id = await send(written.email(subject), key)
    assert.is(await send(written.email(subject), key), id)
    const stored = await mailhorn.emailWhen(id, 'delivered')
    assert.equal(
      Object.fromEntries(
        ['from', 'to', 'cc', 'bcc', 'reply_to', 'subject', 'html', 'text', 'headers', 'tags'].map(field => [
          field,
          stored[field],
        ]),
      ),
      {
        ...{ from: MAIL.from, to: MAIL.to, cc: [], bcc: [], reply_to: ['r@here.example'], subject },
        ...{ html: HTML, text: 'hello', headers, tags },
        ...written.stored,
      },
    )
    const taken = await until(() =>
      mx.messages.filter(one => one.headers.includes(`Subject: ${subject}\r\n`)),
    )
    const { html, attachments } = await PostalMime.parse(taken[0]!.data)
    assert.is(html?.trim(), HTML)
    assert.equal(
      attachments.map(({ filename, mimeType, content }) => [
        ...[filename, mimeType],
        Buffer.from(content as ArrayBuffer).toString('hex'),
      ]),
      [['a.bin', 'application/x-own', BYTES.toString('hex')]],
    )
    const shown = await ask('email', { method: 'GET', path: `/emails/${id}` })
    assert.equal([shown.id, shown.subject, shown.html, shown.last_event], [id, subject, HTML, 'delivered'])
  })

  test(`${name}: two by one request, listed page by page`, async () => {
    const body = [1, 2].map(i => ({ ...MAIL, subject: `${name} ${i}`, text: `${i}` }))
    const batch = { method: 'POST', path: '/emails/batch', body, ...written.batch }
    const { data } = await ask('batch', batch)
    const [first, second] = data.map(({ id }: { id: string }) => id)
    const page = await ask('list', { method: 'GET', path: '/emails?limit=1' })
    assert.equal([page.data[0].id, page.data[0].subject, page.has_more], [second, `${name} 2`, true])
    const next = await ask('list', { method: 'GET', path: `/emails?limit=1&after=${second}` })
    assert.is(next.data[0].id, first)
    const back = await ask('list', { method: 'GET', path: `/emails?before=${first}&limit=1` })
    assert.is(back.data[0].id, second)
  })

  test(`${name}: one that waits is moved, then canceled`, async () => {
    const mail = {
      ...MAIL,
      subject: 'later',
      text: 'later',
      scheduled_at: inHours(1).replace(/\.\d+Z$/, 'Z'),
    }
    const id = await send(mail)
    const scheduledAt = inHours(2)
    const body = { ...written.moved?.(id), scheduled_at: scheduledAt }
    const moved = await ask('changed', { method: 'PATCH', path: `/emails/${id}`, body })
    assert.equal([moved.id, moved.object], [id, 'email'])
    assert.is((await mailhorn.email(id)).scheduled_at, scheduledAt)
    const canceled = await ask('changed', { method: 'POST', path: `/emails/${id}/cancel` })
    assert.equal([canceled.id, canceled.object, canceled.last_event], [id, 'email', 'canceled'])
    assert.is((await mailhorn.email(id)).status, 'canceled')
  })

  test(`${name}: what is refused, and changes nothing`, async () => {
    const nobody = { ...MAIL, to: ['nobody'], subject: 's', text: 't' }
    const unknown = '01990000-0000-7000-8000-000000000000'
    for (const [call, status, error] of [
      [{ method: 'POST', path: '/emails', body: nobody }, 422, 'validation_error'],
      [{ method: 'POST', path: '/emails', body: {} }, 422, 'missing_required_field'],
      [{ method: 'POST', path: '/emails' }, 422, 'missing_required_field'],
      [{ method: 'POST', path: '/emails/batch', body: [nobody] }, 422, 'validation_error'],
      [{ method: 'GET', path: `/emails/${unknown}` }, 404, 'not_found'],
      [{ method: 'POST', path: `/emails/${unknown}/cancel` }, 404, 'not_found'],
      [{ method: 'GET', path: '/domains' }, 401, 'restricted_api_key'],
    ] as const) {
      const refused = await ask('error', call)
      assert.equal([refused.statusCode, refused.name], [status, error], call.path)
    }
  })

  if (written.templated)
    test(`${name}: one from a template`, async () => {
      const session = await mailhorn.signIn()
      const template = { name: 'Order', subject: `Order {{no}} in ${name}`, html: '<p>{{no}}</p>' }
      const { body: made } = await mailhorn.call('POST', '/templates', { session, body: template })
      const id = await send(written.templated!(made.id))
      const { subject, html, template_id: used } = await mailhorn.email(id)
      assert.equal([subject, html, used], [`Order 4711 in ${name}`, '<p>4711</p>', made.id])
    })
}

test('laravel: every field that it has nothing for, and an invitation', async () => {
  const invitation = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n'
  const body = {
    ...{
      from: 'Ann <ann@here.example>',
      to: ['ok@there.example'],
      subject: 'Laravel',
      text: 'text',
      html: null,
    },
    ...{ bcc: [], cc: [], reply_to: [], tags: [], headers: [] },
    attachments: [{ content_type: 'text/calendar', content: invitation, filename: 'invite.ics' }],
  }
  const host = new URL(mailhorn.baseUrl).host
  const call = { method: 'POST', path: '/emails', body }
  const answer = await rawRequest(
    mailhorn.baseUrl,
    wireRequest(WIRE_CLIENTS.php!, call, { host, key: mailhorn.apiKey }),
  )
  assertReadable('send', answer)
  const stored = await mailhorn.emailWhen((answer.body as { id: string }).id, 'delivered')
  assert.equal(
    [stored.cc, stored.bcc, stored.reply_to, stored.tags, stored.headers, stored.html],
    [[], [], [], [], {}, null],
  )
  assert.equal(
    [stored.attachments[0].filename, stored.attachments[0].size],
    ['invite.ics', invitation.length],
  )
})

test.run()
