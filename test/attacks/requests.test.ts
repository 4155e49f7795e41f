import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { exchange } from '../kit/raw-http.ts'
import { until } from '../kit/until.ts'
import { battery } from './battery.ts'
import type { Field, Tenant } from './field.ts'

/** What is asked of the API by those who mean harm: one account stays out of another, and nothing is injected, forged or leaked. */
const { attack, run } = battery('requests')

const CONTROLS = ['\r\nBcc: x@there.example', '\nX: y', '\r', '\0']
const GOOD = { to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const goodOf = ({ domain }: Tenant) => ({ ...GOOD, from: `ann@${domain}` })

type Headers = Record<string, string>

/** A request as browsers and other programs make it, with headers that `fetch` does not let one choose. */
function ask(
  { ports }: Field,
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Headers; body?: string | Buffer } = {},
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: ports.http,
      method,
      path,
      agent: false,
      localAddress: '127.80.0.1',
    }
    const asked = request(
      { ...options, headers: { 'content-length': Buffer.byteLength(body), ...headers } },
      reply => {
        let text = ''
        reply.setEncoding('utf8').on('data', piece => {
          text += piece
        })
        reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }))
      },
    )
    asked.on('error', reject).end(body)
  })
}

const json = (token?: string): Headers => ({
  'content-type': 'application/json',
  ...(token !== undefined && { authorization: `Bearer ${token}` }),
})

async function statusOf({ call }: Field, tenant: Tenant, over: object): Promise<number> {
  return (await call('POST', '/emails', { token: tenant.apiKey, body: { ...goodOf(tenant), ...over } }))
    .status
}

attack('header injection', async ({ field, note }) => {
  let refused = 0
  for (const control of CONTROLS)
    for (const over of [
      { from: `Ann${control} <ann@acme.example>` },
      { to: `delivered@simulator.test${control}` },
      { cc: [`x${control}@there.example`] },
      { reply_to: `x@there.example${control}` },
      { subject: `hi${control}` },
      { headers: { 'X-Mine': `a${control}` } },
      { headers: { [`X-Mine${control}`]: 'a' } },
      { attachments: [{ filename: `a${control}.txt`, content: 'YQ==' }] },
      { attachments: [{ filename: 'a', content: 'YQ==', content_type: `text/plain${control}` }] },
    ]) {
      assert.is(await statusOf(field, field.ann, over), 422, JSON.stringify(over))
      refused += 1
    }
  note(`${refused} refused`)
})

attack('addresses that are no mailbox, or more than one', async ({ field }) => {
  for (const to of [
    ...[
      '',
      '@',
      'a@',
      '@b.example',
      'a@b@c.example',
      'a b@there.example',
      'a@there..example',
      'a@-there.example',
    ],
    ...[
      '<a@there.example',
      'a@[127.0.0.1]',
      `${'a'.repeat(65)}@there.example`,
      `a@${'b'.repeat(64)}.example`,
    ],
    ...[
      'a@there.example, b@there.example',
      'a@there.example\u0000',
      'a@there.example\u202e',
      '"a@there.example',
    ],
  ])
    assert.is(await statusOf(field, field.ann, { to }), 422, JSON.stringify(to))
  assert.is(
    await statusOf(field, field.ann, {
      to: Array(51)
        .fill(GOOD.to)
        .map((one, at) => one.replace('@', `+${at}@`)),
    }),
    422,
  )
})

