import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { testAuthority } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'
import { startWebHost, type WebHost, type WebRequest } from '../../kit/web-host.ts'

const test = suite('attachments by path')
const MIB = 1024 * 1024
const ZONE = `
  files.example.test  A 127.0.0.1
  inside.example.test A 10.0.0.1
`
let web: WebHost
let mailhorn: Mailhorn
/** Served files by path. */
const files = new Map<string, { body: string | Buffer; status?: number; headers?: Record<string, string> }>()
/** Requests that are not answered until they are let go. */
let held: (() => void)[] | undefined
const trusted = getCACertificates('default')

test.before(async () => {
  setDefaultCACertificates([...trusted, testAuthority()])
  web = await startWebHost({
    answer({ path }: WebRequest, response) {
      const { body, status = 200, headers = {} } = files.get(path) ?? { body: 'not here', status: 404 }
      const answer = () => response.writeHead(status, headers).end(body)
      if (held) held.push(answer)
      else answer()
    },
  })
  mailhorn = await startMailhorn({
    zone: ZONE,
    env: { MAILHORN_FETCH_ATTACHMENTS: 'true', MAILHORN_FETCH_ALLOW_LOOPBACK: 'true' },
  })
})
test.after(async () => {
  await mailhorn.close()
  await web.close()
  setDefaultCACertificates(trusted)
})

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const BAD = { status: 422, name: 'invalid_attachment' }

function url(path: string, host = 'files.example.test') {
  return `https://${host}:${web.port}${path}`
}

/** Serves a file and says where. */
function serve(path: string, body: string | Buffer, headers: Record<string, string> = {}, status = 200) {
  files.set(path, { body, headers, status })
  return url(path)
}

async function sent(attachments: object[]) {
  const id = await mailhorn.send({ ...GOOD, attachments })
  return (await mailhorn.emailWhen(id, 'delivered')).attachments
}

function call(attachments: object[], headers: Record<string, string> = {}, key = mailhorn.apiKey) {
  return ['POST', '/emails', { key, headers, body: { ...GOOD, attachments } }] as const
}

test('the file is fetched once and stored as an attachment', async () => {
  const path = serve('/fetched.pdf', Buffer.alloc(100_000, 'x'))
  const before = web.requests.length
  const [attachment, other] = await sent([{ path }, { content: 'YQ==', filename: 'a.txt' }])
  assert.equal(
    [attachment.filename, attachment.content_type, attachment.size],
    ['fetched.pdf', 'application/pdf', 100_000],
  )
  assert.equal([other.filename, other.size], ['a.txt', 1])
  assert.is(web.requests.length, before + 1)
})

for (const [what, path, args, headers, filename, type] of [
  [
    'what is said of it',
    '/a.pdf',
    { filename: 'b.txt', content_type: 'image/png' },
    {},
    'b.txt',
    'image/png',
  ],
  ['its given name', '/a.pdf', { filename: 'b.txt' }, { 'content-type': 'image/png' }, 'b.txt', 'text/plain'],
  ['its URL', '/x/Gr%C3%BC%C3%9Fe.pdf?a=b.png', {}, {}, 'Grüße.pdf', 'application/pdf'],
  ['the reply', '/download', {}, { 'content-type': 'image/png' }, 'download.png', 'image/png'],
  [
    'the reply, where there is no name',
    '/',
    {},
    { 'content-type': 'image/png' },
    'attachment-1.png',
    'image/png',
  ],
  ['nothing', '/?x', {}, { 'content-type': 'no type at all' }, 'attachment-1', 'application/octet-stream'],
  ['a URL that hides a line break', '/a%0d%0ab.pdf', {}, {}, 'ab.pdf', 'application/pdf'],
  ['a URL that is no UTF-8', '/%ff.pdf', {}, {}, '%ff.pdf', 'application/pdf'],
  ['a URL that climbs', '/x/..%2f..%2fetc%2fpasswd', {}, {}, '../../etc/passwd', 'application/octet-stream'],
] as const)
  test(`name and type are derived from ${what}`, async () => {
    const [attachment] = await sent([{ path: serve(path, 'x', headers), ...args }])
    assert.equal([attachment.filename, attachment.content_type], [filename, type])
  })

test('an image by path can be inline', async () => {
  const id = await mailhorn.send({
    ...GOOD,
    html: '<img src="cid:logo">',
    attachments: [{ path: serve('/logo.png', 'x'), content_id: 'logo' }],
  })
  const [attachment] = (await mailhorn.email(id)).attachments
  assert.is(attachment.content_id, 'logo')
})

