import * as assert from 'uvu/assert'
import { parseWireId } from '../../../src/lib/ids.ts'
import {
  createUnsubscribeToken,
  readUnsubscribeToken,
} from '../../../src/pipeline/tracking/unsubscribe-token.ts'
import { PNG } from '../../kit/logo.ts'
import { type Mailhorn, secretsOf, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('branding of recipients’ pages')
let mailhorn: Mailhorn
let session: string
let accountId: Uint8Array
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/account', { session })
  accountId = parseWireId('acc', body.id)!
  await mailhorn.call('PATCH', `/accounts/${body.id}`, { session, body: { name: 'Tenant 7 (internal)' } })
})
test.after(() => mailhorn.close())

const call = async (method: string, path: string, body?: object) => {
  const reply = await mailhorn.call(method, path, { session, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}
const pageFor = async (senderDomain: string | undefined, broadcastId: Uint8Array | null = null) => {
  const subscription = { accountId, address: 'ann@there.example', topicId: null, broadcastId, senderDomain }
  const token = createUnsubscribeToken(secretsOf(mailhorn), subscription)
  const reply = await fetch(`${mailhorn.baseUrl}/u/${token}`)
  return { text: await reply.text(), policy: reply.headers.get('content-security-policy')! }
}

test('name, colour and logo are set one by one, shown, and removed by an empty string', async () => {
  const { id, branding } = await call('POST', '/domains', { name: 'one.example' })
  assert.equal(branding, { name: null, color: null, logo_url: null })
  const set = async (changes: object) =>
    (await call('PATCH', `/domains/${id}`, { branding: changes })).branding
  assert.equal(await set({ name: ' Acme Post ' }), { name: 'Acme Post', color: null, logo_url: null })
  assert.equal(await set({ color: '#1C7047' }), { name: 'Acme Post', color: '#1c7047', logo_url: null })
  const { logo_url } = await set({ logo: `data:image/png;base64,${PNG}` })
  assert.ok(logo_url.startsWith(`${mailhorn.baseUrl}/l/`))
  assert.equal((await call('GET', `/domains/${id}`)).branding, {
    ...{ name: 'Acme Post', color: '#1c7047', logo_url },
  })
  const listed = (await call('GET', '/domains')).data.find((domain: { id: string }) => domain.id === id)
  assert.is(listed.branding.logo_url, logo_url)
  const unchanged = await call('PATCH', `/domains/${id}`, {
    branding: { name: null, logo: null },
    tls: 'enforced',
  })
  assert.equal(
    [unchanged.branding.name, unchanged.branding.logo_url, unchanged.tls],
    [...['Acme Post', logo_url, 'enforced']],
  )
  assert.equal(await set({ name: '', color: '', logo: '' }), { name: null, color: null, logo_url: null })
  assert.is((await fetch(logo_url)).status, 404, 'a removed logo is gone')
})

test('a domain that is created with branding says that it has none', async () => {
  const { branding, warnings } = await call('POST', '/domains', {
    ...{ name: 'early.example', branding: { name: 'Acme' } },
  })
  assert.is(branding.name, null)
  assert.equal(
    warnings.map(({ path }: { path: string }) => path),
    ['branding'],
  )
})

const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
for (const [what, branding, path] of [
  ['a name of two lines', { name: 'Acme\nPost' }, 'branding.name'],
  ['a name that is too long', { name: 'x'.repeat(101) }, 'branding.name'],
  ['a name that is no text', { name: 7 }, 'branding.name'],
  ['a colour by name', { color: 'red' }, 'branding.color'],
  ['a short colour', { color: '#abc' }, 'branding.color'],
  ['a colour that ends the style', { color: '#abcdef;}' }, 'branding.color'],
  ['an SVG', { logo: SVG.toString('base64') }, 'branding.logo'],
  ['a page', { logo: Buffer.from('<!doctype html>').toString('base64') }, 'branding.logo'],
  ['a GIF', { logo: Buffer.from('GIF89a').toString('base64') }, 'branding.logo'],
  ['a link', { logo: 'https://acme.example/logo.png' }, 'branding.logo'],
  [
    'a logo that is too large',
    { logo: Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(102_400)]).toString('base64') },
    'branding.logo',
  ],
  ['a misspelt member', { colour: '#abcdef' }, 'branding'],
  ['a text', 'Acme', 'branding'],
] as const)
  test(`${what} is refused, and nothing changes`, async () => {
    const { data } = await call('GET', '/domains')
    const body = { branding, open_tracking: true }
    await refuses(mailhorn, ['PATCH', `/domains/${data[0].id}`, { session, body }], {
      ...{ status: 422, name: 'validation_error', path },
    })
    assert.equal((await call('GET', '/domains')).data, data)
  })

