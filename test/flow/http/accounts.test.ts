import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('accounts')
const FORBIDDEN = { status: 403, name: 'invalid_access' }
const NOT_FOUND = { status: 404, name: 'not_found' }
const NEW = { name: 'Shop', plan: 'free', owner_email: 'Owner@Shop.Example' }

let mailhorn: Mailhorn
let session = ''
let made = 0
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

/** An account on the smallest plan, with a session of its owner. */
async function account() {
  const { session: owner } = addAccount(mailhorn, `account-${++made}`)
  const { body } = await mailhorn.call('GET', '/account', { session: owner })
  const change = { session, body: { plan: 'free' } }
  const { body: view } = await mailhorn.call('PATCH', `/accounts/${body.id}`, change)
  return { ...view, session: owner }
}

/** An account made by the operator, with its owner signed in. */
async function signedInAccount(over = {}) {
  const body = { ...NEW, owner_email: `owner${++made}@shop.example`, ...over }
  const { body: view } = await mailhorn.call('POST', '/accounts', { session, body })
  const login = { email: view.owner_email, password: view.password }
  const { body: signedIn } = await mailhorn.call('POST', '/auth/login', { body: login })
  return { ...view, session: signedIn.token }
}

test('an operator makes an account; its owner signs in with the password shown once', async () => {
  const { status, body } = await mailhorn.call('POST', '/accounts', { session, body: NEW })
  const { id, password, created_at: createdAt, ...rest } = body
  assert.equal(
    [status, rest],
    [
      201,
      {
        ...{ object: 'account', name: 'Shop', plan: 'free', owner_email: 'owner@shop.example' },
        ...{ suspended_at: null, paused: null },
      },
    ],
  )
  assert.match(id, /^acc_[0-9a-f-]{36}$/)
  assert.match(createdAt, /^\d{4}-.*Z$/)
  const login = { email: 'OWNER@shop.example', password }
  const signedIn = await mailhorn.call('POST', '/auth/login', { body: login })
  assert.equal([signedIn.status, signedIn.body.account.id, signedIn.body.user.operator], [200, id, false])
  const { body: shown } = await mailhorn.call('GET', `/accounts/${id}`, { session })
  assert.not('password' in shown)
})

test('a new account is on the plan for new accounts unless it is told', async () => {
  const { plan } = await signedInAccount({ plan: null })
  assert.is(plan, 'scale')
})

for (const [what, change, path, name = 'validation_error'] of [
  ['no name', { name: '' }, 'name', 'missing_required_field'],
  ['a long name', { name: 'x'.repeat(101) }, 'name'],
  ['a name of control characters', { name: 'a\nb' }, 'name'],
  ['an unknown plan', { plan: 'gold' }, 'plan'],
  ['a plan of the prototype', { plan: 'constructor' }, 'plan'],
  ['no owner', { owner_email: null }, 'owner_email', 'missing_required_field'],
  ['an owner who is no address', { owner_email: 'owner' }, 'owner_email'],
  ['an owner who signs in elsewhere', { owner_email: 'Admin@mailhorn.test' }, 'owner_email'],
] as const) {
  test(`none is made with ${what}`, () =>
    refuses(mailhorn, ['POST', '/accounts', { session, body: { ...NEW, ...change } }], {
      status: 422,
      name,
      path,
    }))
  if (name === 'missing_required_field') continue
  test(`none is changed to ${what}`, async () => {
    const { id } = await account()
    const { body: before } = await mailhorn.call('GET', `/accounts/${id}`, { session })
    const body = { name: 'Other', ...change }
    await refuses(mailhorn, ['PATCH', `/accounts/${id}`, { session, body }], { status: 422, name, path })
    assert.equal((await mailhorn.call('GET', `/accounts/${id}`, { session })).body, before)
  })
}

test('two who ask for one address at once: one gets it', async () => {
  const body = { ...NEW, owner_email: 'race@shop.example' }
  const answers = await Promise.all([1, 2].map(() => mailhorn.call('POST', '/accounts', { session, body })))
  assert.equal(answers.map(({ status }) => status).sort(), [201, 422])
})

