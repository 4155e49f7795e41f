import PostalMime from 'postal-mime'
import type { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { MODERN_VERSIONS, openResend, RESEND_VERSIONS, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('resend packages send')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

type Email = Parameters<Resend['emails']['send']>[0]
const MAIL = { from: 'Ann <ann@here.example>', to: 'ok@there.example', text: 'text' }
const LOGO = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255])

/** The messages of that subject, as the recipient's MX took them. */
function taken(subject: string) {
  return mx.messages.filter(({ headers }) => headers.includes(`Subject: ${subject}\r\n`))
}

async function received(subject: string) {
  const { data } = await until(() => taken(subject)[0])
  return PostalMime.parse(data)
}

for (const release of RESEND_VERSIONS) {
  const { version, inline } = release
  const sendBy = async (email: Email | object, options = {}) => {
    const { emails } = await openResend(release, mailhorn)
    return requireData(await emails.send(email as Email, options)).id
  }

  test(`${version}: everything it can, and the recipient gets it`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const subject = `Everything of ${version}`
    const { id } = requireData(
      await emails.send({
        from: 'Ann Émile <ann@here.example>',
        to: ['Bob <ok@there.example>'],
        cc: 'ok-cc@there.example',
        bcc: ['ok-bcc@there.example'],
        replyTo: 'replies@here.example',
        subject,
        html: '<p>héllo <img src="cid:logo"></p>',
        text: 'héllo',
        headers: { 'X-Entity-Ref-ID': 'ref-1', 'In-Reply-To': '<1@there.example>' },
        tags: [{ name: 'category', value: 'welcome' }],
        attachments: [
          { filename: 'logo.png', content: LOGO },
          {
            filename: 'note.txt',
            content: Buffer.from('note').toString('base64'),
            contentType: 'text/plain',
          },
          { filename: 'inline.png', content: LOGO, [inline]: 'logo' },
        ],
      }),
    )
    const message = await received(subject)
    assert.equal(message.from, { name: 'Ann Émile', address: 'ann@here.example' })
    assert.equal(message.to, [{ name: 'Bob', address: 'ok@there.example' }])
    assert.equal(message.cc, [{ name: '', address: 'ok-cc@there.example' }])
    assert.is(message.bcc, undefined)
    assert.equal(message.replyTo, [{ name: '', address: 'replies@here.example' }])
    assert.equal([message.html?.trim(), message.text?.trim()], ['<p>héllo <img src="cid:logo"></p>', 'héllo'])
    const header = (name: string) => message.headers.find(({ key }) => key === name)?.value
    assert.equal([header('x-entity-ref-id'), header('in-reply-to')], ['ref-1', '<1@there.example>'])
    assert.equal(
      message.attachments.map(({ filename, mimeType, disposition, contentId, content }) => [
        ...[filename, mimeType, disposition, contentId ?? null],
        Buffer.from(content as ArrayBuffer).toString('hex'),
      ]),
      [
        ['inline.png', 'image/png', 'inline', '<logo>', LOGO.toString('hex')],
        ['logo.png', 'image/png', 'attachment', null, LOGO.toString('hex')],
        ['note.txt', 'text/plain', 'attachment', null, Buffer.from('note').toString('hex')],
      ],
    )
    await mailhorn.emailWhen(id, 'delivered')
    const email = requireData(await emails.get(id))
    assert.equal([email.object, email.id, email.last_event], ['email', id, 'delivered'])
    assert.equal([email.from, email.subject], ['Ann Émile <ann@here.example>', subject])
    assert.equal([email.to, email.cc], [['Bob <ok@there.example>'], ['ok-cc@there.example']])
    assert.equal([email.bcc, email.reply_to], [['ok-bcc@there.example'], ['replies@here.example']])
    assert.equal([email.html, email.text], ['<p>héllo <img src="cid:logo"></p>', 'héllo'])
    assert.equal(email.tags, [{ name: 'category', value: 'welcome' }])
    assert.equal([email.scheduled_at, email.topic_id ?? null], [null, null])
    assert.is(new Date(email.created_at).toISOString(), email.created_at)
    const envelope = taken(subject).flatMap(({ rcptTo }) => rcptTo)
    assert.equal(envelope.sort(), ['ok-bcc@there.example', 'ok-cc@there.example', 'ok@there.example'])
  })

  const WORDS: [what: string, fields: object, shown: object][] = [
    ['text alone', { text: 'text' }, { html: null, text: 'text' }],
    ['html alone', { text: undefined, html: '<p>html</p>' }, { html: '<p>html</p>', text: null }],
    ['a single address', { cc: 'ok@there.example' }, { to: ['ok@there.example'], cc: ['ok@there.example'] }],
    [
      'several addresses',
      { to: ['ok@there.example', 'ok-2@there.example'], replyTo: ['a@here.example', 'b@here.example'] },
      { to: ['ok@there.example', 'ok-2@there.example'], reply_to: ['a@here.example', 'b@here.example'] },
    ],
    ['empty lists', { cc: [], bcc: [], tags: [], attachments: [] }, { cc: [], bcc: [], tags: [] }],
    [
      'several tags and headers',
      {
        tags: [
          { name: 'a', value: '1' },
          { name: 'b', value: '2' },
        ],
        headers: { 'X-A': '1', 'List-Unsubscribe': '<https://here.example/u>' },
      },
      {
        tags: [
          { name: 'a', value: '1' },
          { name: 'b', value: '2' },
        ],
        headers: { 'X-A': '1', 'List-Unsubscribe': '<https://here.example/u>' },
      },
    ],
  ]
  for (const [what, fields, shown] of WORDS)
    test(`${version}: ${what}`, async () => {
      const subject = `${what} of ${version}`
      const email = await mailhorn.email(await sendBy({ ...MAIL, subject, ...fields }))
      for (const [key, value] of Object.entries(shown)) assert.equal(email[key], value, key)
    })

  test(`${version}: with a base address that ends in a slash`, async () => {
    const { emails } = await openResend(release, { ...mailhorn, baseUrl: `${mailhorn.baseUrl}/` })
    const subject = `Slash of ${version}`
    const { id } = requireData(await emails.send({ ...MAIL, subject }))
    assert.is(requireData(await emails.get(id)).subject, subject)
  })

  test(`${version}: once what it sends again with its idempotencyKey`, async () => {
    const subject = `Once of ${version}`
    const options = { idempotencyKey: `order-${version}` }
    const email = { ...MAIL, subject, tags: [{ name: 'a', value: 'b' }] }
    const first = await sendBy(email, options)
    assert.is(await sendBy(email, options), first)
    const turned = Object.fromEntries(Object.entries(email).reverse())
    assert.is(await sendBy(turned, options), first)
    await mailhorn.emailWhen(first, 'delivered')
    assert.is(taken(subject).length, 1)
    assert.is.not(await sendBy(email, { idempotencyKey: `order-${version}-2` }), first)
  })

  test(`${version}: once what it sends at the same time with one idempotencyKey`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const options = { idempotencyKey: `together-${version}` }
    const email = { ...MAIL, subject: `Together of ${version}` }
    const answers = await Promise.all(Array.from({ length: 8 }, () => emails.send(email, options)))
    assert.is(new Set(answers.map(answer => requireData(answer).id)).size, 1)
  })

  test(`${version}: to the simulator, from a domain nobody has verified`, async () => {
    for (const [local, status] of [
      ['delivered', 'delivered'],
      ['bounced+label', 'bounced'],
    ]) {
      const to = `${local}@simulator.test`
      const id = await sendBy({ from: 'ann@nowhere.example', to, subject: 's', text: 't' })
      assert.is((await mailhorn.emailWhen(id, 'delivered', 'bounced')).status, status)
    }
  })
}

