import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { loseLargeBlobs } from '../../kit/large-blobs.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('attachments of sent emails')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LARGE = Buffer.alloc(4 * 1024 * 1024, 'mailhorn ')
let mailhorn: Mailhorn
let id = ''
// biome-ignore lint/suspicious/noExplicitAny: views of every field
let list: any
test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_PLANS_SCALE_RETENTION_DAYS: '90' } })
  id = await mailhorn.send({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 's',
    html: '<img src="cid:logo">',
    attachments: [
      { filename: 'a.txt', content: 'aGVsbG8=' },
      { filename: 'logo.png', content: 'aGVsbG8=', content_id: 'logo' },
      { filename: 'other.png', content: 'aGVsbG8=', content_id: 'other' },
      { filename: 'large.bin', content: LARGE.toString('base64') },
      { filename: 'page.html', content: Buffer.from('<script>alert(1)</script>').toString('base64') },
      { filename: 'Grüße "\\ 😀\u202e.txt', content: 'aGVsbG8=' },
      { filename: 'naïve.txt', content: 'aGVsbG8=', content_type: 'text/plain; charset=utf-8; x="y"' },
    ],
  })
  await mailhorn.emailWhen(id, 'delivered')
  list = (await ask('')).body
})
test.after(() => mailhorn.close())

const ask = (rest: string, key = mailhorn.apiKey) =>
  mailhorn.call('GET', `/emails/${id}/attachments${rest}`, { key })
const EMAIL_GONE = { status: 404, name: 'not_found', says: /^Email not found/ }
const NO_DOWNLOAD = { status: 404, name: 'not_found', says: /^Download not found/ }
const find = (name: string) => list.data.find(({ filename }: { filename: string }) => filename === name)

/** The link as anybody follows it. */
async function follow(url: string, method = 'GET') {
  const response = await fetch(url, { method })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    body: isJson ? JSON.parse(`${bytes}`) : null,
  }
}

test('a name of 255 characters is kept and downloaded with a readable header', async () => {
  const filename = `${'😀'.repeat(251)}.txt`
  const sentId = await mailhorn.send({
    ...{ from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' },
    attachments: [{ filename, content: 'aGVsbG8=', content_id: 'x'.repeat(200) }],
  })
  const { body } = await mailhorn.call('GET', `/emails/${sentId}/attachments`, { key: mailhorn.apiKey })
  assert.equal([body.data[0].filename, body.data[0].content_id.length], [filename, 200])
  const { status, headers, bytes } = await follow(body.data[0].download_url)
  assert.equal([status, `${bytes}`], [200, 'hello'])
  const disposition = headers.get('content-disposition')!
  assert.ok(disposition.length < 4_096, `${disposition.length}`)
  assert.match(disposition, `filename*=UTF-8''${encodeURIComponent(filename)}`)
})

const tokenOf = (url: string) => new URL(url).searchParams.get('token')!
const withToken = (token: string) => `${mailhorn.baseUrl}/downloads?token=${token}`

test('are listed in order, each with a link and its expiry', async () => {
  assert.equal([list.object, list.total, list.has_more, list.data.length], ['list', 7, false, 7])
  const [text, logo, other] = list.data
  assert.equal(
    { ...text, id: null, download_url: null, expires_at: null },
    {
      id: null,
      filename: 'a.txt',
      size: 5,
      content_type: 'text/plain',
      content_disposition: 'attachment',
      download_url: null,
      expires_at: null,
    },
  )
  assert.equal([logo.content_disposition, logo.content_id], ['inline', 'logo'])
  assert.equal([other.content_disposition, other.content_id], ['attachment', 'other'])
  const inAnHour = mailhorn.clock.now() + HOUR_MS
  for (const { expires_at: at } of list.data) assert.ok(Math.abs(Date.parse(at) - inAnHour) < 60_000)
  const { attachments } = await mailhorn.email(id)
  assert.equal(
    list.data.map((one: { id: string }) => one.id),
    attachments.map((one: { id: string }) => one.id),
  )
})

test('are shown one by one', async () => {
  const { body } = await ask(`/${find('logo.png').id}`)
  assert.is(body.object, 'attachment')
  const { object: _, download_url: url, expires_at: __, ...shown } = body
  const { download_url: ___, expires_at: ____, ...listed } = find('logo.png')
  assert.equal(shown, listed)
  assert.is((await follow(url)).bytes.toString(), 'hello')
})

test('are listed page by page', async () => {
  const names = (body: typeof list) => body.data.map(({ filename }: { filename: string }) => filename)
  const first = (await ask('?limit=2')).body
  assert.equal([names(first), first.has_more, first.total], [['a.txt', 'logo.png'], true, 7])
  const second = (await ask(`?limit=5&after=${first.data[1].id}`)).body
  assert.equal([second.data.length, second.has_more], [5, false])
  const back = (await ask(`?limit=1&before=${second.data[0].id}`)).body
  assert.equal([names(back), back.has_more], [['logo.png'], true])
  assertRefusal(await ask('?after=att_01990000-0000-7000-8000-000000000000'), {
    ...{ status: 404, name: 'not_found' },
  })
  for (const [query, path] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['after=eml_01990000-0000-7000-8000-000000000000', 'after'],
    [`after=${first.data[0].id}&before=${first.data[1].id}`, 'before'],
  ] as const)
    assertRefusal(await ask(`?${query}`), { status: 422, name: 'validation_error', path })
})

