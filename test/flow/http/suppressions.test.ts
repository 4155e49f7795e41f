import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('suppressions')
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
const INVALID = { status: 422, name: 'validation_error' }
const MAIL = { from: 'ann@here.example', to: 'ok@there.example', subject: 'x', text: 'x' }

let mx: FakeMx
let mailhorn: Mailhorn
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

/** An account with nothing on its list. */
let accounts = 0
function fresh() {
  const account = addAccount(mailhorn, `account-${++accounts}`)
  const call = (method: string, path: string, options: CallOptions = {}) =>
    mailhorn.call(method, path, { key: account.apiKey, ...options })
  const add = async (email: string, more = {}) =>
    (await call('POST', '/suppressions', { body: { email, ...more } })).body
  const list = async (query = '') => (await call('GET', `/suppressions${query}`)).body
  const emails = async (query = '') =>
    (await list(query)).data.map(({ email }: { email: string }) => email) as string[]
  return { ...account, call, add, list, emails }
}

test('an entry is added with an API key or a session', async () => {
  const { call, session } = fresh()
  const { status, body } = await call('POST', '/suppressions', { body: { email: 'Bob@There.Example' } })
  assert.is(status, 201)
  assert.match(body.id, /^sup_[0-9a-f-]{36}$/)
  const { id, created_at: createdAt, ...rest } = body
  assert.equal(rest, {
    object: 'suppression',
    email: 'bob@there.example',
    reason: 'manual',
    origin: 'manual',
    source_id: null,
  })
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const body2 = { email: 'eve@there.example', reason: 'complaint' }
  const bySession = await mailhorn.call('POST', '/suppressions', { session, body: body2 })
  assert.equal(
    [bySession.status, bySession.body.reason, bySession.body.origin],
    [201, 'complaint', 'complaint'],
  )
})

test('adding an existing entry returns it', async () => {
  const { call, add, list } = fresh()
  const first = await add('bob@there.example', { reason: 'bounce' })
  const again = await call('POST', '/suppressions', { body: { email: 'BOB@there.example' } })
  assert.equal([again.status, again.body], [200, first])
  assert.is((await list()).total, 1)
})

test('addresses are normalized: international domains and unnecessary quotes', async () => {
  const { add } = fresh()
  assert.is((await add(' Ärger@MÜNCHEN.example ')).email, 'ärger@xn--mnchen-3ya.example')
  assert.is((await add('"john.doe"@there.example')).email, 'john.doe@there.example')
})

for (const [what, body, path, name = 'validation_error'] of [
  ['no address', {}, 'email', 'missing_required_field'],
  ['an empty one', { email: '' }, 'email', 'missing_required_field'],
  ['a number', { email: 7 }, 'email'],
  ['no at sign', { email: 'bob' }, 'email'],
  ['a display name', { email: 'Bob <bob@there.example>' }, 'email'],
  ['two addresses', { email: 'a@there.example,b@there.example' }, 'email'],
  ['a line break', { email: 'a@there.example\r\nb' }, 'email'],
  ['a pattern for a domain', { email: '*@bad.example' }, 'email'],
  ['a pattern for addresses', { email: 'sales-*@bad.example' }, 'email'],
  ['a quoted pattern', { email: '"*"@bad.example' }, 'email'],
  ['a pattern of SQL', { email: '%@bad.example' }, 'email'],
  ['a pattern for subdomains', { email: 'bob@*.bad.example' }, 'email'],
  ['a pattern of one character', { email: '?@bad.example' }, 'email'],
  ['a pattern of two characters', { email: '"??"@bad.example' }, 'email'],
  ['a domain alone', { email: '@bad.example' }, 'email'],
  ['a domain with subdomains', { email: '*.bad.example' }, 'email'],
  ['an unknown reason', { email: 'bob@there.example', reason: 'spite' }, 'reason'],
  [
    'a reason and another origin',
    { email: 'bob@there.example', reason: 'bounce', origin: 'complaint' },
    'origin',
  ],
  ['a reason of another type', { email: 'bob@there.example', reason: {} }, 'reason'],
] as const)
  test(`an entry with ${what} is refused`, () =>
    refuses(mailhorn, ['POST', '/suppressions', { key: mailhorn.apiKey, body }], { status: 422, name, path }))