for (const release of MODERN_VERSIONS) {
  test(`${release.version}: what a template says`, async () => {
    const subject = `Order of ${release.version}`
    const { body: template } = await mailhorn.call('POST', '/templates', {
      session: await mailhorn.signIn(),
      body: { name: 'Order', subject: `${subject} {{no}}`, html: '<p>{{{items}}} for {{name|you}}</p>' },
    })
    const { emails } = await openResend(release, mailhorn)
    const use = { id: template.id, variables: { no: 4711, items: '<b>2</b> horns' } }
    const { from, to } = MAIL
    const { id } = requireData(await emails.send({ from, to, template: use }))
    const message = await received(`${subject} 4711`)
    assert.is(message.html?.trim(), '<p><b>2</b> horns for you</p>')
    assert.is((await mailhorn.email(id)).template_id, template.id)
    const { id: own } = requireData(await emails.send({ from, to, subject: 'Own', template: use }))
    assert.is((await mailhorn.email(own)).subject, 'Own')
  })

  test(`${release.version}: with headers of the caller's`, async () => {
    const client = await openResend(release, mailhorn)
    const headers = { 'Idempotency-Key': `by-header-${release.version}` }
    const email = { ...MAIL, subject: `Header of ${release.version}` }
    const first = requireData(await client.emails.send(email, { headers }))
    assert.equal(requireData(await client.emails.send(email, { headers })), first)
  })
}

test.run()
