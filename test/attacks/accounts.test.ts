import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { until } from '../kit/until.ts'
import { ask, GOOD, goodOf, type Headers, json, statusOf } from './api-client.ts'
import { battery } from './battery.ts'

/**
 * Somebody with an account, or with the browser or the machine of somebody who has one: others' objects,
 * secrets and quotas stay theirs.
 */
const { attack, soak, run } = battery('accounts')

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
  let requests = 0
  for (const path of paths)
    for (const token of [eve.session, eve.apiKey]) {
      const { status, body } = await call('GET', path, { token })
      assert.ok(status === 404 || status === 403 || status === 401, `${path}: ${status}`)
      assert.not.match(JSON.stringify(body), /private/)
      requests += 1
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
    requests += 1
  }
  assert.is((await call('GET', `/templates/${template}`, { token: ann.session })).status, 200)
  note(`${requests} calls, none answered`)
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

soak()
run()
