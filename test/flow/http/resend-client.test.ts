import PostalMime from 'postal-mime'
import { type ErrorResponse, Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('the resend package', { limitMs: 15_000 })
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mx: FakeMx
let posthorn: Posthorn
let resend: Resend
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  posthorn = await startPosthorn({ zone: ZONE, mxPort: mx.port })
  await posthorn.verifiedDomain('here.example')
  resend = new Resend(posthorn.apiKey, { baseUrl: posthorn.baseUrl })
})
test.after(async () => {
  await posthorn.close()
  await mx.close()
})

const MAIL = { from: 'Ann <ann@here.example>', to: 'ok@there.example', subject: 'Hello', text: 'text' }
const LOGO = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255])

/** The message of that subject, as the recipient's MX took it. */
async function received(subject: string) {
  for (;;) {
    for (const { data } of mx.messages) {
      const message = await PostalMime.parse(data)
      if (message.subject === subject) return message
    }
    await new Promise(resolve => setImmediate(resolve))
  }
}

function insistOn<T>({ data, error }: { data: T | null; error: ErrorResponse | null }): T {
  assert.is(error, null, JSON.stringify(error))
  return data!
}

test('sends everything it can, and the recipient gets it', async () => {
  const { id } = insistOn(
    await resend.emails.send({
      from: 'Ann Émile <ann@here.example>',
      to: ['Bob <ok@there.example>'],
      cc: 'ok-cc@there.example',
      bcc: ['ok-bcc@there.example'],
      replyTo: 'replies@here.example',
      subject: 'Grüße 😀',
      html: '<p>héllo</p>',
      text: 'héllo',
      headers: { 'X-Entity-Ref-ID': 'ref-1' },
      tags: [{ name: 'category', value: 'welcome' }],
      attachments: [
        { filename: 'logo.png', content: LOGO },
        { filename: 'note.txt', content: Buffer.from('note').toString('base64'), contentType: 'text/plain' },
        { filename: 'inline.png', content: LOGO, contentId: 'logo' },
      ],
    }),
  )
  const message = await received('Grüße 😀')
  assert.equal(message.from, { name: 'Ann Émile', address: 'ann@here.example' })
  assert.equal(message.to, [{ name: 'Bob', address: 'ok@there.example' }])
  assert.equal(message.cc, [{ name: '', address: 'ok-cc@there.example' }])
  assert.is(message.bcc, undefined)
  assert.equal(message.replyTo, [{ name: '', address: 'replies@here.example' }])
  assert.equal([message.html?.trim(), message.text?.trim()], ['<p>héllo</p>', 'héllo'])
  assert.is(message.headers.find(({ key }) => key === 'x-entity-ref-id')?.value, 'ref-1')
  assert.equal(
    Object.fromEntries(
      message.attachments.map(({ filename, mimeType, content }) => [
        filename,
        `${mimeType} ${Buffer.from(content as ArrayBuffer).toString('hex')}`,
      ]),
    ),
    {
      'logo.png': `image/png ${LOGO.toString('hex')}`,
      'note.txt': `text/plain ${Buffer.from('note').toString('hex')}`,
      'inline.png': `image/png ${LOGO.toString('hex')}`,
    },
  )
  assert.is(message.attachments.find(({ filename }) => filename === 'inline.png')?.contentId, '<logo>')

  await posthorn.emailWhen(id, 'delivered')
  const email = insistOn(await resend.emails.get(id))
  assert.equal([email.object, email.id, email.last_event], ['email', id, 'delivered'])
  assert.equal([email.from, email.subject], ['Ann Émile <ann@here.example>', 'Grüße 😀'])
  assert.equal(
    [email.to, email.cc, email.bcc, email.reply_to],
    [['Bob <ok@there.example>'], ['ok-cc@there.example'], ['ok-bcc@there.example'], ['replies@here.example']],
  )
  assert.equal(email.tags, [{ name: 'category', value: 'welcome' }])
  assert.equal(
    mx.messages
      .flatMap(({ rcptTo }) => rcptTo)
      .filter(address => address.startsWith('ok'))
      .sort(),
    ['ok-bcc@there.example', 'ok-cc@there.example', 'ok@there.example'],
  )
})