test('an operator lists all accounts, newest first', async () => {
  const newest = await signedInAccount({ name: 'Newest' })
  const { body } = await mailhorn.call('GET', '/accounts?limit=1', { session })
  assert.equal([body.object, body.has_more, body.data[0].id], ['list', true, newest.id])
  assert.is(body.total, mailhorn.rows('select id from accounts').length)
  const { body: last } = await mailhorn.call('GET', `/accounts?offset=${body.total - 1}`, { session })
  assert.equal(
    [last.data[0].name, last.data[0].owner_email, last.has_more],
    ['Main', 'admin@mailhorn.test', false],
  )
})

test('an operator changes name, plan and owner, each by itself', async () => {
  const { id, password, ...before } = await signedInAccount()
  const patch = async (body: object) =>
    (await mailhorn.call('PATCH', `/accounts/${id}`, { session, body })).body
  const { session: _, ...view } = { ...before, id }
  assert.equal(await patch({}), view)
  assert.equal(await patch({ name: 'Renamed' }), { ...view, name: 'Renamed' })
  assert.equal(await patch({ plan: 'pro' }), { ...view, name: 'Renamed', plan: 'pro' })
  const moved = await patch({ owner_email: `moved-${before.owner_email}` })
  assert.is(moved.owner_email, `moved-${before.owner_email}`)
  const signIn = (email: string) => mailhorn.call('POST', '/auth/login', { body: { email, password } })
  assert.is((await signIn(moved.owner_email)).status, 200)
  assert.is((await signIn(before.owner_email)).status, 401)
  assert.is((await patch({ owner_email: moved.owner_email })).owner_email, moved.owner_email)
})

test('new email of a suspended account is refused until it is resumed; others are not concerned', async () => {
  const one = await signedInAccount()
  const two = await signedInAccount()
  const email = { from: 'a@there.example', to: 'delivered@simulator.test', subject: 'Hi', text: 'Hi' }
  const send = (from: { session: string }, path = '/emails', body: unknown = email) =>
    mailhorn.call('POST', path, { session: from.session, body })
  const set = async (suspended: unknown) =>
    mailhorn.call('PATCH', `/accounts/${one.id}`, { session, body: { suspended } })
  const before = await send(one)
  const { body: suspended } = await set(true)
  assert.match(suspended.suspended_at, /^\d{4}-.*Z$/)
  assert.is((await set(true)).body.suspended_at, suspended.suspended_at)
  for (const refused of [await send(one), await send(one, '/emails/batch', [email])]) {
    assert.equal([refused.status, refused.body.name], [403, 'invalid_access'])
    assert.match(refused.body.message, /The account is suspended/)
  }
  assert.equal((await send(two)).status, before.status)
  const { body: seen } = await mailhorn.call('GET', '/account', { session: one.session })
  assert.is(seen.suspended_at, suspended.suspended_at)
  assertRefusal(await set('yes'), { status: 422, name: 'validation_error', path: 'suspended' })
  assert.is((await set(false)).body.suspended_at, null)
  assert.equal((await send(one)).status, before.status)
})

test('an operator gives an owner a new password; the old one and all sessions end', async () => {
  const one = await signedInAccount()
  const { status, body } = await mailhorn.call('POST', `/accounts/${one.id}/reset-password`, { session })
  assert.equal([status, body.id, body.owner_email], [200, one.id, one.owner_email])
  const signIn = (password: string) =>
    mailhorn.call('POST', '/auth/login', { body: { email: one.owner_email, password } })
  assert.equal([(await signIn(one.password)).status, (await signIn(body.password)).status], [401, 200])
  assertRefusal(await mailhorn.call('GET', '/account', { session: one.session }), {
    status: 401,
    name: 'missing_api_key',
  })
})

test('everybody else sees one account and steers none', async () => {
  const one = await account()
  const other = await account()
  const call = (method: string, path: string, body?: object) =>
    refuses.bind(null, mailhorn, [method, path, { session: one.session, ...(body ? { body } : {}) }])
  await call('POST', '/accounts', NEW)(FORBIDDEN)
  await call('GET', '/accounts')(FORBIDDEN)
  await call('GET', `/accounts/${other.id}`)(NOT_FOUND)
  await call('PATCH', `/accounts/${other.id}`, { plan: 'scale' })(NOT_FOUND)
  await call('PATCH', `/accounts/${one.id}`, { plan: 'scale' })(FORBIDDEN)
  await call('POST', `/accounts/${one.id}/reset-password`)(FORBIDDEN)
  for (const path of ['/account', `/accounts/${one.id}`]) {
    const { body } = await mailhorn.call('GET', path, { session: one.session })
    const { id, name, plan, owner_email: ownerEmail } = body
    assert.equal([id, name, plan, ownerEmail], [one.id, one.name, 'free', one.owner_email])
  }
})