attack('JSON that is too deep, too odd or packed', async ({ field }) => {
  const { apiKey } = field.ann
  for (const [body, expected, more = {}] of [
    ['['.repeat(500_000), 400],
    [`{"a":${'{"a":'.repeat(50_000)}`, 400],
    ['{"__proto__": {"from": "x"}, "to": "x"}', 422],
    ['{"from": 1e999, "to": {}, "subject": [], "text": true}', 422],
    ['null', 422],
    ['"text"', 422],
    [Buffer.from([0xff, 0xfe, 0x7b, 0x7d]), 400],
    ['{}', 415, { 'content-encoding': 'gzip' }],
    ['a=b', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ] as const) {
    const { status, text } = await ask(field, 'POST', '/emails', {
      headers: { ...json(apiKey), ...more },
      body,
    })
    assert.ok(
      status === expected || (expected === 422 && status === 400),
      `${String(body).slice(0, 40)}: ${status} ${text.slice(0, 100)}`,
    )
  }
})

attack('templates that reach for more than their values', async ({ field }) => {
  const { call, ann } = field
  const make = async (html: string) =>
    (await call('POST', '/templates', { token: ann.session, body: { name: 't', subject: 's', html } })).body
      .id
  const id = await make('<p>{{name.constructor}}{{__proto__.x}}{{name|none}}</p>')
  const send = {
    ...goodOf(ann),
    subject: 'from a template',
    text: undefined,
    template_id: id,
    template_data: { name: '<script>' },
  }
  const { status } = await call('POST', '/emails', { token: ann.apiKey, body: send })
  assert.is(status, 422, 'properties that nobody gave are missing values')
  const escaped = await make('<p>{{name}}</p>')
  const { body } = await call('POST', '/emails', {
    token: ann.apiKey,
    body: { ...send, template_id: escaped },
  })
  const email = await call('GET', `/emails/${body.id}`, { token: ann.apiKey })
  assert.match(email.body.html, /&lt;script&gt;/)
})

attack('requests to inside addresses: webhooks and attachments', async ({ field, t, note }) => {
  let connections = 0
  const listener = createServer(socket => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve))
  t.after(() => listener.close())
  const { port } = listener.address() as { port: number }
  const { call, ann, zone } = field
  zone.add('inside.example A 127.0.0.1\nalias.example CNAME inside.example\nprivate.example A 10.0.0.1')
  const urls = [
    ...[
      '127.0.0.1',
      '127.1',
      '0x7f.0.0.1',
      '2130706433',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      '10.0.0.1',
    ],
    ...['169.254.169.254', '[fe80::1]', '[fc00::1]', '192.168.0.1'],
  ].flatMap(host => [`https://${host}:${port}/`, `http://${host}:${port}/`])
  const events = ['email.sent']
  for (const url of [
    ...urls,
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    `https://user:x@127.0.0.1:${port}/`,
  ]) {
    const { status } = await call('POST', '/webhooks', { token: ann.session, body: { url, events } })
    assert.is(status, 422, url)
    const attachments = [{ filename: 'a', path: url }]
    assert.is(await statusOf(field, ann, { attachments }), 422, url)
  }
  for (const name of ['inside', 'alias', 'private']) {
    const body = { url: `https://${name}.example:${port}/`, events }
    const { body: hook } = await call('POST', '/webhooks', { token: ann.session, body })
    await call('POST', `/webhooks/${hook.id}/test`, { token: ann.session })
  }
  assert.is(connections, 0)
  note(`${urls.length} addresses refused, no connection made`)
})

attack('pages and downloads: nothing that strangers wrote runs', async ({ field }) => {
  const { call, ann } = field
  const html = '<script>alert(1)</script><img src=x onerror=alert(1)>'
  const { body } = await call('POST', '/emails', { token: ann.apiKey, body: { ...goodOf(ann), html } })
  const { body: share } = await call('POST', `/emails/${body.id}/share`, { token: ann.session, body: {} })
  const { pathname, search } = new URL(share.url)
  const page = await ask(field, 'GET', pathname + search)
  assert.match(String(page.headers['content-security-policy']), /script-src 'none'|default-src 'none'/)
  assert.not.match(page.text, /<script>alert/)
  const dashboard = await ask(field, 'GET', '/dashboard/')
  assert.not.match(
    String(dashboard.headers['content-security-policy']),
    /unsafe-inline'?[^;]*script|script-src[^;]*unsafe/,
  )
  const reply = await ask(field, 'GET', '/emails', { headers: json(ann.apiKey) })
  assert.is(reply.headers['x-content-type-options'], 'nosniff')
  assert.match(String(reply.headers['cache-control']), /no-store/)
})

attack('forged links, and unsubscribing by looking', async ({ field }) => {
  for (const path of [
    '/u/forged',
    '/c/forged',
    '/o/forged',
    '/s/forged',
    '/downloads?token=forged',
    '/u/..%2f..',
    '/c/a?u=https://evil.example/',
  ])
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(field, method, path)
      assert.ok(
        status === 404 || status === 401 || status === 403 || (path.startsWith('/o/') && status === 200),
        `${method} ${path}: ${status}`,
      )
      assert.is(headers.location, undefined)
    }
  const { status } = await ask(field, 'POST', '/u/forged', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
  assert.is(status, 404)
})

