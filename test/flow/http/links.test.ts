import { request } from 'node:http'
import PostalMime from 'postal-mime'
import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { parseWireId } from '../../../src/lib/ids.ts'
import { createUnsubscribeToken } from '../../../src/pipeline/tracking/unsubscribe-token.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, secretsOf, startMailhorn } from '../../kit/mailhorn.ts'
import { contentsOf } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('links in emails')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const DAY_MS = 86_400_000
const LINKS = 'http://links.example'
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'
const SHOP = 'https://shop.example/?a=1&b=%C3%BC#top'
let mx: FakeMx
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: { MAILHORN_TRACKING_BASE_URL: `${LINKS}/` },
  })
  session = await mailhorn.signIn()
  const { id } = await mailhorn.verifiedDomain('here.example')
  await mailhorn.call('PATCH', `/domains/${id}`, {
    session,
    body: { open_tracking: true, click_tracking: true },
  })
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** Requests a link by the name of its host, as a visitor does. */
function visit(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Reply> {
  const { host, pathname, search } = new URL(url)
  const { hostname, port } = new URL(mailhorn.baseUrl)
  return new Promise((resolve, reject) => {
    const requests = request(
      {
        hostname,
        port,
        path: pathname + search,
        method,
        headers: { host, 'user-agent': FIREFOX, ...headers },
      },
      async response => {
        const text = (await response.toArray()).join('')
        resolve({ status: response.statusCode!, headers: response.headers, text })
      },
    )
    requests.once('error', reject)
    requests.end(body)
  })
}

/** An email that was delivered a minute ago, and the links in it. */
async function sentTo(address: string, more: object = {}) {
  const id = await mailhorn.send({
    from: 'ann@here.example',
    to: address,
    subject: 'News',
    html: `<html><body><a href="${SHOP.replaceAll('&', '&amp;')}">Shop</a></body></html>`,
    ...more,
  })
  await mailhorn.emailWhen(id, 'delivered')
  mailhorn.clock.advance(60_000)
  const { html } = await PostalMime.parse(
    mx.messages.findLast(({ rcptTo }) => rcptTo.includes(address))!.data,
  )
  const [link] = /http:\/\/links\.example\/c\/[\w-]+/.exec(html!)!
  const [pixel] = /http:\/\/links\.example\/o\/[\w-]+/.exec(html!)!
  return { id, link, pixel }
}

test('links: the pixel is an uncached image and records an open', async () => {
  const { id, pixel } = await sentTo('ok-open@there.example')
  const { status, headers } = await visit(pixel)
  assert.equal([status, headers['content-type'], headers['content-length']], [200, 'image/gif', '43'])
  assert.match(`${headers['cache-control']}`, /no-store/)
  assert.is(headers['set-cookie'], undefined)
  const email = await until(async () => {
    const shown = await mailhorn.email(id)
    return shown.open_count > 0 ? shown : undefined
  })
  assert.equal([email.status, email.open_count, email.click_count], ['delivered', 1, 0])
  const { type, recipient, data } = email.events.at(-1)
  assert.equal([type, recipient], ['email.opened', 'ok-open@there.example'])
  assert.equal(data, {
    open: { ip_address: '127.0.0.1', user_agent: FIREFOX, machine: null, proxy: null },
  })
})

test('links: a click link redirects to its signed target and records a click', async () => {
  const { id, link } = await sentTo('ok-click@there.example')
  for (const requests of [link, `${link}?u=https://evil.example/`, `${link}/`]) {
    const { status, headers } = await visit(requests)
    assert.equal([status, headers.location], [302, SHOP])
    assert.match(`${headers['cache-control']}`, /no-store/)
  }
  const email = await until(async () => {
    const shown = await mailhorn.email(id)
    return shown.click_count >= 3 ? shown : undefined
  })
  assert.equal(email.events.at(-1).data.click, {
    ...{ link: SHOP, ip_address: '127.0.0.1', user_agent: FIREFOX, machine: null, proxy: null },
  })
})

test('links: HEAD is answered like GET without a body and records no person', async () => {
  const { id, link, pixel } = await sentTo('ok-head@there.example')
  for (const [url, expected] of [
    [link, 302],
    [pixel, 200],
  ] as const) {
    const { status, text } = await visit(url, { method: 'HEAD' })
    assert.equal([status, text], [expected, ''])
  }
  const email = await until(async () => {
    const shown = await mailhorn.email(id)
    return shown.events.at(-1).type === 'email.opened' ? shown : undefined
  })
  assert.equal([email.open_count, email.click_count], [0, 0])
  assert.is(email.events.at(-1).data.open.machine, 'head-request')
})

test('links: an altered or invented token gets the same reply in every case', async () => {
  const { link, pixel } = await sentTo('ok-forged@there.example')
  const token = link.slice(link.lastIndexOf('/') + 1)
  const altered = token.slice(0, -1) + (token.endsWith('A') ? 'Q' : 'A')
  const replies = []
  for (const path of [
    ...[`/c/${altered}`, `/c/${token.slice(0, 40)}`, '/c/x', `/c/${pixel.slice(pixel.lastIndexOf('/') + 1)}`],
    ...[`/o/${token}`, '/o/x', `/u/${token}`, '/u/x', `/c/${'A'.repeat(9_000)}`],
  ])
    replies.push(await visit(LINKS + path))
  for (const { status, headers, text } of replies) {
    assert.equal([status, headers.location], [404, undefined])
    assert.equal(JSON.parse(text).name, 'not_found')
    assert.is(text, replies[0]!.text)
  }
})

test('links: the host of links serves nothing else', async () => {
  for (const path of ['/healthz', '/emails', '/openapi.json', '/'])
    assert.is((await visit(LINKS + path)).status, 404, path)
  assert.is((await mailhorn.call('GET', '/healthz')).status, 200)
})

/** A contact in two audiences, about two topics, and the link in a broadcast to it. */
async function listed(
  email: string,
  { isAboutTopic = true, senderDomain }: { isAboutTopic?: boolean; senderDomain?: string } = {},
) {
  const make = async (path: string, body: object) =>
    (await mailhorn.call('POST', path, { session, body })).body
  const topics = [await make('/topics', { name: 'Offers <b>' }), await make('/topics', { name: 'News' })]
  const audiences = [await make('/audiences', { name: 'One' }), await make('/audiences', { name: 'Two' })]
  for (const { id } of audiences) await make(`/audiences/${id}/contacts`, { email })
  const { body: account } = await mailhorn.call('GET', '/account', { session })
  const token = createUnsubscribeToken(secretsOf(mailhorn), {
    accountId: parseWireId('acc', account.id)!,
    address: email,
    topicId: isAboutTopic ? parseWireId('top', topics[0].id)! : null,
    broadcastId: null,
    senderDomain,
  })
  const shown = () =>
    Promise.all(
      audiences.map(
        async ({ id }) =>
          (await mailhorn.call('GET', `/audiences/${id}/contacts/${email}`, { session })).body,
      ),
    )
  const contacts = async () =>
    (await shown()).map(({ unsubscribed, unsubscribed_topics: topics }) => ({ unsubscribed, topics }))
  const changes = async () => (await shown()).map(({ updated_at }) => updated_at)
  return {
    url: `${LINKS}/u/${token}`,
    topics: topics.map(({ id }) => id),
    audiences,
    contacts,
    changes,
  }
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ONE_CLICK = 'List-Unsubscribe=One-Click'
const subscribed = { unsubscribed: false, topics: [] }

test('links: reading the unsubscribe page changes nothing', async () => {
  const { url, contacts } = await listed('look@there.example')
  const before = contentsOf(mailhorn, ['sessions'])
  for (const method of ['GET', 'HEAD', 'GET']) {
    const { status, headers } = await visit(url, { method })
    assert.is(status, 200)
    assert.match(
      `${headers['content-security-policy']}`,
      /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/,
    )
    assert.equal([headers['cache-control'], headers['referrer-policy']], ['no-store', 'no-referrer'])
    assert.is(headers['set-cookie'], undefined)
  }
  assert.equal(contentsOf(mailhorn, ['sessions']), before)
  assert.equal(await contacts(), [subscribed, subscribed])
})

test('links: a link that was copied with what follows it works', async () => {
  const { url } = await listed('copied@there.example')
  for (const rest of ['.', '>', '%3E', ')', '%20', '%C2%A0', "'", ',', '.%20'])
    assert.is((await visit(url + rest)).status, 200, rest)
  for (const rest of ['x', '-', '_']) assert.is((await visit(url + rest)).status, 404, rest)
  const { link } = await sentTo('ok-copied@there.example')
  for (const rest of ['.', ')', '%3E']) assert.is((await visit(link + rest)).status, 302, rest)
})

test('links: the unsubscribe page names sender and topics, escapes every text and needs no script', async () => {
  const { url } = await listed('read@there.example', { senderDomain: 'here.example' })
  const { data } = (await mailhorn.call('GET', '/domains', { session })).body
  const rename = (name: string) =>
    mailhorn.call('PATCH', `/domains/${data[0].id}`, { session, body: { branding: { name } } })
  await rename('<i>Acme & Sons</i>')
  const { text } = await visit(url)
  await rename('')
  assert.match(text, /&lt;i&gt;Acme &amp; Sons&lt;\/i&gt;/)
  assert.match(text, /Unsubscribe from Offers &lt;b&gt;/)
  assert.match(text, /read@there\.example/)
  assert.not.match(text, /<script|<i>|<b>|onclick|https?:/)
  assert.match(text, /<html lang="en">.*<h1>.*<button name="choice" value="leave">/s)
})

for (const [what, headers, body] of [
  ['urlencoded', FORM, ONE_CLICK],
  [
    'multipart',
    { 'content-type': 'multipart/form-data; boundary="---here"' },
    `-----here\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n-----here--\r\n`,
  ],
  ['without a word', {}, ''],
  [
    'as a file',
    { 'content-type': 'multipart/form-data; boundary=b' },
    '--b\r\nContent-Disposition: form-data; name="choice"; filename="a.txt"\r\n\r\nleave-all\r\n--b--\r\n',
  ],
] as const)
  test(`links: one-click unsubscribe, ${what}, leaves the topic once in all audiences`, async () => {
    const { url, contacts, topics, changes } = await listed(`one-${what.replaceAll(' ', '-')}@there.example`)
    const changed = []
    for (let again = 0; again < 2; again++) {
      mailhorn.clock.advance(1_000)
      const { status, headers: got } = await visit(url, { method: 'POST', headers, body })
      assert.equal([status, got.location, got['set-cookie']], [200, undefined, undefined])
      changed.push(await changes())
    }
    const left = { unsubscribed: false, topics: [topics[0]] }
    assert.equal(await contacts(), [left, left])
    assert.equal(changed[1], changed[0], 'a second time changes nothing')
  })

test('links: while the service is read-only, leaving is stored, and other changes are refused', async t => {
  const { url, contacts, topics } = await listed('read-only@there.example')
  const switchTo = (mode: string) => mailhorn.call('PUT', '/installation/mode', { session, body: { mode } })
  t.after(() => switchTo('normal'))
  await switchTo('read-only')
  assert.is((await mailhorn.call('POST', '/topics', { session, body: { name: 'x' } })).status, 503)
  assert.is((await visit(url, { method: 'POST', headers: FORM, body: ONE_CLICK })).status, 200)
  const left = { unsubscribed: false, topics: [topics[0]] }
  assert.equal(await contacts(), [left, left])
  const { text } = await visit(url, { method: 'POST', headers: FORM, body: 'choice=leave-all' })
  assert.match(text, /is unsubscribed from all/)
})

test('links: one-click unsubscribe without a topic leaves all lists of the account', async () => {
  const { url, contacts } = await listed('all@there.example', { isAboutTopic: false })
  assert.is((await visit(url, { method: 'POST', headers: FORM, body: ONE_CLICK })).status, 200)
  const left = { unsubscribed: true, topics: [] }
  assert.equal(await contacts(), [left, left])
})

test('links: the page allows leaving everything, choosing topics and subscribing again', async () => {
  const { url, contacts, topics } = await listed('choose@there.example')
  const post = (...fields: [string, string][]) =>
    visit(url, { method: 'POST', headers: FORM, body: `${new URLSearchParams(fields)}` })
  const { text } = await post(['choice', 'leave-all'])
  assert.match(text, /role="status"><strong>choose@there\.example<\/strong> is unsubscribed from all/)
  assert.equal((await contacts())[1], { unsubscribed: true, topics: [] })
  const { text: still } = await post(['choice', 'save'])
  assert.match(still, /is unsubscribed from all.*Without a selection you stay unsubscribed\./s)
  assert.equal((await contacts())[1], { unsubscribed: true, topics: [] })
  await post(['choice', 'save'], ['topic', topics[1]])
  const others = (await contacts())[0]!
  assert.equal(
    [others.unsubscribed, others.topics.includes(topics[0]), others.topics.includes(topics[1])],
    [...[false, true, false]],
  )
  const all = mailhorn.rows<{ id: Buffer }>('select id from topics').length
  assert.is(others.topics.length, all - 1)
  assert.is((await post(['choice', 'maybe'])).status, 422)
  assert.is((await post(['choice', 'save'], ['topic', 'x'])).status, 422)
})

test('links: an unsubscription is taken back by one button', async () => {
  for (const isAboutTopic of [true, false]) {
    const { url, contacts } = await listed(`back-${isAboutTopic}@there.example`, { isAboutTopic })
    const before = await contacts()
    const post = (choice: string) => visit(url, { method: 'POST', headers: FORM, body: `choice=${choice}` })
    for (const leaving of ['leave', 'leave-all']) {
      assert.match((await post(leaving)).text, /is unsubscribed.*value="return"[^>]*>Subscribe again</s)
      assert.not.equal(await contacts(), before)
      assert.match((await post('return')).text, /role="status">You are subscribed again\./)
      assert.equal(await contacts(), before, 'other topics are left as they were')
    }
  }
})

test('links: the page is in the language of the contact, else of the browser, else in English', async () => {
  const { url, audiences } = await listed('lingual@there.example')
  const langOf = async (accepted?: string) => {
    const { headers, text } = await visit(url, {
      headers: accepted === undefined ? {} : { 'accept-language': accepted },
    })
    assert.equal([headers.vary, headers['cache-control']], ['Accept, Accept-Language', 'no-store'])
    const [, lang] = /<html lang="([^"]+)">/.exec(text)!
    assert.is(headers['content-language'], lang)
    return lang
  }
  assert.is(await langOf(), 'en')
  assert.is(await langOf('xx, de-AT;q=0.8, fr;q=0.9'), 'fr')
  const set = (properties: object) =>
    mailhorn.call('PATCH', `/audiences/${audiences[1].id}/contacts/lingual@there.example`, {
      session,
      body: { properties },
    })
  await set({ Locale: 'pt_BR' })
  assert.is(await langOf('de'), 'pt')
  await set({ language: 'xx' })
  assert.is(await langOf('de'), 'pt', 'a language without texts')
  await set({ language: 'ja' })
  assert.is(await langOf('de'), 'ja')
  const { text } = await visit(url, { method: 'POST', headers: FORM, body: ONE_CLICK })
  assert.match(text, /配信を停止しました/)
})

