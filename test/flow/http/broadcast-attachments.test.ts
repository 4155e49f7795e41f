import PostalMime from 'postal-mime'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { largeBlobs } from '../../kit/large-blobs.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('attachments of broadcasts over HTTP')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const PDF = Buffer.alloc(100_000, 'pdf')
const LOGO = Buffer.from('logo')
const ATTACHMENTS = [
  { filename: 'prices.pdf', content: PDF.toString('base64') },
  { filename: 'logo.png', content: LOGO.toString('base64'), content_id: 'logo' },
]
/** Time after which a file that was staged is no longer kept for a request that may still refer to it. */
const STAGED_MS = 3_600_001

let mx: FakeMx
let mailhorn: Mailhorn
let session = ''
let audience = ''
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  const env = { MAILHORN_TRACKING_BASE_URL: 'https://mail.here.example' }
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port, env })
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
  audience = (await call('POST', '/audiences', { name: 'Readers' })).body.id
  for (const first_name of ['Ann', 'Bob']) {
    const email = `ok-${first_name.toLowerCase()}@there.example`
    await call('POST', `/audiences/${audience}/contacts`, { email, first_name })
  }
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const call = async (method: string, path: string, body?: object) => {
  // the clock may have ended the session
  session = await mailhorn.signIn()
  return mailhorn.call(method, path, { session, ...(body && { body }) })
}
const get = async (id: string) => (await call('GET', `/broadcasts/${id}`)).body
const created = async (over: object = {}) => {
  const words = { from: 'Ann <ann@here.example>', subject: 'News', text: 'Hello.' }
  const body = { audience_id: audience, ...words, attachments: ATTACHMENTS, ...over }
  const answer = await call('POST', '/broadcasts', body)
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}
const sent = (id: string) =>
  until(async () => {
    const broadcast = await get(id)
    return broadcast.status === 'sent' && broadcast.counts.delivered === 2 ? broadcast : undefined
  })

const HTML = '<p>Hi {{first_name}}</p><img src="cid:logo">'

for (const [what, words, files] of [
  [
    'the same content for all',
    { html: HTML.replace('{{first_name}}', 'Ann') },
    { 'prices.pdf': 'attachment', 'logo.png': 'inline' },
  ],
  [
    'personal content and an image in it',
    { html: HTML },
    { 'prices.pdf': 'attachment', 'logo.png': 'inline' },
  ],
  [
    'personal content and a file',
    { html: HTML, attachments: ATTACHMENTS.slice(0, 1) },
    { 'prices.pdf': 'attachment' },
  ],
  ['personal text', { text: 'Hi {{first_name}}' }, { 'prices.pdf': 'attachment', 'logo.png': 'attachment' }],
] as const)
  test(`each recipient of a broadcast with ${what} gets the files`, async () => {
    // given: a draft
    const draft = await created(words)
    const before = mx.messages.length

    // when: it is sent
    assert.is((await call('POST', `/broadcasts/${draft.id}/send`)).status, 200)
    await sent(draft.id)

    // then: the files arrive with both, and are stored once
    for (const name of ['Ann', 'Bob']) {
      const address = `ok-${name.toLowerCase()}@there.example`
      const message = mx.messages.slice(before).find(({ rcptTo }) => rcptTo.includes(address))!
      const { attachments, html, text } = await PostalMime.parse(message.data)
      const isPersonal = what !== 'the same content for all'
      assert.match(`${html ?? ''}${text ?? ''}`, isPersonal ? `Hi ${name}` : 'Hi Ann')
      assert.equal(
        Object.fromEntries(attachments.map(({ filename, disposition }) => [filename, disposition])),
        files,
      )
      for (const { filename, content } of attachments)
        assert.equal(Buffer.from(content as ArrayBuffer), filename === 'logo.png' ? LOGO : PDF)
    }
    assert.is(largeBlobs(mailhorn).length, 1)
    const { data } = (await call('GET', `/emails?broadcast_id=${draft.id}`)).body
    const email = (await call('GET', `/emails/${data[0].id}`)).body
    assert.equal(email.attachments, draft.attachments)
  })