attack('formulas in exports', async ({ field }) => {
  const { ann } = field
  for (const start of ['=', '+', '-', '@', '\t=', '=cmd|', '＝'])
    assert.is(await statusOf(field, ann, { subject: `${start}HYPERLINK("x")`.replace('\t', '') }), 200)
  const { text } = await ask(field, 'GET', '/emails/export', { headers: json(ann.apiKey) })
  assert.ok(text.split('\n').length > 5)
  for (const line of text.split(/\r?\n/)) assert.not.match(line, /(?:^|,)"?[=+@]|(?:^|,)"?-(?!\d)/, line)
})

attack("another account's objects", async ({ field, note }) => {
  const { call, ann, eve } = field
  const make = async (path: string, body: object) =>
    (await call('POST', path, { token: ann.session, body })).body.id as string
  const [email, template, audience] = [
    (await call('POST', '/emails', { token: ann.apiKey, body: goodOf(ann) })).body.id as string,
    await make('/templates', { name: 'private' }),
    await make('/audiences', { name: 'private' }),
  ]
  const webhook = await make('/webhooks', { url: 'https://hooks.invalid/', events: ['email.sent'] })
  const { body: inbox } = await until(async () => {
    const answer = await call('GET', '/inbound?limit=1', { token: ann.apiKey })
    return answer.body.data.length > 0 ? answer : undefined
  })
  const received = inbox.data[0].id
  const paths = [
    ...[`/emails/${email}`, `/emails/${email}/raw`, `/emails/${email}/attachments`, `/templates/${template}`],
    ...[`/audiences/${audience}`, `/audiences/${audience}/contacts`, `/webhooks/${webhook}/deliveries`],
    ...[
      `/domains/${ann.domainId}`,
      `/domains/${ann.domainId}/keys`,
      `/inbound/${received}`,
      `/inbound/${received}/raw`,
    ],
  ]
  let asked = 0
  for (const path of paths)
    for (const token of [eve.session, eve.apiKey]) {
      const { status, body } = await call('GET', path, { token })
      assert.ok(status === 404 || status === 403 || status === 401, `${path}: ${status}`)
      assert.not.match(JSON.stringify(body), /private/)
      asked += 1
    }
  for (const [method, path, body] of [
    ['DELETE', `/templates/${template}`, undefined],
    ['PATCH', `/domains/${ann.domainId}`, { open_tracking: true }],
    ['DELETE', `/domains/${ann.domainId}`, undefined],
    ['POST', `/emails/${email}/cancel`, undefined],
    ['POST', `/emails/${email}/share`, {}],
    ['POST', '/emails', { ...goodOf(eve), template_id: template, text: undefined }],
    ['POST', '/queue/hold', { account_id: 'x' }],
    ['GET', '/doctor', undefined],
    ['GET', '/accounts', undefined],
  ] as const) {
    const { status } = await call(method, path, { token: eve.session, ...(body && { body }) })
    assert.ok(status >= 400 && status < 500, `${method} ${path}: ${status}`)
    asked += 1
  }
  assert.is((await call('GET', `/templates/${template}`, { token: ann.session })).status, 200)
  note(`${asked} calls, none answered`)
})

attack('senders that are not the account’s, and headers that are ours', async ({ field }) => {
  const { eve } = field
  for (const from of [
    'ann@acme.example',
    'ann@sub.eve.example',
    'Ann <ann@acme.example>',
    'ann@there.example',
  ])
    assert.is(await statusOf(field, eve, { from, to: 'x@there.example' }), 403, from)
  for (const name of [
    'From',
    'Sender',
    'Received',
    'DKIM-Signature',
    'Return-Path',
    'Bcc',
    'Content-Type',
    'MIME-Version',
    'Date',
  ])
    assert.is(await statusOf(field, eve, { headers: { [name]: 'x' } }), 422, name)
  assert.is(
    await statusOf(field, eve, { attachments: [{ filename: 'a'.repeat(1_000_000), content: 'YQ==' }] }),
    422,
    'a file name of 1 MB',
  )
})