test('links: a broken link is explained in the language of the browser', async () => {
  const headers = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'de' }
  for (const method of ['GET', 'POST']) {
    const { status, text } = await visit(`${LINKS}/u/x`, { method, headers })
    assert.is(status, 404)
    assert.match(text, /<html lang="de">.*Dieser Link funktioniert nicht/s)
  }
})

test('links: a broadcast counts each link, and a mailbox provider can unsubscribe by the header', async () => {
  const make = async (path: string, body: object = {}) =>
    (await mailhorn.call('POST', path, { session, body })).body
  const { id: audience } = await make('/audiences', { name: 'Readers' })
  const readers = ['ok-r1@there.example', 'ok-r2@there.example']
  const PROMO = 'https://promo.example/'
  for (const [email, properties] of [
    [readers[0]!, {}],
    [readers[1]!, { promo: `<a href="${PROMO}">promo</a>` }],
  ] as const)
    await make(`/audiences/${audience}/contacts`, { email, first_name: email[4], properties })
  const { id } = await make('/broadcasts', {
    ...{ audience_id: audience, from: 'ann@here.example', subject: 'News' },
    html: `<html><body><p>{{first_name|x}}{{{promo}}}</p><a href="https://a.example/?who={{first_name}}">a</a>
      <a href="${SHOP.replaceAll('&', '&amp;')}">b</a><a href="{{unsubscribe_url}}">leave</a></body></html>`,
    text: 'News. {{unsubscribe_url}}',
  })
  await make(`/broadcasts/${id}/send`)
  const [first, second] = await Promise.all(
    readers.map(async reader => {
      const { data } = await until(() => mx.messages.find(({ rcptTo }) => rcptTo.includes(reader)))
      const { html, headers } = await PostalMime.parse(data)
      const urls = [...html!.matchAll(/href="([^"]*)"/g)].map(([, url]) => url!)
      const field = headers.find(({ key }) => key === 'list-unsubscribe')!.value
      return { urls, oneClick: /^<([^>]*)>/.exec(field)![1]! }
    }),
  )
  const promo = second!.urls.shift()!
  assert.equal(
    [first!.urls[2], second!.urls[2]],
    [first!.oneClick, second!.oneClick],
    'not counted, and the same',
  )
  await until(
    async () => (await mailhorn.call('GET', `/broadcasts/${id}`, { session })).body.status === 'sent',
  )
  mailhorn.clock.advance(60_000)
  assert.is((await visit(first!.urls[0]!)).headers.location, 'https://a.example/?who=1')
  assert.is((await visit(second!.urls[0]!)).headers.location, 'https://a.example/?who=2')
  for (const { urls } of [first!, first!, second!]) assert.is((await visit(urls[1]!)).headers.location, SHOP)
  mailhorn.clock.advance(4_000) // a third link at once would be a burst
  assert.is((await visit(promo)).headers.location, PROMO)
  await visit(second!.urls[1]!, { headers: { 'user-agent': 'curl/8.5.0' } })
  const links = await until(async () => {
    const { body } = await mailhorn.call('GET', `/broadcasts/${id}/links`, { session })
    const [, shop, last] = body.data
    return shop?.clicks === 3 && shop.machine_clicks === 1 && last ? body : undefined
  })
  const byUrl = links.data.at(-1).number
  assert.ok(byUrl > 65_535, 'no place in what was written')
  assert.equal(links, {
    ...{ object: 'list', total: 3, has_more: false },
    data: [
      {
        ...{ number: 0, url: 'https://a.example/?who={{first_name}}' },
        ...{ clicks: 2, unique_clicks: 2, machine_clicks: 0 },
      },
      { number: 1, url: SHOP, clicks: 3, unique_clicks: 2, machine_clicks: 1 },
      { number: byUrl, url: PROMO, clicks: 1, unique_clicks: 1, machine_clicks: 0 },
    ],
  })
  const { body: followers } = await mailhorn.call('GET', `/broadcasts/${id}/recipients?type=clicked`, {
    session,
  })
  assert.equal(
    followers.data.map(({ email, clicked_links }: { email: string; clicked_links: { url: string }[] }) => [
      email,
      ...clicked_links.map(({ url }) => url),
    ]),
    [
      [readers[1], 'https://a.example/?who=2', SHOP, PROMO],
      [readers[0], 'https://a.example/?who=1', SHOP],
    ],
  )
  const exported = await fetch(`${mailhorn.baseUrl}/broadcasts/${id}/recipients/export?type=clicked`, {
    headers: { authorization: `Bearer ${session}` },
  })
  const [head, ...lines] = (await exported.text()).trimEnd().split('\r\n')
  assert.is(head, 'email,email_id,contact_id,opens,clicks,links,bounce_type,skip_reason,unsubscribed_at')
  assert.equal(
    lines.map(line => [line.split(',')[0], line.split(',')[5]]),
    [
      [readers[1], `https://a.example/?who=2 ${SHOP} ${PROMO}`],
      [readers[0], `https://a.example/?who=1 ${SHOP}`],
    ],
  )
  const provider = { method: 'POST', headers: FORM, body: ONE_CLICK }
  for (let again = 0; again < 2; again++) assert.is((await visit(second!.oneClick, provider)).status, 200)
  assert.is((await visit(first!.oneClick, { ...provider, body: 'choice=save' })).status, 200)
  const { body: broadcast } = await mailhorn.call('GET', `/broadcasts/${id}`, { session })
  const { clicks, unique_clicks, unsubscribes } = broadcast
  assert.equal([clicks, unique_clicks, unsubscribes], [6, 2, 2], 'of everything, and of topics')
  const { body: left } = await mailhorn.call('GET', `/broadcasts/${id}/recipients?type=unsubscribed`, {
    session,
  })
  assert.is(left.total, unsubscribes)
  assert.equal(
    left.data.map(({ email }: { email: string }) => email),
    readers,
    'who used the page, and who used one click',
  )
  const contact = async (email: string) =>
    (await mailhorn.call('GET', `/audiences/${audience}/contacts/${email}`, { session })).body.unsubscribed
  assert.equal(await Promise.all(readers.map(contact)), [false, true])
})