test('works with a base address that ends in a slash', async () => {
  const client = new Resend(posthorn.apiKey, { baseUrl: `${posthorn.baseUrl}/` })
  const { id } = insistOn(await client.emails.send({ ...MAIL, subject: 'Slash' }))
  assert.is(insistOn(await client.emails.get(id)).subject, 'Slash')
})

test('sends once what it sends again with its idempotencyKey', async () => {
  const options = { idempotencyKey: 'order-1' }
  const first = insistOn(await resend.emails.send({ ...MAIL, subject: 'Once' }, options))
  const second = insistOn(await resend.emails.send({ ...MAIL, subject: 'Once' }, options))
  assert.is(second.id, first.id)
  await posthorn.emailWhen(first.id, 'delivered')
  assert.is(mx.messages.filter(({ headers }) => headers.includes('Subject: Once')).length, 1)
})

test('keeps templates, with a session in place of a key', async () => {
  const client = new Resend(await posthorn.signIn(), { baseUrl: posthorn.baseUrl })
  const html = '<p>Hello {{{name}}}</p>'
  const { id, object } = insistOn(await client.templates.create({ name: 'Greeting', subject: 'Hi', html }))
  assert.is(object, 'template')
  const template = insistOn(await client.templates.get(id))
  assert.equal(
    [template.name, template.subject, template.html, template.text],
    ['Greeting', 'Hi', html, null],
  )
  assert.equal(
    template.variables!.map(({ key, type, fallback_value: fallback }) => [key, type, fallback]),
    [['name', 'string', null]],
  )
  const { data, has_more: hasMore } = insistOn(await client.templates.list({ limit: 1 }))
  assert.equal(
    [data.map(row => [row.id, row.name, row.status]), hasMore],
    [[[id, 'Greeting', 'published']], false],
  )
  assert.equal(insistOn(await client.templates.remove(id)), { object: 'template', id, deleted: true })
  const { error } = await client.templates.get(id)
  assert.equal([error?.name, error?.statusCode], ['not_found', 404])
})

test('sends what a template says', async () => {
  const session = await posthorn.signIn()
  const { body: template } = await posthorn.call('POST', '/templates', {
    session,
    body: { name: 'Order', subject: 'Order {{no}}', html: '<p>{{{items}}} for {{name|you}}</p>' },
  })
  const { id } = insistOn(
    await resend.emails.send({
      from: MAIL.from,
      to: MAIL.to,
      template: { id: template.id, variables: { no: 4711, items: '<b>2</b> horns' } },
    }),
  )
  const message = await received('Order 4711')
  assert.is(message.html?.trim(), '<p><b>2</b> horns for you</p>')
  assert.equal((await posthorn.email(id)).template_id, template.id)
  const { error } = await resend.emails.send({ from: MAIL.from, to: MAIL.to, template: { id: template.id } })
  assert.equal([error?.name, error?.statusCode], ['validation_error', 422])
  assert.match(error!.message, /`no`, `items`/)
})

test('sends a batch, strictly or permissively, and once with its idempotencyKey', async () => {
  const batch = ['one', 'two'].map(subject => ({ ...MAIL, subject }))
  const { data } = insistOn(await resend.batch.send(batch))
  for (const [i, { id }] of data.entries())
    assert.is((await posthorn.emailWhen(id, 'delivered')).subject, batch[i]!.subject)

  const { error } = await resend.batch.send([MAIL, { ...MAIL, to: 'nobody' }])
  assert.equal([error?.name, error?.statusCode], ['validation_error', 422])
  assert.match(error!.message, /^\[1\]: .*`to`/)

  const permissive = insistOn(
    await resend.batch.send([MAIL, { ...MAIL, to: 'nobody' }], { batchValidation: 'permissive' }),
  )
  assert.is(permissive.data.length, 1)
  assert.equal(
    permissive.errors.map(({ index, message }) => [index, /`to`/.test(message)]),
    [[1, true]],
  )

  const options = { idempotencyKey: 'batch-1' }
  const first = insistOn(await resend.batch.send(batch, options))
  assert.equal(insistOn(await resend.batch.send(batch, options)), first)
})

