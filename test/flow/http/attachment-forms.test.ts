import PostalMime, { type Email } from 'postal-mime'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('attachments as clients send them')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
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

/** Sends a request body as it is, and waits for the message as the recipient's MX takes it. */
async function delivered(subject: string, fields: string): Promise<Email & { source: string }> {
  const raw = `{"from":"ann@here.example","to":["ok@there.example"],"subject":"${subject}",${fields}}`
  const { status, body } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw })
  assert.is(status, 200, JSON.stringify(body))
  return until(async () => {
    const taken = mx.messages.find(({ headers }) => headers.includes(`Subject: ${subject}\r\n`))
    return taken && { ...(await PostalMime.parse(taken.data)), source: `${taken.data}` }
  })
}

const bytesOf = (content: unknown) => Buffer.from(content as ArrayBuffer)
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
const integers = [...BYTES]

for (const [client, attachment] of Object.entries({
  'node 6.38': { content: BYTES.toString('base64'), filename: 'a.bin', content_id: undefined },
  'node 6.34': { content: BYTES.toJSON(), filename: 'a.bin' },
  'node 1.1': { content: BYTES.toJSON(), filename: 'a.bin', contentType: 'application/octet-stream' },
  python: { content: integers, filename: 'a.bin', content_type: 'application/octet-stream' },
  go: { content: integers, filename: 'a.bin' },
  rust: { content: integers, filename: 'a.bin', contentType: 'application/octet-stream', path: null },
  '.NET': { filename: 'a.bin', content: BYTES.toString('base64'), path: null, content_type: null },
  'a form': { filename: 'a.bin', content: `data:application/x-own;base64,${BYTES.toString('base64')}` },
}))
  test(`${client}: all bytes arrive`, async () => {
    const attachments = JSON.stringify([attachment])
    const { attachments: taken } = await delivered(
      `Bytes of ${client}`,
      `"text":"x","attachments":${attachments}`,
    )
    assert.equal(
      taken.map(({ filename, content }) => [filename, bytesOf(content).toString('hex')]),
      [['a.bin', BYTES.toString('hex')]],
    )
  })

test('python: a list with blanks between its numbers', async () => {
  const { attachments } = await delivered(
    'Blanks',
    `"html":"x","attachments":[{"content": [104, 101, 108], "filename": "a.txt"}]`,
  )
  assert.is(bytesOf(attachments[0]!.content).toString(), 'hel')
})

test('laravel: an invitation as plain text', async () => {
  const invitation = 'BEGIN:VCALENDAR\r\nSUMMARY:Grüße\r\nEND:VCALENDAR\r\n'
  const attachments = [{ content: invitation, content_type: 'text/calendar; method=REQUEST' }]
  const message = await delivered(
    'Invitation',
    `"text":"x","html":null,"cc":[],"headers":[],"tags":[],"attachments":${JSON.stringify(attachments)}`,
  )
  const [attachment] = message.attachments
  assert.equal(
    [attachment!.filename, attachment!.mimeType, attachment!.method],
    ['attachment-1.ics', 'text/calendar', 'REQUEST'],
  )
  assert.ok(message.source.includes(Buffer.from(invitation).toString('base64')))
  assert.match(message.source, /text\/calendar; method="?REQUEST"?;\s+charset="?utf-8"?/)
})

const LOGO = { filename: 'logo.png', content: BYTES.toString('base64') }

test('an inline image is related to its HTML, other files are mixed parts', async () => {
  const attachments = [
    { ...LOGO, content_id: 'logo' },
    { filename: 'terms.pdf', content: 'YQ==' },
  ]
  const message = await delivered(
    'Inline',
    `"text":"hi","html":"<p><img src=\\"cid:logo\\"></p>","attachments":${JSON.stringify(attachments)}`,
  )
  assert.equal(
    message.attachments.map(({ filename, disposition, contentId, related }) => [
      filename,
      disposition,
      contentId ?? null,
      related ?? false,
    ]),
    [
      ['logo.png', 'inline', '<logo>', true],
      ['terms.pdf', 'attachment', null, false],
    ],
  )
  const order = [...message.source.matchAll(/^Content-Type: ([\w/]+)/gim)].map(([, type]) => type)
  assert.equal(order, [
    'multipart/mixed',
    'multipart/alternative',
    'text/plain',
    'multipart/related',
    'text/html',
    'image/png',
    'application/pdf',
  ])
})

for (const [what, id] of Object.entries({
  'with brackets and a domain': { content_id: '<logo@here.example>' },
  'by its older names': { inlineContentId: 'logo@here.example' },
  'with null beside the older name': { content_id: null, inline_content_id: 'logo@here.example' },
}))
  test(`a content id given ${what}`, async () => {
    const subject = `Id ${what}`
    const attachments = JSON.stringify([{ ...LOGO, ...id }])
    const message = await delivered(
      subject,
      `"html":"<img src='cid:logo%40here.example'>","attachments":${attachments}`,
    )
    const [{ contentId, disposition } = {}] = message.attachments
    assert.equal([contentId, disposition], ['<logo@here.example>', 'inline'])
  })

test('an image that the HTML does not use is an attachment with a Content-ID', async () => {
  const attachments = JSON.stringify([{ ...LOGO, content_id: 'logo' }])
  const message = await delivered(
    'Unshown',
    `"html":"<img src=\\"cid:logo2\\">","attachments":${attachments}`,
  )
  const [{ contentId, disposition } = {}] = message.attachments
  assert.equal([contentId, disposition], ['<logo>', 'attachment'])
})

test.run()