test('links: an email with a topic, sent by the resend package, can be unsubscribed with one click', async () => {
  const reader = 'ok-topical@there.example'
  const { topics, contacts } = await listed(reader)
  const { emails } = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
  const send = async (subject: string) => {
    const mail = { from: 'ann@here.example', to: reader, subject, text: 'News.', topicId: topics[0] }
    const { data, error } = await emails.send(mail)
    assert.is(error, null)
    return data!.id
  }
  const first = await send('Offers of May')
  assert.is((await mailhorn.emailWhen(first, 'delivered')).topic_id, topics[0])
  const { data } = mx.messages.findLast(({ rcptTo }) => rcptTo.includes(reader))!
  const { headers } = await PostalMime.parse(data)
  const field = (name: string) => headers.find(({ key }) => key === name)?.value
  assert.is(field('list-unsubscribe-post'), ONE_CLICK)
  const [, oneClick] = /^<([^>]*)>/.exec(field('list-unsubscribe')!)!
  assert.is((await visit(oneClick!, { method: 'POST', headers: FORM, body: ONE_CLICK })).status, 200)
  assert.equal((await contacts())[0], { unsubscribed: false, topics: [topics[0]] })

  const next = await mailhorn.emailWhen(await send('Offers of June'), 'suppressed')
  const message = 'The recipient has unsubscribed from the topic.'
  assert.equal([next.error, next.topic_id], [message, topics[0]])
  const told = next.events.map(({ type, data }: { type: string; data: Record<string, unknown> }) => ({
    ...{ type, suppressed: data.suppressed, code: (data.explanation as { code: string }).code },
  }))
  assert.equal(told, [
    { type: 'email.suppressed', suppressed: { message, type: 'Suppressed' }, code: 'unsubscribed' },
  ])
})

