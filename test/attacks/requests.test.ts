import { createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { exchange } from '../kit/raw-http.ts'
import { ask, GOOD, goodOf, json, statusOf } from './api-client.ts'
import { battery } from './battery.ts'

/** Attacks on the API and the pages: nothing is injected, forged or reached from inside. */
const { attack, soak, run } = battery('requests')

// A line break at the end of an address is trimmed like a blank.
const CONTROLS = ['\r\nBcc: x@there.example', '\nX: y', '\rx', '\0']

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

attack('request smuggling, forged hosts, and paths out of the folder', async ({ field }) => {
  const { baseUrl } = field.program
  const host = 'Host: mailhorn.test\r\n'
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

soak()
run()