test('a logo is a cached image without a session, which runs nothing', async () => {
  const { id } = await call('POST', '/domains', { name: 'logo.example' })
  const { branding } = await call('PATCH', `/domains/${id}`, { branding: { logo: PNG } })
  const { status, headers, ...reply } = await fetch(branding.logo_url).then(async reply => ({
    ...{ status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) },
  }))
  assert.equal(
    [status, headers.get('content-type'), headers.get('x-content-type-options')],
    [...[200, 'image/png', 'nosniff']],
  )
  assert.match(headers.get('cache-control')!, 'immutable')
  assert.match(headers.get('content-security-policy')!, "default-src 'none'; sandbox")
  assert.is(reply.bytes.toString('base64'), PNG)
  for (const name of ['x', '0'.repeat(64), `${branding.logo_url.slice(-64)}0`])
    assert.is((await fetch(`${mailhorn.baseUrl}/l/${name}`)).status, 404)
  await call('DELETE', `/domains/${id}`)
  assert.is((await fetch(branding.logo_url)).status, 404, 'the domain was deleted')
})

test('the page shows the brand of the domain, else its name, and never that of the account', async () => {
  const { id } = await call('POST', '/domains', { name: 'shop.example' })
  const plain = await pageFor('shop.example')
  assert.match(plain.text, '<h1>Emails from shop.example</h1>')
  assert.not.match(plain.text, /Tenant 7|<img/)
  const branding = { name: 'Acme <Post>', color: '#0a5c36', logo: PNG }
  const { logo_url } = (await call('PATCH', `/domains/${id}`, { branding })).branding
  const { text, policy } = await pageFor('shop.example')
  assert.match(text, '<h1>Emails from Acme &lt;Post&gt;</h1>')
  assert.match(text, `<img src="${new URL(logo_url).pathname}" alt="Acme &lt;Post&gt;">`)
  assert.match(text, '--brass: #0a5c36; --on-brass: white')
  assert.match(policy, "img-src 'self'")
  const unknown = await pageFor(undefined)
  assert.match(unknown.text, 'Emails from this sender')
  assert.not.match(text + unknown.text, /Tenant 7/)
})

test('the page of a broadcast shows the brand, else the name in From', async () => {
  const { id } = await call('POST', '/domains', { name: 'news.example' })
  const { id: audience_id } = await call('POST', '/audiences', { name: 'Readers' })
  const broadcast = await call('POST', '/broadcasts', {
    ...{ audience_id, from: 'Ann of Acme <ann@news.example>', subject: 'News', text: 'News' },
  })
  const broadcastId = parseWireId('brd', broadcast.id)!
  assert.match((await pageFor(undefined, broadcastId)).text, 'Emails from Ann of Acme')
  await call('PATCH', `/domains/${id}`, { branding: { name: 'Acme' } })
  assert.match((await pageFor(undefined, broadcastId)).text, '<h1>Emails from Acme</h1>')
})

test('the link of an email about a topic knows the domain of its sender', async () => {
  await mailhorn.verifiedDomain('topical.example')
  const { id: topic_id } = await call('POST', '/topics', { name: 'Offers' })
  const mail = {
    from: 'ann@topical.example',
    to: 'delivered@simulator.test',
    subject: 'x',
    text: 'x',
    topic_id,
  }
  const id = await mailhorn.send(mail)
  await mailhorn.emailWhen(id, 'delivered')
  const reply = await fetch(`${mailhorn.baseUrl}/emails/${id}/raw`, {
    headers: { authorization: `Bearer ${session}` },
  })
  const [, token] = /\/u\/([\w-]+)>/.exec(await reply.text())!
  assert.is(readUnsubscribeToken(secretsOf(mailhorn), token!)?.senderDomain, 'topical.example')
  const page = await fetch(`${mailhorn.baseUrl}/u/${token}`)
  assert.match(await page.text(), 'You receive emails about Offers from topical.example')
})

test.run()