test('schedules an email, moves it, cancels it', async () => {
  const inHours = (hours: number) => new Date(posthorn.clock.now() + hours * 3_600_000).toISOString()
  const send = (hours: number) => resend.emails.send({ ...MAIL, scheduledAt: inHours(hours) })
  const { id } = insistOn(await send(1))
  const scheduledAt = inHours(2)
  const moved = insistOn(await resend.emails.update({ id, scheduledAt }))
  assert.equal([moved.object, moved.id], ['email', id])
  const waiting = insistOn(await resend.emails.get(id))
  assert.equal([waiting.last_event, waiting.scheduled_at], ['scheduled', scheduledAt])
  const canceled = insistOn(await resend.emails.cancel(id))
  assert.equal([canceled.object, canceled.id], ['email', id])
  assert.is(insistOn(await resend.emails.get(id)).last_event, 'canceled')

  const { error } = await resend.emails.cancel(id)
  assert.equal([error?.name, error?.statusCode], ['validation_error', 422])
  const words = await resend.emails.send({ ...MAIL, scheduledAt: 'in 1 hour' })
  assert.match(words.error!.message, /ISO 8601/)

  const { id: due } = insistOn(await send(1))
  posthorn.clock.advance(3_600_000)
  await posthorn.emailWhen(due, 'delivered')
})

const wrong = { ...MAIL, to: 'nobody' }
const unsent = { ...MAIL, from: 'ann@nowhere.example' }
const ERRORS: [string, () => Promise<{ error: ErrorResponse | null }>, string, number][] = [
  ['a bad recipient', () => resend.emails.send(wrong), 'validation_error', 422],
  ['a bad sender', () => resend.emails.send({ ...MAIL, from: 'ann' }), 'invalid_from_address', 422],
  ['a missing subject', () => resend.emails.send({ ...MAIL, subject: '' }), 'missing_required_field', 422],
  ['an unverified domain', () => resend.emails.send(unsent), 'validation_error', 403],
  [
    'a bad attachment',
    () => resend.emails.send({ ...MAIL, attachments: [{ filename: 'a', content: 'not base64!' }] }),
    'invalid_attachment',
    422,
  ],
  [
    'a used key with another body',
    async () => {
      await resend.emails.send({ ...MAIL, subject: 'one' }, { idempotencyKey: 'twice' })
      return resend.emails.send({ ...MAIL, subject: 'two' }, { idempotencyKey: 'twice' })
    },
    'invalid_idempotent_request',
    409,
  ],
  [
    'a key that is too long',
    () => resend.emails.send(MAIL, { idempotencyKey: 'k'.repeat(257) }),
    'invalid_idempotency_key',
    400,
  ],
  ['an unknown email', () => resend.emails.get('eml_01990000-0000-7000-8000-000000000000'), 'not_found', 404],
  [
    'an unknown key',
    () => new Resend('re_unknown', { baseUrl: posthorn.baseUrl }).emails.send(MAIL),
    'invalid_api_key',
    401,
  ],
  ['a place for sessions', () => resend.domains.list(), 'restricted_api_key', 401],
]
for (const [what, ask, name, status] of ERRORS)
  test(`is told of ${what} as ${name}`, async () => {
    const { error } = await ask()
    assert.equal([error?.name, error?.statusCode], [name, status])
    assert.ok(error!.message.length > 0)
  })

test('is told in words what was wrong', async () => {
  const { error } = await resend.emails.send(wrong)
  assert.match(error!.message, /`to`/)
})

test.run()
