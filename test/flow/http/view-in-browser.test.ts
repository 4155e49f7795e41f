import * as assert from 'uvu/assert'
import { createViewToken } from '../../../src/pipeline/tracking/tokens.ts'
import { type Mailhorn, secretsOf, startMailhorn } from '../../kit/mailhorn.ts'
import { contentsOf } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('an email of a broadcast in the browser')
const DAY_MS = 86_400_000
const READER = 'delivered+ann@simulator.test'
let mailhorn: Mailhorn
let session: string
let audience: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  const { id } = await mailhorn.verifiedDomain('here.example')
  await call('PATCH', `/domains/${id}`, { open_tracking: true, click_tracking: true })
  audience = (await call('POST', '/audiences', { name: 'Readers' })).id
  await call('POST', `/audiences/${audience}/contacts`, {
    ...{ email: READER, first_name: 'Ann <b>', properties: { language: 'de' } },
  })
})
test.after(() => mailhorn.close())

const call = async (method: string, path: string, body?: object) => {
  const reply = await mailhorn.call(method, path, { session, ...(body && { body }) })
  if (reply.status >= 300) throw new Error(`${path}: ${JSON.stringify(reply.body)}`)
  return reply.body
}

const HTML = `<!doctype html><html><head><title>x</title></head><body><script>alert(1)</script>
  <p>Hello {{first_name|you}}</p><img src="https://shop.example/a.png"><a href="https://shop.example/">Shop</a>
  <a href="{{unsubscribe_url}}">leave</a><a href="{{{VIEW_IN_BROWSER_URL}}}">view</a></body></html>`

/** Sends a broadcast to the reader; returns its email and the link in it. */
async function sent(content: object = { html: HTML, text: 'View: {{view_in_browser_url}}' }) {
  const { id } = await call('POST', '/broadcasts', {
    ...{ audience_id: audience, from: 'Acme <ann@here.example>', subject: 'News', ...content, send: true },
  })
  const email = await until(async () => {
    const { data } = await call('GET', `/emails?broadcast_id=${id}`)
    return data[0]?.status === 'delivered' ? data[0] : undefined
  })
  const raw = await fetch(`${mailhorn.baseUrl}/emails/${email.id}/raw`, {
    headers: { authorization: `Bearer ${session}` },
  })
  const message = (await raw.text()).replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const shown = await call('GET', `/emails/${email.id}`)
  const [link] = /http[^"\s]*\/v\/[\w-]+/.exec(shown.text)!
  return { id: email.id, link: link!, message, shown }
}
const visit = async (url: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(url, { headers, redirect: 'manual' })
  return { status: reply.status, headers: reply.headers, text: await reply.text() }
}

test('the link is in the message, not tracked, and shows the email with the values of its reader', async () => {
  const { link, message, shown } = await sent()
  assert.match(message, `View: ${link}`)
  assert.match(message, `<a href="${link}">view</a>`, 'no tracked link')
  assert.match(shown.html, `<a href="${link}">view</a>`)
  const before = contentsOf(mailhorn, ['sessions'])
  const page = await visit(link, { 'accept-language': 'fr' })
  assert.is(page.status, 200)
  assert.match(page.text, /<html lang="de">.*<dt>Von<\/dt><dd>Acme &lt;ann@here\.example&gt;<\/dd>/s)
  assert.match(page.headers.get('x-robots-tag')!, 'noindex')
  assert.equal(
    [page.headers.get('cache-control'), page.headers.get('referrer-policy')],
    ['no-store', 'no-referrer'],
  )
  assert.match(page.headers.get('content-security-policy')!, "default-src 'none'")
  const frame = await visit(`${link}/html`)
  assert.match(
    frame.text,
    /<head><base target="_blank"><title>.*Hello Ann &lt;b&gt;.*"https:\/\/shop\.example\/"/s,
  )
  assert.not.match(frame.text, /\/[oc]\//, 'neither pixel nor tracked links')
  const policy = frame.headers.get('content-security-policy')!
  assert.match(policy, /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'/)
  assert.match(policy, /img-src https: data:;.*form-action 'none'/)
  assert.not.match(policy, /allow-scripts|allow-same-origin|script-src/)
  const [leave] = /http[^"\s]*\/u\/[\w-]+/.exec(frame.text)!
  assert.match((await visit(leave!)).text, READER)
  assert.equal(contentsOf(mailhorn, ['sessions']), before, 'nothing is counted')
})

test('an email with text alone is shown as text', async () => {
  const { link } = await sent({ text: 'Hello <{{first_name}}> {{view_in_browser_url}}' })
  assert.match((await visit(link)).text, '<pre>Hello &lt;Ann &lt;b&gt;&gt; http')
})

test('a share link of the email contains neither link of its recipient', async () => {
  const { id } = await sent()
  const { url } = await call('POST', `/emails/${id}/share`, {})
  assert.not.match((await visit(`${url}/html`)).text, /\/[uv]\//)
})

test('a subject with the link is refused, and a test email has one that leads nowhere', async () => {
  const body = {
    audience_id: audience,
    from: 'ann@here.example',
    subject: '{{view_in_browser_url}}',
    text: 'x',
  }
  const refused = await mailhorn.call('POST', '/broadcasts', { session, body })
  assert.is(refused.status, 422)
  assert.match(refused.body.message, 'subject')
  const draft = await call('POST', '/broadcasts', {
    ...body,
    subject: 'x',
    text: '[{{view_in_browser_url}}]',
  })
  assert.is((await call('GET', `/broadcasts/${draft.id}/preview`)).text, `[${mailhorn.baseUrl}/v/preview]`)
})

test('the text of previews and test emails shows the unsubscribe link, which has no effect', async () => {
  // given: a broadcast whose text is derived from its HTML
  const html = '<p>Our spring sale begins on Monday.</p><p><a href="{{unsubscribe_url}}">Unsubscribe</a></p>'
  const body = { audience_id: audience, from: 'ann@here.example', subject: 'Spring', html }
  const { id } = await call('POST', '/broadcasts', body)

  // when
  const { text } = await call('GET', `/broadcasts/${id}/preview`)
  const { emails } = await call('POST', `/broadcasts/${id}/test`, { to: ['ben@there.example'] })

  // then
  const link = `${mailhorn.baseUrl}/u/preview`
  assert.match(text, `Unsubscribe (${link})`)
  assert.match((await call('GET', `/emails/${emails[0].id}`)).html, `href="${link}"`)
  assert.is((await visit(link)).status, 404)
})

test('an email that is no longer kept says so, and a forged link is no link', async () => {
  const { link } = await sent()
  const token = link.split('/').at(-1)!
  const unknown = createViewToken(secretsOf(mailhorn), {
    ...{ accountId: new Uint8Array(16), emailId: new Uint8Array(16), ordinal: 0 },
  })
  mailhorn.clock.advance(91 * DAY_MS)
  for (const url of [link, `${link}/html`, link.replace(token, unknown)]) {
    const { status, text } = await visit(url, { accept: 'text/html' })
    assert.is(status, 410)
    assert.match(text, /This email is no longer available|Diese E-Mail ist nicht mehr verfügbar/)
  }
  for (const forged of [`${token.slice(0, -1)}-`, 'x', token.slice(0, 40)]) {
    const { status } = await visit(link.replace(token, forged))
    assert.is(status, 404)
  }
})

test.run()