for (const [what, path, says] of [
  ['a file on this host', '/etc/passwd', /must be an absolute URL/],
  ['a file URL', 'file:///etc/passwd', /https/],
  ['plain HTTP', 'http://files.example.test/a.pdf', /https/],
  ['a user name', 'https://user:hidden@files.example.test/a.pdf', /user name/],
  ['a port of mail', 'https://files.example.test:25/a.pdf', /port 25/],
  ['a private address', 'https://10.0.0.1/a.pdf', /not a public one/],
  ['the metadata of a cloud', 'https://169.254.169.254/latest/meta-data', /not a public one/],
  ['a name that leads inside', 'https://inside.example.test/a.pdf', /does not resolve to a public address/],
  [
    'a name that does not exist',
    'https://nowhere.example.test/a.pdf',
    /does not resolve to a public address/,
  ],
] as const)
  test(`refuse ${what}`, async () => {
    const { body } = await refuses(mailhorn, [...call([{ content: '' }, { path }])], {
      ...BAD,
      path: 'attachments[1].path',
      says,
    })
    assert.not.match(JSON.stringify(body), /hidden/)
  })

for (const [what, status, headers, says] of [
  ['404', 404, {}, /answers 404/],
  ['a redirect', 302, { location: 'https://files.example.test/' }, /answers 302/],
  ['500', 500, {}, /answers 500/],
  ['no content', 204, {}, /answers 204/],
  ['half of it', 206, {}, /answers 206/],
  ['a compressed file', 200, { 'content-encoding': 'gzip' }, /compressed/],
] as const)
  test(`refuse a host that answers ${what}`, async () => {
    const path = serve(`/answers-${status}`, '', headers, status)
    await refuses(mailhorn, [...call([{ path }])], { ...BAD, path: 'attachments[0].path', says })
  })

test('refuse a host that does not exist', async () => {
  const gone = await startWebHost()
  await gone.close()
  const path = `https://files.example.test:${gone.port}/`
  await refuses(mailhorn, [...call([{ path }])], { ...BAD, path: 'attachments[0].path', says: /refuses/ })
})

test('refuse both content and path', async () => {
  const path = serve('/both.pdf', 'x')
  const before = web.requests.length
  await refuses(mailhorn, [...call([{ path, content: 'YQ==' }])], { ...BAD, path: 'attachments[0].path' })
  assert.is(web.requests.length, before)
})

test('nothing is fetched for a request that is refused for another reason', async () => {
  const path = serve('/never.pdf', 'x')
  const before = web.requests.length
  const to = Array.from({ length: 51 }, (_, i) => `delivered+${i}@simulator.test`)
  const body = { ...GOOD, to, attachments: [{ path }] }
  await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], {
    status: 422,
    name: 'validation_error',
    says: /50 recipients/,
  })
  const [, , { body: twice }] = call([{ path }, { path: 5 }])
  await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body: twice }], {
    ...BAD,
    path: 'attachments[1].path',
  })
  assert.is(web.requests.length, before)
})

test('after the first fault no further file is fetched', async () => {
  const path = serve('/after.pdf', 'x')
  const before = web.requests.length
  await refuses(mailhorn, [...call([{ path: url('/missing') }, { path }])], {
    ...BAD,
    path: 'attachments[0].path',
    says: /404/,
  })
  assert.is(web.requests.length, before + 1)
})

test('the size limit covers all files and applies while a file streams', async () => {
  const path = serve('/large.bin', Buffer.alloc(16 * MIB))
  const [first] = await sent([{ path }])
  assert.is(first.size, 16 * MIB)
  await refuses(mailhorn, [...call([{ path }, { path }])], {
    ...BAD,
    path: 'attachments[1].path',
    says: /too large/,
  })
  const content = Buffer.alloc(15 * MIB).toString('base64')
  await refuses(mailhorn, [...call([{ content }, { path }])], {
    ...BAD,
    path: 'attachments[1].path',
    says: /too large/,
  })
})

test('a repeated request gets the first answer without a fetch', async () => {
  const path = serve('/once.pdf', 'x')
  const headers = { 'idempotency-key': 'path-1' }
  const first = await mailhorn.call(...call([{ path }], headers))
  assert.is(first.status, 200)
  files.delete('/once.pdf')
  const second = await mailhorn.call(...call([{ path }], headers))
  assert.equal([second.status, second.body], [200, first.body])
  assertRefusal(await mailhorn.call(...call([{ path: `${path}?other` }], headers)), {
    status: 409,
    name: 'invalid_idempotent_request',
  })
})

test('a failed fetch leaves the idempotency key to the next request', async () => {
  const headers = { 'idempotency-key': 'path-2' }
  const attachments = [{ path: url('/late.pdf') }]
  assertRefusal(await mailhorn.call(...call(attachments, headers)), { ...BAD, path: 'attachments[0].path' })
  serve('/late.pdf', 'x')
  assert.is((await mailhorn.call(...call(attachments, headers))).status, 200)
})