for (const email of ['*@bad.example', '?@bad.example', '"%"@bad.example', '@bad.example', '*.bad.example'])
  test(`the error for ${email} says that an entry is one address`, async () => {
    const { body } = await mailhorn.call('POST', '/suppressions', { key: mailhorn.apiKey, body: { email } })
    assert.match(body.message, 'takes no wildcards and does not cover a domain')
  })

test('the list is newest first, with a total and pages', async () => {
  const { add, list, emails } = fresh()
  for (let i = 0; i < 25; i++) await add(`u${i}@there.example`)
  const first = await list()
  assert.equal([first.object, first.total, first.has_more, first.data.length], ['list', 25, true, 20])
  assert.is(first.data[0].email, 'u24@there.example')
  assert.equal(await emails('?limit=2&offset=20'), ['u4@there.example', 'u3@there.example'])
  const last = await list('?offset=20')
  assert.equal([last.total, last.has_more, last.data.length], [25, false, 5])
  assert.equal(await emails('?offset=25'), [])
})

test('cursors of the SDKs page forward and back', async () => {
  const { add, list } = fresh()
  for (let i = 0; i < 7; i++) await add(`u${i}@there.example`)
  const names = ({ data }: { data: { email: string }[] }) =>
    data.map(({ email }) => email.slice(0, 2)).join(' ')
  const one = await list('?limit=3')
  const two = await list(`?limit=3&after=${one.data[2].id}`)
  const three = await list(`?limit=3&after=${two.data[2].id}`)
  assert.equal([names(one), names(two), names(three)], ['u6 u5 u4', 'u3 u2 u1', 'u0'])
  assert.equal([two.has_more, two.total, three.has_more], [true, 7, false])
  const back = await list(`?limit=3&before=${three.data[0].id}`)
  assert.equal([names(back), back.has_more], ['u3 u2 u1', true])
  assert.equal(names(await list(`?limit=3&before=${back.data[0].id.slice(4)}`)), 'u6 u5 u4')
})

test('search matches a part of the address literally in any case', async () => {
  const { add, list, emails } = fresh()
  for (const email of [
    'b@bücher.example',
    'a_b@there.example',
    'axb@there.example',
    '50%off@there.example',
    'éa@there.example',
  ])
    await add(email)
  for (const [q, found] of [
    ['A_B', ['a_b@there.example']],
    ['%', ['50%off@there.example']],
    ['!', []],
    ['É', ['éa@there.example']],
    ['e\u0301a', ['éa@there.example']],
    ['xb@', ['axb@there.example']],
    ['b@BÜCHER.example', ['b@xn--bcher-kva.example']],
    ['@bücher', ['b@xn--bcher-kva.example']],
    ["' or 1=1", []],
    ['\\', []],
    ['x'.repeat(10_000), []],
  ] as const)
    assert.equal(await emails(`?q=${encodeURIComponent(q)}`), found, q.slice(0, 20))
  const all = await list('?q=there&limit=2')
  assert.equal([all.total, all.has_more, all.data.length], [4, true, 2])
})

test('the list is filtered by origin or reason', async () => {
  const { add, list, emails } = fresh()
  await add('a@there.example')
  await add('b@there.example', { reason: 'bounce' })
  await add('c@there.example', { origin: 'complaint' })
  assert.equal(await emails('?origin=bounce'), ['b@there.example'])
  assert.equal(await emails('?reason=complaint'), ['c@there.example'])
  assert.equal(await emails('?origin=bounce&q=a@'), [])
  assert.is((await list('?origin=manual')).total, 1)
})