test('links: unsubscribing works after contact, topic and audience were deleted', async () => {
  const { url, audiences, topics } = await listed('gone@there.example')
  const others = await listed('gone@there.example')
  await mailhorn.call('DELETE', `/topics/${topics[0]}`, { session })
  for (const { id } of audiences) await mailhorn.call('DELETE', `/audiences/${id}`, { session })
  assert.match((await visit(url)).text, /You receive emails from.*Unsubscribe from all/s)
  const left = await visit(url, { method: 'POST', headers: FORM, body: ONE_CLICK })
  assert.match(left.text, /is unsubscribed from all emails of/)
  const stillThere = await others.contacts()
  assert.equal(
    stillThere.map(({ unsubscribed }) => unsubscribed),
    [true, true],
  )
  for (const { id } of others.audiences) await mailhorn.call('DELETE', `/audiences/${id}`, { session })
  assert.match((await visit(url)).text, /is unsubscribed from all emails of/)
  const back = await visit(url, { method: 'POST', headers: FORM, body: `choice=save&topic=${topics[1]}` })
  assert.not.match(back.text, /is unsubscribed from all/)
})

test('links: an oversized form is refused, and a broken form does what the link is for', async () => {
  const { url, contacts, topics } = await listed('broken@there.example')
  const large = await visit(url, { method: 'POST', headers: FORM, body: 'x'.repeat(16 * 1024 + 1) })
  assert.is(large.status, 413)
  assert.equal(await contacts(), [subscribed, subscribed])
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  assert.is((await visit(url, { method: 'POST', headers, body: '--b\r\nnothing' })).status, 200)
  assert.equal((await contacts())[0], { unsubscribed: false, topics: [topics[0]] })
})

test('links: a link still redirects after its email was deleted, and records nothing', async () => {
  const { link, pixel, id } = await sentTo('ok-old@there.example')
  mailhorn.clock.advance(91 * DAY_MS)
  const uuid = Buffer.from(parseWireId('eml', id)!)
  await until(() => mailhorn.rows('select id from emails where id = ?', uuid).length === 0)
  mailhorn.clock.advance(1_000 * DAY_MS)
  const stored = () => ['visits', 'events', 'emails'].map(table => contentsOf(mailhorn)[table])
  const before = stored()
  assert.equal((await visit(link)).headers.location, SHOP)
  assert.is((await visit(pixel)).status, 200)
  mailhorn.clock.advance(1_000)
  assert.equal(stored(), before)
})

test.run()