test('unknown accounts are not found', async () => {
  const path = '/accounts/acc_01990000-0000-7000-8000-000000000000'
  for (const [method, at] of [
    ['GET', path],
    ['PATCH', path],
    ['POST', `${path}/reset-password`],
    ['GET', '/accounts/x'],
  ] as const)
    await refuses(mailhorn, [method, at, { session }], NOT_FOUND)
})

const MAIL = { from: 'a@b.example', to: 'delivered@simulator.test', subject: 'x', text: 'x' }

test('use of the plan is told for the UTC day and month', async () => {
  const { session: owner } = await account()
  const usage = async () => (await mailhorn.call('GET', '/account/usage', { session: owner })).body
  const to = ['delivered+1@simulator.test', 'delivered+2@simulator.test']
  await mailhorn.call('POST', '/emails', { session: owner, body: { ...MAIL, to } })
  const now = new Date(mailhorn.clock.now())
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  assert.equal(await usage(), {
    object: 'usage',
    plan: 'free',
    retention_days: 7,
    emails: {
      daily: {
        used: 2,
        limit: 100,
        remaining: 98,
        resets_at: new Date(Date.UTC(year, month, day + 1)).toISOString(),
      },
      monthly: {
        used: 2,
        limit: 3_000,
        remaining: 2_998,
        resets_at: new Date(Date.UTC(year, month + 1)).toISOString(),
      },
    },
  })
})

test('of a hundred requests at once just as many are taken as the plan has left, and none too many', async () => {
  const { session: owner } = await account()
  const to = (count: number) => Array.from({ length: count }, (_, i) => `delivered+${i}@simulator.test`)
  await mailhorn.call('POST', '/emails', { session: owner, body: { ...MAIL, to: to(50) } })
  await mailhorn.call('POST', '/emails', { session: owner, body: { ...MAIL, to: to(30) } })
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => mailhorn.call('POST', '/emails', { session: owner, body: MAIL })),
  )
  const refused = answers.filter(({ status }) => status !== 200)
  assert.is(refused.length, 40)
  for (const answer of refused)
    assertRefusal(answer, {
      status: 429,
      name: 'daily_quota_exceeded',
      says: /daily quota of 100 recipients/,
    })
  const { body } = await mailhorn.call('GET', '/account/usage', { session: owner })
  assert.equal([body.emails.daily.used, body.emails.daily.remaining], [100, 0])
})

test('a larger plan counts from the next request on', async () => {
  const { id, session: owner } = await account()
  const send = (to: string[]) => mailhorn.call('POST', '/emails', { session: owner, body: { ...MAIL, to } })
  const many = Array.from({ length: 50 }, (_, i) => `delivered+${i}@simulator.test`)
  assert.equal(
    [(await send(many)).status, (await send(many)).status, (await send(many)).status],
    [200, 200, 429],
  )
  await mailhorn.call('PATCH', `/accounts/${id}`, { session, body: { plan: 'pro' } })
  assert.is((await send(many)).status, 200)
  await mailhorn.call('PATCH', `/accounts/${id}`, { session, body: { plan: 'free' } })
  assertRefusal(await send(many.slice(0, 1)), { status: 429, name: 'daily_quota_exceeded' })
})

test('the emails of an account leave its sight when its plan says so, and not before', async () => {
  const [free, scale] = [await account(), addAccount(mailhorn, 'scale')]
  const send = async (owner: string) => {
    const { body } = await mailhorn.call('POST', '/emails', { session: owner, body: MAIL })
    return body.id as string
  }
  const see = async (owner: string, id: string) =>
    (await mailhorn.call('GET', `/emails/${id}`, { session: owner })).status
  const [mine, theirs] = [await send(free.session), await send(scale.session)]
  await mailhorn.call('GET', '/healthz')
  while (mailhorn.rows('select 1 from emails where ended_at is null').length > 0)
    await new Promise(setImmediate)
  mailhorn.clock.jump(7 * 86_400_000 - 60_000)
  assert.equal([await see(free.session, mine), await see(scale.session, theirs)], [200, 200])
  mailhorn.clock.jump(60_000)
  assert.equal([await see(free.session, mine), await see(scale.session, theirs)], [404, 200])
})

test.run()
