import * as assert from 'uvu/assert'
import { parseWireId, wireId } from '../../../src/lib/ids.ts'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { addInbound } from '../../kit/inbound.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('shared emails')
const HOUR_MS = 3_600_000
const HOSTILE =
  '</iframe><script>parent.document.title="owned"</script><meta http-equiv="refresh" content="0;url=https://evil.example">' +
  '<img src="https://evil.example/x.png" onerror="alert(1)"><form action="https://evil.example"><button>Go</button></form>'
let mailhorn: Mailhorn
let id = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  id = await send({ html: '<p>the <b>html</b></p>', text: 'the text' })
})
test.after(() => mailhorn.close())

async function send(email: object): Promise<string> {
  const base = { from: 'Ann <ann@here.example>', to: 'delivered@simulator.test', subject: 'Hello' }
  const sent = await mailhorn.send({ ...base, ...email })
  await mailhorn.emailWhen(sent, 'delivered')
  return sent
}

const share = (of: string, body: object = {}, key = mailhorn.apiKey) =>
  mailhorn.call('POST', `/emails/${of}/share`, { key, body })

/** Requests a URL without a credential. */
async function visit(url: string, method = 'GET') {
  const response = await fetch(url, { method })
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return { status, headers, text, body: isJson && text ? JSON.parse(text) : null }
}

const NO_SHARE = { status: 404, name: 'not_found', says: /^Share not found/ }
const NO_EMAIL = { status: 404, name: 'not_found', says: /^Email not found/ }

test('have unguessable links of which only hashes are stored', async () => {
  const { status, body } = await share(id)
  assert.is(status, 200)
  assert.equal([body.object, body.id], ['email', id])
  const token = /\/s\/([a-z2-7]{26})$/.exec(body.url)![1]!
  assert.ok(body.url.startsWith(`${mailhorn.baseUrl}/s/`))
  assert.is.not((await share(id)).body.url, body.url)
  const [stored] = mailhorn.rows<{ token_hash: Buffer }>('select token_hash from email_shares')
  assert.not(stored!.token_hash.toString('latin1').includes(token))
  assert.ok(Math.abs(Date.parse(body.expires_at) - mailhorn.clock.now() - 48 * HOUR_MS) < 60_000)
})

test('have a page with the header and a frame with the content', async () => {
  const { body } = await share(
    await send({
      html: '<p>html</p>',
      cc: 'Cora <delivered+c@simulator.test>',
      bcc: 'delivered+secret@simulator.test',
    }),
  )
  const page = await visit(body.url)
  assert.is(page.status, 200)
  for (const shown of [
    '<h1>Hello</h1>',
    'Ann &lt;ann@here.example&gt;',
    'delivered@simulator.test',
    'Cora &lt;',
  ])
    assert.ok(page.text.includes(shown), shown)
  assert.not(page.text.includes('secret'))
  const [, frame] = /<iframe sandbox referrerpolicy="no-referrer" title="The email" src="([^"]+)">/.exec(
    page.text,
  )!
  const html = await visit(new URL(frame!, body.url).href)
  assert.equal([html.status, html.text], [200, '<p>html</p>'])
})

test('show a text email as text', async () => {
  const { body } = await share(await send({ text: '<script>alert("x")</script>\n& more' }))
  const { text } = await visit(body.url)
  assert.ok(text.includes('<pre>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;\n&amp; more</pre>'))
  assert.not(text.includes('<iframe'))
  assertRefusal(await visit(`${body.url}/html`), NO_SHARE)
})

test('are not cached or indexed and send no referrer', async () => {
  const { url } = (await share(id)).body
  for (const path of [url, `${url}/html`]) {
    const { headers } = await visit(path)
    assert.equal(
      ['content-type', 'cache-control', 'referrer-policy', 'x-robots-tag', 'x-content-type-options'].map(
        name => headers.get(name),
      ),
      ['text/html; charset=utf-8', 'no-store', 'no-referrer', 'noindex, nofollow, noarchive', 'nosniff'],
    )
    assert.is(headers.get('set-cookie'), null)
  }
})