test('an email without attachments has an empty list', async () => {
  const bare = await mailhorn.send({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 's',
    text: 't',
  })
  const { body } = await mailhorn.call('GET', `/emails/${bare}/attachments`, { key: mailhorn.apiKey })
  assert.equal(body, { object: 'list', total: 0, has_more: false, data: [] })
})

test('are downloaded byte for byte, from rows and from files', async () => {
  for (const [name, bytes] of [
    ['a.txt', Buffer.from('hello')],
    ['large.bin', LARGE],
  ] as const) {
    const answer = await follow(find(name).download_url)
    assert.is(answer.status, 200)
    assert.is(answer.headers.get('content-length'), String(bytes.length))
    assert.ok(answer.bytes.equals(bytes))
  }
})

test('are served so that they cannot run on the origin', async () => {
  const { headers } = await follow(find('page.html').download_url)
  assert.equal(
    [
      'content-type',
      'content-disposition',
      'content-security-policy',
      'x-content-type-options',
      'referrer-policy',
      'cache-control',
    ].map(name => headers.get(name)),
    [
      'text/html',
      'attachment; filename="page.html"',
      "sandbox; default-src 'none'",
      'nosniff',
      'no-referrer',
      'no-store',
    ],
  )
})

test('may have names in any script, and no name breaks the header', async () => {
  const { headers } = await follow(find('Grüße "\\ 😀\u202e.txt').download_url)
  const message = headers.get('content-disposition')!
  const [, encoded] = /filename\*=UTF-8''(.+)$/.exec(message)!
  assert.is(decodeURIComponent(encoded!), 'Grüße "\\ 😀\u202e.txt')
  assert.match(message, /^attachment; filename="Gr.+ \\"\\\\ \?+\.txt"; /)
  const latin = await follow(find('naïve.txt').download_url)
  assert.is(latin.headers.get('content-type'), 'text/plain; charset=utf-8; x=y')
})

test('HEAD returns the headers of GET', async () => {
  const { status, headers, bytes } = await follow(find('large.bin').download_url, 'HEAD')
  assert.equal([status, headers.get('content-length'), bytes.length], [200, String(LARGE.length), 0])
})

test('a slow client buffers little of the file and gets the rest later', async () => {
  const [reply] = (await once(get(find('large.bin').download_url), 'response')) as [IncomingMessage]
  assert.is((await ask('')).status, 200)
  let size = 0
  for await (const chunk of reply) size += chunk.length
  assert.is(size, LARGE.length)
})

test('a link expires after 1 h with its own error', async () => {
  const { download_url: url } = (await ask('')).body.data[0]
  mailhorn.clock.advance(HOUR_MS - 60_000)
  assert.is((await follow(url)).status, 200)
  mailhorn.clock.advance(120_000)
  assertRefusal(await follow(url), { status: 403, name: 'invalid_access', says: /expired/ })
})

test('a forged, changed or combined link is refused', async () => {
  const [first, second] = (await ask('')).body.data.map((one: { download_url: string }) => one.download_url)
  const token = tokenOf(first)
  const bytes = Buffer.from(token, 'base64url')
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    assertRefusal(await follow(withToken(changed.toString('base64url'))), NO_DOWNLOAD)
  }
  const other = Buffer.from(tokenOf(second), 'base64url')
  const mixed = Buffer.concat([bytes.subarray(0, 56), other.subarray(56)]).toString('base64url')
  for (const wrong of [
    mixed,
    `${token}A`,
    `${token}=`,
    token.slice(0, -1),
    `.${token}`,
    `${token}%00`,
    '%ff',
    'x',
  ])
    assertRefusal(await follow(withToken(wrong)), NO_DOWNLOAD)
  for (const url of [withToken(''), `${mailhorn.baseUrl}/downloads`])
    assertRefusal(await follow(url), { status: 422, name: 'missing_required_field', path: 'token' })
})

test('another account gets 404', async () => {
  const stranger = addAccount(mailhorn, 'stranger')
  assertRefusal(await ask('', stranger.apiKey), EMAIL_GONE)
  assertRefusal(await ask(`/${find('a.txt').id}`, stranger.apiKey), EMAIL_GONE)
})

test('are deleted with their email, including links', async () => {
  const ended = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  const attachments = [{ filename: 'a.txt', content: 'aGVsbG8=' }]
  const old = await mailhorn.send({ ...ended, attachments })
  await mailhorn.emailWhen(old, 'delivered')
  mailhorn.clock.advance(90 * DAY_MS - 60_000)
  const { body } = await mailhorn.call('GET', `/emails/${old}/attachments`, { key: mailhorn.apiKey })
  assert.is((await follow(body.data[0].download_url)).status, 200)
  mailhorn.clock.advance(120_000)
  assertRefusal(await follow(body.data[0].download_url), NO_DOWNLOAD)
  assertRefusal(
    await mailhorn.call('GET', `/emails/${old}/attachments`, { key: mailhorn.apiKey }),
    EMAIL_GONE,
  )
})

test('a missing file is answered with 500', async () => {
  const content = Buffer.alloc(100_000, 'lost').toString('base64')
  const email = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  const lost = await mailhorn.send({ ...email, attachments: [{ filename: 'lost.bin', content }] })
  await mailhorn.emailWhen(lost, 'delivered')
  const { body } = await mailhorn.call('GET', `/emails/${lost}/attachments`, { key: mailhorn.apiKey })
  loseLargeBlobs(mailhorn)
  assertRefusal(await follow(body.data[0].download_url), { status: 500, name: 'internal_server_error' })
})

test.run()
