import { connect } from 'node:net'
import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { buildDashboard } from '../../kit/dashboard.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('the dashboard over HTTP')
let mailhorn: Mailhorn
let cookie: string
test.before(async () => {
  buildDashboard()
  // one limit is off, the others are as shipped
  mailhorn = await startMailhorn({ env: { MAILHORN_FEEDBACK_PAUSE_COMPLAINTS: 'none' } })
  cookie = `mailhorn_session=${openSession(mailhorn, 'cookie')}`
})
test.after(() => mailhorn.close())

const get = (path: string, init: RequestInit = {}) =>
  fetch(mailhorn.baseUrl + path, { redirect: 'manual', ...init })
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' }
const preview = (body: string, headers: Record<string, string>, query = '') =>
  get(`/dashboard/preview${query}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/plain', ...headers },
  })

test('whoever types the address of the service into a browser is led there', async () => {
  const reply = await get('/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
  assert.is(reply.status, 302)
  assert.is(reply.headers.get('location'), '/dashboard/')
})

test('to programs the root stays unknown', async () => {
  const reply = await get('/', { headers: { accept: '*/*' } })
  assert.is(reply.status, 404)
  assert.is(((await reply.json()) as { name: string }).name, 'not_found')
})

test('the page is there with and without the slash, and for every place below', async () => {
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/emails', '/dashboard/domains/dom_1?x=1']) {
    const reply = await get(path)
    assert.is(reply.status, 200, path)
    assert.match(await reply.text(), '<div id="app"></div>')
    assert.match(reply.headers.get('content-security-policy')!, "script-src 'self'")
    assert.is(reply.headers.get('x-frame-options'), 'DENY')
    assert.ok(reply.headers.get('x-request-id'))
  }
})

test('the API reference is a page of its own, under the same policy', async () => {
  const reply = await get('/docs')
  assert.is(reply.status, 200)
  assert.match(await reply.text(), '<title>Mailhorn API reference</title>')
  assert.match(reply.headers.get('content-security-policy')!, "script-src 'self'")
  assert.is((await get('/docs', { method: 'POST' })).status, 405)
  assert.is((await get('/docs/nothing')).status, 404)
})

test('the page needs nobody signed in, and shows nothing of anybody', async () => {
  const [stranger, admin] = await Promise.all([
    get('/dashboard/'),
    get('/dashboard/', { headers: { cookie } }),
  ])
  assert.is(await stranger.text(), await admin.text())
})

test('HEAD answers without the page', async () => {
  const reply = await get('/dashboard/', { method: 'HEAD' })
  assert.is(reply.status, 200)
  assert.is(await reply.text(), '')
})

test('a file that is not there, and a method that is not taken, are answered as everywhere', async () => {
  const lost = await get('/dashboard/assets/gone.js')
  assert.is(lost.status, 404)
  assert.is(((await lost.json()) as { name: string }).name, 'not_found')
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    const reply = await get('/dashboard/emails', { method })
    assert.is(reply.status, 405, method)
    assert.is(reply.headers.get('allow'), 'GET, HEAD')
    assert.is(((await reply.json()) as { name: string }).name, 'method_not_allowed')
  }
})

test('other paths that begin alike stay unknown', async () => {
  assert.is((await get('/dashboards')).status, 404)
})

test('a message is shown as what it says, where it can do nothing', async () => {
  const html = '<p style="color:red">Hi</p><script>alert(1)</script>'
  const reply = await preview(`html=${html}\r\n`, { cookie, ...SAME_ORIGIN })
  assert.is(reply.status, 200)
  assert.is(await reply.text(), html)
  assert.is(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(reply.headers.get('content-security-policy')!, /^sandbox; default-src 'none'/)
  assert.is(reply.headers.get('cache-control'), 'no-store')
  assert.is(reply.headers.get('referrer-policy'), 'no-referrer')
})

test('only a reader who is signed in, on a page of ours, has messages shown', async () => {
  const body = 'html=<p>Hi</p>\r\n'
  assert.is((await preview(body, SAME_ORIGIN)).status, 401)
  assert.is((await preview(body, { authorization: `Bearer ${mailhorn.apiKey}` })).status, 401)
  for (const site of ['cross-site', 'same-site', 'none']) {
    const reply = await preview(body, { cookie, 'sec-fetch-site': site })
    assert.is(reply.status, 403, site)
    assert.is(((await reply.json()) as { name: string }).name, 'security_error')
  }
})

test('what is no form of the dashboard is refused', async () => {
  const reply = await preview('{"html":"<p>"}', { cookie, ...SAME_ORIGIN })
  assert.is(reply.status, 415)
})

test('a message that is too large for a preview is refused', async () => {
  const [host, port] = new URL(mailhorn.baseUrl).host.split(':')
  const socket = connect(Number(port), host)
  const answer = new Promise<string>(resolve => {
    let text = ''
    socket.on('data', chunk => {
      text += chunk
      if (text.includes('\r\n\r\n')) resolve(text)
    })
  })
  socket.on('error', () => {}) // the service closes while there is more to come
  socket.write(
    'POST /dashboard/preview HTTP/1.1\r\nhost: here\r\nsec-fetch-site: same-origin\r\ntransfer-encoding: chunked\r\n' +
      `cookie: ${cookie}\r\n\r\n`,
  )
  const piece = Buffer.alloc(1024 * 1024, 'a')
  for (let i = 0; i < 13; i++) {
    socket.write(`${piece.length.toString(16)}\r\n`)
    socket.write(piece)
    socket.write('\r\n')
  }
  assert.match(await answer, /^HTTP\/1\.1 413 /)
  socket.destroy()
})

test('says what the installation is', async () => {
  const session = await mailhorn.signIn()
  const { status, body } = await mailhorn.call('GET', '/installation', { session })
  assert.is(status, 200)
  assert.is(body.mail_host, 'mailhorn.test')
  assert.is(body.laboratory, true)
  assert.is(body.simulator_domain, 'simulator.test')
  assert.is(body.base_url, mailhorn.baseUrl)
  assert.match(body.version, /^\d+\.\d+\.\d+$/)
  assert.equal(
    body.regions
      .filter(({ feedback }: { feedback: boolean }) => feedback)
      .map(({ name }: { name: string }) => name),
    ['us-west-2'],
  )
  assert.ok(body.plans.includes('scale'))
  assert.equal(body.rate_limits, {
    bounces: { alert: 0.05, hold: 0.1 },
    complaints: { alert: 0.001, hold: null },
  })
})

test('lists where somebody is signed in, and ends what they name', async () => {
  const session = openSession(mailhorn, 'bearer')
  openSession(mailhorn, 'cookie')
  const list = async () => (await mailhorn.call('GET', '/auth/sessions', { session })).body
  const before = await list()
  const current = before.data.filter((one: { current: boolean }) => one.current)
  assert.is(current.length, 1)
  assert.is(current[0].kind, 'bearer')
  const other = before.data.find(
    (one: { current: boolean; kind: string }) => !one.current && one.kind === 'cookie',
  )
  const gone = await mailhorn.call('DELETE', `/auth/sessions/${other.id}`, { session })
  assert.equal(gone.body, { object: 'session', id: other.id, deleted: true })
  assert.is((await list()).total, before.total - 1)
  assert.is((await mailhorn.call('DELETE', `/auth/sessions/${other.id}`, { session })).status, 404)
})

test('a session that has not been used for long is not listed', async () => {
  const session = openSession(mailhorn, 'bearer')
  const { body } = await mailhorn.call('GET', '/auth/sessions', { session })
  mailhorn.change('update sessions set last_seen_at = 1 where id <> (select max(id) from sessions)')
  const { body: after } = await mailhorn.call('GET', '/auth/sessions', { session })
  assert.ok(body.total > 1)
  assert.is(after.total, 1)
})

test.run()