attack('credentials of every wrong form', async ({ field, note }) => {
  const { apiKey, session } = field.ann
  for (const authorization of [
    ...[
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      `Basic ${apiKey}`,
      `Bearer ${apiKey}x`,
      `Bearer ${apiKey.slice(0, -1)}`,
    ],
    ...[
      `Bearer ${apiKey.toUpperCase()}`,
      `Bearer ${session.slice(0, -1)}`,
      `Bearer ${apiKey} ${apiKey}`,
      'Bearer null',
    ],
  ]) {
    const { status } = await ask(field, 'GET', '/emails', { headers: authorization ? { authorization } : {} })
    assert.is(status, 401, authorization)
  }
  assert.is((await ask(field, 'GET', `/emails?api_key=${apiKey}&token=${apiKey}`)).status, 401)
  const secrets = [apiKey, session, field.ann.login.password, field.eve.apiKey]
  for (const name of readdirSync(field.dataDir)) {
    const file = join(field.dataDir, name)
    if (!statSync(file).isFile()) continue
    const bytes = readFileSync(file)
    for (const secret of secrets) assert.not(bytes.includes(secret), `a secret in ${name}`)
  }
  const logs = field.program.output
    .replace(/[\s\S]*?(?=^\{)/m, '')
    .split('\n')
    .filter(line => line.startsWith('{'))
  for (const secret of secrets)
    assert.not(
      logs.some(line => line.includes(secret)),
      'a secret in the log',
    )
  note('no secret in the log or the data')
})

attack('files of mail are for the owner of the service alone', async ({ field }) => {
  for (const name of readdirSync(field.dataDir, { recursive: true }) as string[]) {
    const { mode } = statSync(join(field.dataDir, name))
    assert.is(mode & 0o077, 0, `${name}: ${(mode & 0o777).toString(8)}`)
  }
})

attack('requests that browsers make for other sites', async ({ field }) => {
  const login = JSON.stringify(field.ann.login)
  const own = { ...json(), 'sec-fetch-site': 'same-origin' }
  const signedIn = await ask(field, 'POST', '/auth/login', { headers: own, body: login })
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
  assert.match(String(signedIn.headers['set-cookie']), /HttpOnly.*SameSite=Lax|SameSite=Lax.*HttpOnly/i)
  const body = JSON.stringify({ name: 'forged' })
  for (const foreign of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://127.0.0.1.evil.example` },
  ] as Headers[]) {
    const { status, headers } = await ask(field, 'POST', '/templates', {
      headers: { ...json(), cookie, ...foreign },
      body,
    })
    assert.ok(status === 403 || status === 401, `${JSON.stringify(foreign)}: ${status}`)
    assert.is(headers['access-control-allow-origin'], undefined)
  }
})

attack('queries of every wrong form', async ({ field }) => {
  for (const query of [
    ...[
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=1e9',
      'offset=-1',
      'offset=1e99',
      'after=x',
      'before=%00',
      'q=%00',
    ],
    ...[
      'q=%25%25%25',
      "q=';drop table emails;--",
      'status=x',
      'status[]=queued',
      'created_after=never',
      `q=${'a'.repeat(8_000)}`,
    ],
    ...['%', '%zz=1', 'limit=1&limit=2', '__proto__=1', 'tag=:::'],
  ]) {
    const { status, text } = await ask(field, 'GET', `/emails?${query.replaceAll(' ', '%20')}`, {
      headers: json(field.ann.apiKey),
    })
    assert.ok(status < 500, `${query}: ${status} ${text}`)
  }
})

attack('one idempotency key, 40 times at once', async ({ field }) => {
  const headers = { ...json(field.ann.apiKey), 'idempotency-key': `once-${Math.random()}` }
  const body = JSON.stringify(goodOf(field.ann))
  const replies = await Promise.all(
    Array.from({ length: 40 }, () => ask(field, 'POST', '/emails', { headers, body })),
  )
  const ids = new Set(replies.filter(({ status }) => status === 200).map(({ text }) => text))
  assert.is(ids.size, 1, JSON.stringify([...ids]))
  assert.not(replies.some(({ status }) => status !== 200 && status !== 409))
})

attack('a quota that is raced for', async ({ field, note }) => {
  const { call, ann } = field
  const account = { name: 'Small', owner_email: `small${Math.random()}@eve.example`, plan: 'free' }
  const { body: made } = await call('POST', '/accounts', { token: ann.session, body: account })
  const login = { email: account.owner_email, password: made.password }
  const { body: session } = await call('POST', '/auth/login', { body: login })
  const send = (count: number) => {
    const to = Array.from({ length: count }, (_, at) => `delivered+${at}@simulator.test`)
    return call('POST', '/emails', { token: session.token, body: { ...GOOD, from: 'a@small.example', to } })
  }
  assert.is((await send(50)).status, 200)
  assert.is((await send(45)).status, 200)
  const statuses = (await Promise.all(Array.from({ length: 60 }, () => send(1)))).map(({ status }) => status)
  assert.is(statuses.filter(status => status === 200).length, 5)
  note('exactly 5 of 60 were within the quota')
})

