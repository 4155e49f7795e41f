import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { type Postfix, startPostfix } from '../../kit/postfix.ts'
import { suite } from '../../kit/suite.ts'
import { readers } from '../../unit/protocols/mime/readers.ts'

const test = suite('peers: resend packages of three ages, through to Postfix')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.4
`
/** Releases of the SDK and the field in which each sends the id of an inline image. */
const CLIENTS = [
  { name: 'resend', version: '6.38', inline: 'contentId' },
  { name: 'resend-6-22', version: '6.22', inline: 'contentId' },
  { name: 'resend-4-8', version: '4.8', inline: 'inlineContentId' },
]
let postfix: Postfix
let mailhorn: Mailhorn
test.before(async () => {
  postfix = await startPostfix({
    host: '127.0.0.4',
    domain: 'there.example',
    mailboxes: [...CLIENTS.map(({ name }) => name), 'copy', 'hidden'],
    settings: ['message_size_limit = 30000000'],
  })
  mailhorn = await startMailhorn({ dns: true, zone: ZONE, mxPort: postfix.port })
  await mailhorn.verifiedDomain('here.example')
  process.env.RESEND_BASE_URL = mailhorn.baseUrl // 4.8 has no other way, and reads it once
})
test.after(async () => {
  delete process.env.RESEND_BASE_URL
  await mailhorn?.close()
  await postfix?.close()
})

/** The older packages lack nothing that is used here, so that the newest one's types do for all. */
async function clientOf(name: string) {
  const { Resend } = (await import(name)) as typeof import('resend')
  const { emails } = new Resend(mailhorn.apiKey)
  return async (email: object): Promise<string> => {
    const { data, error } = await emails.send(email as Parameters<typeof emails.send>[0])
    if (!data) throw new Error(`${name} was refused: ${JSON.stringify(error)}`)
    const shown = await emails.get(data.id)
    assert.is(shown.data?.id, data.id, JSON.stringify(shown.error))
    return data.id
  }
}

function bytes(length: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 7919 + seed * i * i) % 256))
}

const PDF = bytes(70_001, 1)
const LOGO = bytes(3_000, 2)
const PHOTO = bytes(99_998, 3)
const NOTE = 'Notiz – ü\r\n.\r\n..\r\nFrom here\r\n'

for (const { name, version, inline } of CLIENTS) {
  const to = `${name}@there.example`
  const received = async (subject: string) => {
    const raw = await postfix.received(name, `Subject: ${subject}`)
    return Promise.all(readers.map(async ([reader, read]) => ({ reader, message: await read(raw) })))
  }

  test(`${version}: html, text, copies and headers`, async () => {
    const send = await clientOf(name)
    const html = `<p>Grüße 😀 ${'lang '.repeat(300)}</p>\n<p>=3D .</p>`
    const text = `Grüße 😀\n.\n..\nFrom here\n${'lang '.repeat(300)}end`
    const id = await send({
      from: 'Émile <emile@here.example>',
      to: [`The Reader <${to}>`],
      cc: 'copy@there.example',
      bcc: ['hidden@there.example'],
      replyTo: 'replies@here.example',
      subject: 'Words',
      html,
      text,
      headers: { 'X-Entity-Ref-ID': `ref-${version}` },
      tags: [{ name: 'client', value: name }],
    })
    for (const { reader, message } of await received('Words')) {
      assert.equal(message.from, [{ name: 'Émile', address: 'emile@here.example' }], reader)
      assert.equal(message.to, [{ name: 'The Reader', address: to }])
      assert.equal(message.cc, [{ name: '', address: 'copy@there.example' }])
      assert.equal(message.replyTo, [{ name: '', address: 'replies@here.example' }])
      assert.equal([message.html?.trimEnd(), message.text?.trimEnd()], [html, text])
      assert.is(message.header('x-entity-ref-id'), `ref-${version}`)
      assert.is(message.header('bcc'), '')
    }
    for (const mailbox of ['copy', 'hidden']) await postfix.received(mailbox, `ref-${version}`)
    const email = await mailhorn.emailWhen(id, 'delivered')
    assert.equal(email.tags, [{ name: 'client', value: name }])
  })

  test(`${version}: attachments, as Buffer and as base64`, async () => {
    const send = await clientOf(name)
    const id = await send({
      from: 'emile@here.example',
      to,
      subject: 'Files',
      text: 'with files',
      attachments: [
        { filename: 'Rechnung – ü.pdf', content: PDF },
        { filename: 'note.txt', content: Buffer.from(NOTE), contentType: 'text/plain; charset=utf-8' },
        { filename: 'same.pdf', content: PDF.toString('base64') },
        { filename: 'nothing.bin', content: Buffer.alloc(0) },
      ],
    })
    for (const { reader, message } of await received('Files')) {
      assert.is(message.text?.trimEnd(), 'with files', reader)
      assert.equal(
        message.attachments.map(({ filename, contentType, disposition }) => [
          filename,
          contentType,
          disposition,
        ]),
        [
          ['Rechnung – ü.pdf', 'application/pdf', 'attachment'],
          ['note.txt', 'text/plain', 'attachment'],
          ['same.pdf', 'application/pdf', 'attachment'],
          ['nothing.bin', 'application/octet-stream', 'attachment'],
        ],
      )
      for (const [i, content] of [PDF, Buffer.from(NOTE), PDF, Buffer.alloc(0)].entries())
        assert.ok(message.attachments[i]!.content.equals(content), `${reader}: attachment ${i + 1}`)
    }
    await mailhorn.emailWhen(id, 'delivered')
  })

  test(`${version}: inline images beside an attachment`, async () => {
    const send = await clientOf(name)
    const html = '<p><img src="cid:logo"><img src="cid:photo-1@here.example"></p>'
    const id = await send({
      from: 'emile@here.example',
      to,
      subject: 'Pictures',
      html,
      text: 'pictures',
      attachments: [
        { filename: 'logo.png', content: LOGO, [inline]: 'logo' },
        { filename: 'plan.pdf', content: PDF },
        { filename: 'photo.jpg', content: PHOTO, [inline]: 'photo-1@here.example' },
      ],
    })
    for (const { reader, message } of await received('Pictures')) {
      assert.equal([message.html?.trimEnd(), message.text?.trimEnd()], [html, 'pictures'], reader)
      const parts = new Map(message.attachments.map(part => [part.filename, part]))
      for (const [filename, contentType, disposition, contentId, content] of [
        ['logo.png', 'image/png', 'inline', 'logo', LOGO],
        ['photo.jpg', 'image/jpeg', 'inline', 'photo-1@here.example', PHOTO],
        ['plan.pdf', 'application/pdf', 'attachment', null, PDF],
      ] as const) {
        const part = parts.get(filename)!
        assert.equal(
          [part.contentType, part.disposition, part.contentId],
          [contentType, disposition, contentId],
          `${reader}: ${filename}`,
        )
        assert.ok(part.content.equals(content), `${reader}: ${filename}`)
      }
      assert.is(parts.size, 3)
    }
    await mailhorn.emailWhen(id, 'delivered')
  })

  test(`${version}: ten megabytes from a Buffer`, async () => {
    const send = await clientOf(name)
    const content = bytes(10_000_000, 5)
    const attachments = [{ filename: 'large.bin', content }]
    const id = await send({ from: 'emile@here.example', to, subject: 'Large', text: 'large', attachments })
    for (const { reader, message } of await received('Large'))
      assert.ok(message.attachments[0]!.content.equals(content), reader)
    await mailhorn.emailWhen(id, 'delivered')
  })
}

test.run()