for (const [query, path] of [
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=x', 'limit'],
  ['offset=-1', 'offset'],
  ['q=a%00b', 'q'],
  ['origin=spite', 'origin'],
  ['after=x', 'after'],
  ['before=eml_01990000-0000-7000-8000-000000000000', 'before'],
  ['after=01990000-0000-7000-8000-000000000000&offset=0', 'after'],
] as const)
  test(`the list with ${query} is refused`, () =>
    refuses(mailhorn, ['GET', `/suppressions?${query}`, { key: mailhorn.apiKey }], { ...INVALID, path }))

test('an entry is read and removed by id, bare id or address in any case', async () => {
  const { call, add } = fresh()
  for (const spell of [
    ({ id }: { id: string }) => id,
    ({ id }: { id: string }) => id.slice(4),
    () => encodeURIComponent('BOB/Smith@There.example'),
  ]) {
    const one = await add('bob/smith@there.example')
    const id = spell(one)
    const { status, body } = await call('GET', `/suppressions/${id}`)
    assert.equal([status, body], [200, one])
    const removed = await call('DELETE', `/suppressions/${id}`)
    assert.equal([removed.status, removed.body], [200, { object: 'suppression', id: one.id, deleted: true }])
    assertRefusal(await call('GET', `/suppressions/${id}`), { status: 404, name: 'not_found' })
    assertRefusal(await call('DELETE', `/suppressions/${id}`), { status: 404, name: 'not_found' })
  }
})

test('a batch of additions is answered in order', async () => {
  const { call, add, list } = fresh()
  const old = await add('old@there.example', { reason: 'bounce' })
  const body = { emails: ['new@there.example', 'OLD@there.example', 'new@there.example'] }
  const { status, body: answer } = await call('POST', '/suppressions/batch/add', { body })
  assert.is(status, 200)
  assert.equal(answer.data[1], old)
  assert.equal(answer.data[0], answer.data[2])
  assert.equal([answer.data[0].email, answer.data[0].reason], ['new@there.example', 'manual'])
  assert.is((await list()).total, 2)
})

test('a batch with invalid addresses is refused with all of them named', async () => {
  const { apiKey } = fresh()
  const body = { emails: ['good@there.example', 'bad', 'also bad@there.example'] }
  const { body: answer } = await refuses(
    mailhorn,
    ['POST', '/suppressions/batch/add', { key: apiKey, body }],
    { ...INVALID, path: 'emails[1]' },
  )
  assert.equal(
    answer.errors.map(({ path }: { path: string }) => path),
    ['emails[1]', 'emails[2]'],
  )
})

for (const [what, path, body, name = 'validation_error'] of [
  ['nothing', 'emails', {}, 'missing_required_field'],
  ['an empty list', 'emails', { emails: [] }, 'missing_required_field'],
  ['a text', 'emails', { emails: 'a@there.example' }],
  ['a number in it', 'emails[1]', { emails: ['a@there.example', 1] }],
  ['a pattern', 'emails[1]', { emails: ['a@there.example', '*@bad.example'] }],
  ['101 addresses', 'emails', { emails: Array.from({ length: 101 }, (_, i) => `u${i}@there.example`) }],
] as const)
  test(`a batch of additions with ${what} is refused`, () =>
    refuses(mailhorn, ['POST', '/suppressions/batch/add', { key: mailhorn.apiKey, body }], {
      status: 422,
      name,
      path,
    }))

test('a batch of removals takes addresses or ids and reports missing entries', async () => {
  const { call, add, list } = fresh()
  const [a, b, c] = [await add('a@there.example'), await add('b@there.example'), await add('c@there.example')]
  const emails = ['A@there.example', 'nobody@there.example', 'no address']
  const byEmail = await call('POST', '/suppressions/batch/remove', { body: { emails } })
  assert.equal(byEmail.body.data, [
    { object: 'suppression', id: a.id, deleted: true },
    { object: 'suppression', id: 'nobody@there.example', deleted: false },
    { object: 'suppression', id: 'no address', deleted: false },
  ])
  const ids = [b.id, b.id, c.id.slice(4)]
  const byId = await call('POST', '/suppressions/batch/remove', { body: { ids } })
  assert.equal(
    byId.body.data.map(({ deleted }: { deleted: boolean }) => deleted),
    [true, false, true],
  )
  assert.is((await list()).total, 0)
})