test('at most two requests of an account fetch at a time; other accounts do not wait', async () => {
  const other = addAccount(mailhorn, 'other')
  const [path, otherPath] = [serve('/slow.pdf', 'x'), serve('/slow-too.pdf', 'x')]
  const before = web.requests.length
  held = []
  const greedy = Array.from({ length: 5 }, () => mailhorn.call(...call([{ path }, { path: otherPath }])))
  await until(() => held!.length === 2)
  const modest = mailhorn.call(...call([{ path }], {}, other.apiKey))
  await until(() => held!.length === 3)
  assert.is(web.requests.length, before + 3)
  const waiting = held
  held = undefined
  for (const answer of waiting) answer()
  const answers = await Promise.all([...greedy, modest])
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 200],
  )
  assert.is(web.requests.length, before + 11)
})

function batch(emails: object[][], headers: Record<string, string> = {}) {
  const body = emails.map(attachments => ({ ...GOOD, attachments }))
  return ['POST', '/emails/batch', { key: mailhorn.apiKey, headers, body }] as const
}

test('a batch fetches a URL once for all its emails', async () => {
  const [path, other] = [serve('/shared.pdf', Buffer.alloc(100_000, 'y')), serve('/own.pdf', 'z')]
  const before = web.requests.length
  const { status, body } = await mailhorn.call(
    ...batch([[{ path }], [], [{ path }, { path: other }], [{ path, filename: 'mine.txt' }]]),
  )
  assert.is(status, 200)
  assert.is(web.requests.length, before + 2)
  const emails = await Promise.all(body.data.map(({ id }: { id: string }) => mailhorn.email(id)))
  assert.equal(
    emails.map(({ attachments }) =>
      attachments.map(({ filename, size }: Record<string, unknown>) => [filename, size]),
    ),
    [
      [['shared.pdf', 100_000]],
      [],
      [
        ['shared.pdf', 100_000],
        ['own.pdf', 1],
      ],
      [['mine.txt', 100_000]],
    ],
  )
})

test('a strict batch is refused with the first failed file and keeps no other file', async () => {
  const path = serve('/kept-not.pdf', Buffer.alloc(100_000, 'k'))
  await refuses(mailhorn, [...batch([[{ path }], [{ content: 'YQ==' }, { path: url('/gone') }]])], {
    ...BAD,
    path: '[1].attachments[1].path',
    says: /^\[1\]: Attachment 2: .*404/,
  })
})

test('a permissive batch leaves out emails with failed files', async () => {
  const path = serve('/permitted.pdf', 'x')
  const call = batch([[{ path: url('/gone') }], [{ path }]], { 'x-batch-validation': 'permissive' })
  const { status, body } = await mailhorn.call(...call)
  assert.equal([status, body.data.length], [200, 1])
  assert.equal(
    body.errors.map(({ index }: { index: number }) => index),
    [0],
  )
  assert.match(body.errors[0].message, /404/)
})

test('a fetched file is deleted if the request is refused later', async () => {
  const path = serve('/in-vain.pdf', Buffer.alloc(100_000, 'v'))
  const before = web.requests.length
  const body = { ...GOOD, from: 'ann@unknown.example', to: 'bob@far.example', attachments: [{ path }] }
  await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], {
    status: 403,
    name: 'validation_error',
    says: /not registered/,
  })
  assert.is(web.requests.length, before + 1)
})

test('no path is fetched if fetching is disabled', async t => {
  const off = await t.using(startMailhorn({ zone: ZONE, env: { MAILHORN_FETCH_ALLOW_LOOPBACK: 'true' } }))
  const before = web.connectionCount
  const [method, path, { body }] = call([{ path: serve('/off.pdf', 'x') }])
  await refuses(off, [method, path, { key: off.apiKey, body }], {
    ...BAD,
    path: 'attachments[0].path',
    says: /setting `fetch.attachments`/,
  })
  assert.is(web.connectionCount, before)
})

test('loopback is not reached unless it is allowed', async t => {
  const strict = await t.using(startMailhorn({ zone: ZONE, env: { MAILHORN_FETCH_ATTACHMENTS: 'true' } }))
  const before = web.connectionCount
  for (const host of ['files.example.test', '127.0.0.1']) {
    const [method, path, { body }] = call([{ path: url('/a.pdf', host) }])
    await refuses(strict, [method, path, { key: strict.apiKey, body }], {
      ...BAD,
      path: 'attachments[0].path',
      says: /public/,
    })
  }
  assert.is(web.connectionCount, before)
})

test.run()