attack('scheduled times that are none, and cancel against send', async ({ field }) => {
  const { call, ann } = field
  for (const scheduled_at of [
    'never',
    '2020-01-01T00:00:00Z',
    '2999-01-01T00:00:00Z',
    '2027-02-30T00:00:00Z',
    '2027-01-01T00:00:00',
    1e18,
    {},
  ])
    assert.is(await statusOf(field, ann, { scheduled_at }), 422, JSON.stringify(scheduled_at))
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const scheduled_at = new Date(Date.now() + 1_500).toISOString()
      return (await call('POST', '/emails', { token: ann.apiKey, body: { ...goodOf(ann), scheduled_at } }))
        .body.id as string
    }),
  )
  await new Promise(resolve => setTimeout(resolve, 1_200))
  const canceled = await Promise.all(
    ids.map(async (id, at) => {
      await new Promise(resolve => setTimeout(resolve, at * 40))
      return (await call('POST', `/emails/${id}/cancel`, { token: ann.apiKey })).status === 200
    }),
  )
  for (const [at, id] of ids.entries()) {
    const status = await until(async () => {
      const { body } = await call('GET', `/emails/${id}`, { token: ann.apiKey })
      return ['canceled', 'delivered'].includes(body.status) ? (body.status as string) : undefined
    })
    assert.is(status, canceled[at] ? 'canceled' : 'delivered')
  }
})

attack('request smuggling, forged hosts, and paths out of the folder', async ({ field }) => {
  const { baseUrl } = field.program
  const host = 'Host: posthorn.test\r\n'
  for (const bytes of [
    `POST /auth/login HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST /auth/login HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
    `POST /auth/login HTTP/1.1\r\n${host}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    `POST /auth/login HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    `GET /healthz HTTP/1.1\n${host}\n\n`,
    `GET /healthz HTTP/1.1\r\n${host}X: a\r\n b\0c\r\n\r\n`,
    `GET /healthz HTTP/1.1\r\n${host}Host: evil.example\r\n\r\n`,
  ]) {
    const { replies } = await exchange(baseUrl, bytes)
    assert.ok(replies.length <= 1, bytes)
    assert.ok(
      replies.every(({ status }) => status >= 400 && status < 500),
      `${bytes}: ${replies.map(({ status }) => status)}`,
    )
  }
  const { body } = await field.call('POST', '/emails', { token: field.ann.apiKey, body: goodOf(field.ann) })
  const share = await ask(field, 'POST', `/emails/${body.id}/share`, {
    headers: { ...json(field.ann.session), host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    body: '{}',
  })
  assert.not.match(share.text, /evil/)
  for (const path of [
    '/dashboard/..%2f..%2fpackage.json',
    '/dashboard/%2e%2e/%2e%2e/data/secret.key',
    '/.git/config',
    '/.env',
    '/dashboard/../secret.key',
    '//etc/passwd',
  ]) {
    const { text } = await ask(field, 'GET', path)
    assert.not.match(text, /"dependencies"|root:|repositoryformat/, path)
  }
})

attack('claims on one domain by two accounts', async ({ field }) => {
  const { call, ann, eve, zone } = field
  const claim = async (token: string) =>
    (await call('POST', '/domains', { token, body: { name: 'contested.example' } })).body
  const [first, second] = [await claim(ann.session), await claim(eve.session)]
  const ownershipOf = (domain: { records: { type: string; value: string }[] }) =>
    domain.records.find(({ type }) => type === 'TXT')!.value
  assert.is.not(ownershipOf(first), ownershipOf(second))
  for (const { type, host, value } of first.records)
    if (type !== 'MX') zone.add(`${host} ${type} ${type === 'TXT' ? `"${value}"` : value}`)
  const verified = async (token: string, id: string) =>
    (await call('POST', `/domains/${id}/verify`, { token })).body.status
  assert.is.not(await verified(eve.session, second.id), 'verified')
  assert.is(await verified(ann.session, first.id), 'verified')
})

run()