test('sandbox hostile mail, which loads and sends nothing', async () => {
  const { url } = (await share(await send({ html: HOSTILE, subject: '</title><script>alert(1)</script>' })))
    .body
  const page = await visit(url)
  assert.not(page.text.includes('<script'), 'nothing of the mail is markup in the page')
  assert.not(page.text.includes('evil.example'))
  const directives = (headers: Headers) => headers.get('content-security-policy')!.split('; ')
  const outer = directives(page.headers)
  for (const rule of [
    "default-src 'none'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
    assert.ok(outer.includes(rule), rule)
  assert.not.match(outer.join(), /unsafe|script-src/)

  const frame = await visit(`${url}/html`)
  assert.is(frame.text, HOSTILE)
  assert.equal(directives(frame.headers), [
    'sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ])
})

test('escape markup in names', async () => {
  const { url } = (await share(await send({ from: '"<b>Ann & Co</b>" <ann@here.example>', text: 't' }))).body
  const { text } = await visit(url)
  assert.not(text.includes('<b>'))
  assert.ok(text.includes('&lt;b&gt;Ann &amp; Co&lt;/b&gt;'))
})

for (const [expires, ms] of [
  ['2 hours', 2 * HOUR_MS],
  ['30 minutes', HOUR_MS / 2],
  ['45m', 45 * 60_000],
  ['1 day', 24 * HOUR_MS],
  ['48h', 48 * HOUR_MS],
  ['90', 90_000],
  [90, 90_000],
  ['1h 30m', 1.5 * HOUR_MS],
  [null, 48 * HOUR_MS],
  ['', 48 * HOUR_MS],
] as const)
  test(`are valid for ${JSON.stringify(expires)} if requested`, async () => {
    const { body } = await share(id, { expires_in: expires })
    assert.ok(Math.abs(Date.parse(body.expires_at) - mailhorn.clock.now() - ms) < 30_000, body.expires_at)
  })

for (const expires of [
  '49h',
  '1 day and 25 hours',
  '3 days',
  172_801,
  0,
  -1,
  1.5,
  '0',
  'tomorrow',
  '1 fortnight',
  true,
  {},
  ['1h'],
  '9'.repeat(400),
])
  test(`are refused for ${JSON.stringify(expires).slice(0, 20)}`, async () => {
    const options = { key: mailhorn.apiKey, body: { expires_in: expires } }
    const expected = { status: 422, name: 'validation_error', path: 'expires_in' }
    await refuses(mailhorn, ['POST', `/emails/${id}/share`, options], expected)
  })

test('expire', async () => {
  const { url } = (await share(id, { expires_in: '1 hour' })).body
  mailhorn.clock.advance(HOUR_MS - 60_000)
  assert.is((await visit(url)).status, 200)
  mailhorn.clock.advance(61_000)
  for (const path of [url, `${url}/html`]) assertRefusal(await visit(path), NO_SHARE)
})

test('are listed without token while valid and end when revoked', async () => {
  const own = await send({ html: '<p>x</p>' })
  const first = (await share(own)).body
  const second = (await share(own, { expires_in: '2h' })).body
  const list = () => mailhorn.call('GET', `/emails/${own}/share`, { key: mailhorn.apiKey })
  const { body } = await list()
  assert.equal(
    [body.total, body.has_more, body.data.map((one: { id: string }) => one.id)],
    [2, false, [second.share_id, first.share_id]],
  )
  assert.not(JSON.stringify(body).includes('/s/'))
  const revoke = (of: string) =>
    mailhorn.call('DELETE', `/emails/${of}/share/${first.share_id}`, { key: mailhorn.apiKey })
  assertRefusal(await revoke(id), NO_SHARE)
  assert.equal((await revoke(own)).body, { object: 'share', id: first.share_id, deleted: true })
  assertRefusal(await visit(first.url), NO_SHARE)
  assertRefusal(await visit(`${first.url}/html`), NO_SHARE)
  assert.is((await visit(second.url)).status, 200)
  assertRefusal(await revoke(own), NO_SHARE)
  mailhorn.clock.advance(2 * HOUR_MS + 1_000)
  assert.is((await list()).body.total, 0)
})

test('an email has at most 100 valid links', async () => {
  const own = await send({ text: 't' })
  const answers = await Promise.all(Array.from({ length: 103 }, () => share(own)))
  assert.is(answers.filter(({ status }) => status === 200).length, 100)
  assertRefusal(answers.find(({ status }) => status !== 200)!, {
    ...{ status: 422, name: 'validation_error', says: /100 share links/ },
  })
  mailhorn.clock.advance(48 * HOUR_MS + 1_000)
  assert.is((await share(own)).status, 200)
})

test('cannot be made, listed or revoked by another account', async () => {
  const { apiKey } = addAccount(mailhorn, 'stranger')
  const { share_id: shareId } = (await share(id)).body
  assertRefusal(await share(id, {}, apiKey), NO_EMAIL)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', `/${shareId}`],
  ] as const)
    assertRefusal(await mailhorn.call(method, `/emails/${id}/share${path}`, { key: apiKey }), NO_EMAIL)
})

test('an unknown link is not found', async () => {
  const { url } = (await share(id)).body
  const token: string = url.split('/').at(-1)
  for (const wrong of [
    'x',
    token.slice(1),
    `${token}a`,
    token.toUpperCase(),
    `${token}%00`,
    '%ff',
    '..'.repeat(3),
  ])
    assertRefusal(await visit(`${mailhorn.baseUrl}/s/${wrong}`), NO_SHARE)
})

test('HEAD returns the headers of GET', async () => {
  const { status, text, headers } = await visit((await share(id)).body.url, 'HEAD')
  assert.equal([status, text], [200, ''])
  assert.match(headers.get('content-security-policy')!, /frame-src/)
})

test('are deleted with their email', async () => {
  const own = await send({ text: 't' })
  mailhorn.clock.advance(90 * 24 * HOUR_MS - HOUR_MS)
  const { url } = (await share(own, { expires_in: '48h' })).body
  assert.is((await visit(url)).status, 200)
  mailhorn.clock.advance(2 * HOUR_MS)
  assertRefusal(await visit(url), NO_SHARE)
})

const accountId = () =>
  wireId('acc', mailhorn.rows<{ id: Uint8Array }>('select id from accounts order by id limit 1')[0]!.id)
const PIXEL = 'iVBORw0KGgo='
const RECEIVED = `From: Zoë <zoe@there.example>
To: ann@mine.example
Cc: Bob <bob@mine.example>
Subject: An <offer>
MIME-Version: 1.0
Content-Type: multipart/related; boundary=r

--r
Content-Type: text/html; charset=utf-8

<p>look</p><img src="cid:pixel"><script>alert(1)</script>
--r
Content-Type: image/png
Content-ID: <pixel>
Content-Disposition: inline
Content-Transfer-Encoding: base64

${PIXEL}
--r--
`

test('received mail is shared with its inline images, listed and revoked like sent mail', async () => {
  const { id: inboundId } = addInbound(mailhorn, accountId(), { data: RECEIVED })
  const { status, body } = await share(inboundId, { expires_in: '1h 30m' })
  assert.equal([status, body.object, body.id], [200, 'email', inboundId])
  const page = await visit(body.url)
  for (const shown of [
    '<h1>An &lt;offer&gt;</h1>',
    'zoe@there.example',
    'ann@mine.example',
    'bob@mine.example',
  ])
    assert.ok(page.text.includes(shown), shown)
  const frame = await visit(`${body.url}/html`)
  assert.ok(frame.text.includes(`src="data:image/png;base64,${PIXEL}"`), frame.text)
  assert.match(frame.headers.get('content-security-policy')!, /^sandbox; default-src 'none'/)
  const path = `/emails/${inboundId}/share`
  const list = await mailhorn.call('GET', path, { key: mailhorn.apiKey })
  assert.equal(
    list.body.data.map((one: { id: string }) => one.id),
    [body.share_id],
  )
  const bare = inboundId.replace(/^inb_/, '')
  const again = (await share(bare)).body
  assert.is(again.id, inboundId)
  await mailhorn.call('DELETE', `${path}/${body.share_id}`, { key: mailhorn.apiKey })
  assertRefusal(await visit(body.url), NO_SHARE)
  assert.is((await visit(again.url)).status, 200)
  const session = openSession(mailhorn, 'bearer')
  assert.is((await mailhorn.call('DELETE', `/inbound/${inboundId}`, { session })).status, 200)
  assertRefusal(await visit(again.url), NO_SHARE)
  assert.equal(
    mailhorn.rows('select 1 from email_shares where email_id = ?', parseWireId('inb', inboundId)!),
    [],
  )
})

test('received text is shown as text', async () => {
  const data = 'From: <b>@there.example\nTo: a@mine.example\nSubject: t\n\n<i>plain</i>\n'
  const { body } = await share(addInbound(mailhorn, accountId(), { data }).id)
  assert.ok((await visit(body.url)).text.includes('<pre>&lt;i&gt;plain&lt;/i&gt;'))
  assertRefusal(await visit(`${body.url}/html`), NO_SHARE)
})

test('received mail is not shared by strangers, keys of other domains, and tokens without its scope', async () => {
  const { id: inboundId } = addInbound(mailhorn, accountId(), { data: RECEIVED })
  const stranger = addAccount(mailhorn, 'stranger-of-received')
  assertRefusal(await share(inboundId, {}, stranger.apiKey), NO_EMAIL)
  const session = openSession(mailhorn, 'bearer')
  const tokenWith = async (scopes: string[]) => {
    const { body } = await mailhorn.call('POST', '/access-tokens', { session, body: { name: 'n', scopes } })
    return body.token as string
  }
  assertRefusal(await share(inboundId, {}, await tokenWith(['emails:write'])), {
    ...{ status: 403, name: 'invalid_access', says: /`inbound:read`/ },
  })
  assert.is((await share(inboundId, {}, await tokenWith(['emails:write', 'inbound:read']))).status, 200)
})

test('links use the configured host', async t => {
  const env = { MAILHORN_TRACKING_BASE_URL: 'https://links.here.example/' }
  const elsewhere = await startMailhorn({ env })
  t.after(() => elsewhere.close())
  const mail = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
  const { body } = await elsewhere.call('POST', `/emails/${await elsewhere.send(mail)}/share`, {
    key: elsewhere.apiKey,
  })
  assert.match(body.url, /^https:\/\/links\.here\.example\/s\/[a-z2-7]{26}$/)
})

test.run()