test('replies show attachments without their content', async () => {
  const { id, attachments } = await created()
  assert.equal(
    attachments.map(({ id: fileId, ...file }: { id: string }) => [/^att_/.test(fileId), file]),
    [
      [true, { filename: 'prices.pdf', content_type: 'application/pdf', content_id: null, size: 100_000 }],
      [true, { filename: 'logo.png', content_type: 'image/png', content_id: 'logo', size: 4 }],
    ],
  )
  assert.equal((await get(id)).attachments, attachments)
})

test('attachments are replaced, kept by their ids and removed, and words are changed without them', async () => {
  const { id, attachments, version } = await created()
  const change = async (body: object) => (await call('PATCH', `/broadcasts/${id}`, body)).body
  assert.equal((await change({ subject: 'New' })).attachments, attachments)
  assert.is((await change({ subject: 'News' })).version, version)
  const [pdf, logo] = attachments
  const note = { filename: 'note.txt', content: 'Zm9v' }
  const changed = (await change({ attachments: [note, logo] })).attachments
  assert.equal(
    changed.map(({ filename, size }: { filename: string; size: number }) => [filename, size]),
    [
      ['note.txt', 3],
      ['logo.png', 4],
    ],
  )
  assert.equal(changed[1], logo)
  assertRefusal(await call('PATCH', `/broadcasts/${id}`, { attachments: [{ id: pdf.id }] }), {
    ...{ status: 404, name: 'not_found', path: 'attachments[0].id' },
  })
  assert.equal((await get(id)).attachments, changed)
  assert.equal((await change({ attachments: null })).attachments, [])
  assert.equal((await change({ attachments: [note] })).attachments.length, 1)
  assert.equal((await change({ attachments: [] })).attachments, [])
})

test('content that was perhaps not meant as base64 is named in a warning', async () => {
  const attachments = [{ filename: 'a.txt', content: '/w==' }]
  const { id, warnings } = await created({ attachments })
  const paths = (of: { path: string }[]) => of.map(({ path }) => path)
  assert.equal(paths(warnings), ['attachments[0].content'])
  assert.equal(paths((await call('PATCH', `/broadcasts/${id}`, { attachments })).body.warnings), [
    'attachments[0].content',
  ])
})

test('duplicates, previews and test emails have the attachments', async () => {
  const { id, attachments } = await created()
  const { body: copy } = await call('POST', `/broadcasts/${id}/duplicate`)
  assert.equal(copy.attachments, attachments)
  assert.equal((await call('GET', `/broadcasts/${id}/preview`)).body.attachments, attachments)
  const before = mx.messages.length
  await call('POST', `/broadcasts/${id}/test`, { to: 'ok-test@there.example' })
  const message = await until(async () => mx.messages[before])
  assert.equal(
    (await PostalMime.parse(message.data)).attachments.map(({ filename }) => filename),
    ['prices.pdf', 'logo.png'],
  )
})

test('a scheduled broadcast keeps its attachments when it is taken back', async () => {
  const scheduled_at = new Date(mailhorn.clock.now() + 600_000).toISOString()
  const { id, attachments } = await created({ scheduled_at })
  const { body } = await call('POST', `/broadcasts/${id}/unschedule`)
  assert.equal([body.status, body.attachments], ['draft', attachments])
})

test('a deleted broadcast leaves no file that nothing else needs', async () => {
  const content = Buffer.alloc(90_000, 'own').toString('base64')
  const { id } = await created({ attachments: [{ filename: 'own.bin', content }] })
  const { body: copy } = await call('POST', `/broadcasts/${id}/duplicate`)
  const before = largeBlobs(mailhorn).length
  mailhorn.clock.advance(STAGED_MS)
  assert.is((await call('DELETE', `/broadcasts/${id}`)).status, 200)
  assert.is(largeBlobs(mailhorn).length, before, 'the copy needs the file')
  assert.is((await call('DELETE', `/broadcasts/${copy.id}`)).status, 200)
  assert.is(largeBlobs(mailhorn).length, before - 1)
})

test.run()