for (const [what, body] of [
  ['neither', {}],
  ['both', { emails: ['a@there.example'], ids: ['x'] }],
] as const)
  test(`a batch of removals with ${what} of addresses and ids is refused`, async () => {
    const call = ['POST', '/suppressions/batch/remove', { key: mailhorn.apiKey, body }] as const
    const name = what === 'neither' ? 'missing_required_field' : 'validation_error'
    await refuses(mailhorn, [...call], { status: 422, name, says: /`emails`.*`ids`/ })
  })

test('entries of another account are neither visible nor removable', async () => {
  const [one, two] = [fresh(), fresh()]
  const entry = await one.add('bob@there.example')
  assert.is((await two.list()).total, 0)
  for (const id of [entry.id, 'bob@there.example']) {
    assertRefusal(await two.call('GET', `/suppressions/${id}`), { status: 404, name: 'not_found' })
    assertRefusal(await two.call('DELETE', `/suppressions/${id}`), { status: 404, name: 'not_found' })
  }
  const body = { ids: [entry.id] }
  const { body: answer } = await two.call('POST', '/suppressions/batch/remove', { body })
  assert.is(answer.data[0].deleted, false)
  assert.is((await one.list()).total, 1)
})

test('a suppressed address gets no mail until it is removed', async () => {
  const key = mailhorn.apiKey
  const to = 'ok-removed@there.example'
  await mailhorn.call('POST', '/suppressions', { key, body: { email: 'OK-removed@there.example' } })
  await mailhorn.emailWhen(await mailhorn.send({ ...MAIL, to }), 'suppressed')
  await mailhorn.call('DELETE', `/suppressions/${to}`, { key })
  await mailhorn.emailWhen(await mailhorn.send({ ...MAIL, to }), 'delivered')
})

test('a hard bounce adds an entry with its email', async () => {
  const to = 'perm-550-511@there.example'
  const id = await mailhorn.send({ ...MAIL, to })
  await mailhorn.emailWhen(id, 'bounced')
  const { body } = await mailhorn.call('GET', `/suppressions/${to}`, { key: mailhorn.apiKey })
  assert.equal([body.email, body.reason, body.origin, body.source_id], [to, 'bounce', 'bounce', id])
})

test('the resend package can use all routes', async () => {
  const { apiKey } = fresh()
  const { suppressions } = new Resend(apiKey, { baseUrl: mailhorn.baseUrl })
  const added = await suppressions.add({ email: 'a@there.example' })
  const many = await suppressions.batch.add({ emails: ['b@there.example', 'c@there.example'] })
  const page = await suppressions.list({ limit: 2, origin: 'manual' })
  const next = await suppressions.list({ limit: 2, after: page.data!.data[1]!.id })
  const one = await suppressions.get('a@there.example')
  const removed = await suppressions.remove(added.data!.id)
  const rest = await suppressions.batch.remove({ emails: ['b@there.example', 'c@there.example'] })
  for (const { error } of [added, many, page, next, one, removed, rest]) assert.is(error, null)
  assert.equal([page.data!.has_more, next.data!.data.map(({ email }) => email)], [true, ['a@there.example']])
  assert.equal([one.data!.id, one.data!.origin, one.data!.source_id], [added.data!.id, 'manual', null])
  assert.equal(
    rest.data!.data.map(({ id, deleted }) => [id, deleted]),
    many.data!.data.map(({ id }) => [id, true]),
  )
})

test.run()
