import * as assert from 'uvu/assert'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { addAccount, type OtherAccount } from '../../kit/accounts.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { bodyFor, filled, type Owned, ownEverything, paramsOf } from '../../kit/owned.ts'
import { assertRefusal, contentsOf } from '../../kit/refusals.ts'
import { allRoutes, pathOf } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('what one account sees of another')
const withId = (await allRoutes()).filter(({ path }) => path.includes(':'))
const THERE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mx: FakeMx
let mailhorn: Mailhorn
let stranger: OtherAccount
/** Resources of the first account, and of the stranger. */
let owned: Owned
let strange: Owned

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: THERE, mxPort: mx.port })
  stranger = addAccount(mailhorn, 'stranger')
  const session = await mailhorn.signIn()
  await mailhorn.verifiedDomain('here.example')
  owned = await ownEverything(mailhorn, { session, key: mailhorn.apiKey, domain: 'mine.example' })
  const { session: theirs, apiKey: key } = stranger
  strange = await ownEverything(mailhorn, { session: theirs, key, domain: 'strange.example' })
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const UNKNOWN = '01990000-0000-7000-8000-000000000000'
const NOT_FOUND = { status: 404, name: 'not_found' }

/** Deletions that succeed whether or not the thing exists, as newer SDKs expect. */
const DELETES_ANYTHING = new Set(['DELETE /segments/:id', 'DELETE /contacts/:contact_id'])
/** Ids are echoed. */
const withoutIds = ({ body: { id: _, contact: __, ...rest } }: ApiAnswer) => rest

function assertMissing({ method, path }: Route, answer: ApiAnswer) {
  if (!DELETES_ANYTHING.has(`${method} ${path}`) || answer.status === 404) assertRefusal(answer, NOT_FOUND)
  else assert.equal([answer.status, answer.body.deleted], [200, true])
}

const bare = (id: string) => id.slice(id.indexOf('_') + 1)

test('everything named by a parameter is there for its owner', async () => {
  for (const route of withId) {
    const path = filled(route, paramsOf(owned, route))
    if (route.method !== 'GET') continue
    for (const options of [{ session: await mailhorn.signIn() }, { key: mailhorn.apiKey }]) {
      if (route.access === 'session' && 'key' in options) continue
      assert.ok((await mailhorn.call('GET', path, options)).status < 400, path)
    }
  }
})

/** A public link is good for whoever has it. */
for (const route of withId.filter(({ access }) => access !== 'public'))
  for (const [what, credential] of [
    ['session', () => ({ session: stranger.session })],
    ['key', () => ({ key: stranger.apiKey })],
  ] as const) {
    if (route.access === 'session' && what === 'key') continue
    test(`${route.method} ${route.path}, by a stranger's ${what}, answers as if there were nothing`, async () => {
      const params = paramsOf(owned, route)
      const { id = '' } = params
      const options = { ...credential(), ...bodyFor(route) }
      const unknown = await mailhorn.call(route.method, pathOf(route), options)
      assertMissing(route, unknown)
      const before = contentsOf(mailhorn)
      // such a deletion answers 200 for every id, but an id in capitals is none
      const wrong = DELETES_ANYTHING.has(`${route.method} ${route.path}`) ? [] : [id.toUpperCase()]
      for (const spelling of [id, bare(id), ...wrong]) {
        const path = filled(route, { ...params, id: spelling })
        const foreign = await mailhorn.call(route.method, path, options)
        assert.equal([foreign.status, withoutIds(foreign)], [unknown.status, withoutIds(unknown)])
        assert.equal(namesOf(foreign), namesOf(unknown))
      }
      assert.equal(contentsOf(mailhorn), before, 'a refused request must change nothing')
    })
  }

/** Parts of something else, named by ids of their own. */
for (const route of withId.filter(({ path }) => /:\w+_id/.test(path)))
  test(`${route.method} ${route.path} finds no foreign part in what is the stranger's own`, async () => {
    const own = paramsOf(strange, route)
    for (const [name, value] of Object.entries(paramsOf(owned, route)).filter(([name]) => name !== 'id'))
      for (const spelling of [value, bare(value)]) {
        const path = filled(route, { ...own, [name]: spelling })
        assertMissing(route, await mailhorn.call(route.method, path, { session: stranger.session }))
      }
  })

function namesOf({ headers }: ApiAnswer): string[] {
  return [...headers.keys()].sort()
}

for (const route of withId)
  test(`${route.method} ${route.path} takes no id of another kind`, async () => {
    const session = await mailhorn.signIn()
    const params = paramsOf(owned, route)
    for (const [name, value] of Object.entries(params).filter(([name]) => name !== 'version')) {
      const uuid = bare(value)
      for (const id of [
        ...['acc', 'usr', 'key', 'dom', 'eml', 'ses', 'evt', 'att', 'sup', 'tpl', 'brd', 'x', ''].map(
          prefix => `${prefix}_${uuid}`,
        ),
        uuid.slice(1),
        `${uuid}0`,
        uuid.replaceAll('-', ''),
        UNKNOWN,
        `%20${uuid}`,
        `${uuid}%00`,
      ].filter(id => id !== value)) {
        const path = filled(route, { ...params, [name]: id })
        assertMissing(route, await mailhorn.call(route.method, path, { session, ...bodyFor(route) }))
      }
    }
  })

test('lists show nothing of it', async () => {
  const lists = ['/domains', '/api-keys', '/templates', '/emails', '/suppressions', '/audiences', '/topics']
  for (const path of lists) {
    const { body } = await mailhorn.call('GET', path, { session: stranger.session })
    const own = path === '/api-keys' || path === '/domains' ? 2 : 1
    assert.equal([body.total, body.data.length, body.has_more], [own, own, false], path)
    const foreign = owned.get(path.slice(1))!.id
    assert.not(body.data.some(({ id }: { id: string }) => id === foreign))
  }
})

test('its session is about itself', async () => {
  const { body } = await mailhorn.call('GET', '/auth/session', { session: stranger.session })
  assert.equal(
    [body.user.email, body.user.operator, body.account.name],
    ['stranger@accounts.example', false, 'stranger'],
  )
})

const MAIL = { from: 'ann@here.example', to: 'ok@there.example', subject: 'x', text: 'x' }

test('mail from a domain of another account is refused as from one that is not there', async () => {
  const foreign = await mailhorn.call('POST', '/emails', { key: stranger.apiKey, body: MAIL })
  assertRefusal(foreign, { status: 403, name: 'validation_error', says: /here\.example/ })
  const body = { ...MAIL, from: 'ann@nowhere.example' }
  const absent = await mailhorn.call('POST', '/emails', { key: stranger.apiKey, body })
  assert.is(foreign.body.message, absent.body.message.replace('nowhere.example', 'here.example'))
})

test('a sub-domain of a verified domain is another domain', async () => {
  for (const from of ['ann@sub.here.example', 'ann@example', 'ann@there.example']) {
    const { status } = await mailhorn.call('POST', '/emails', {
      key: mailhorn.apiKey,
      body: { ...MAIL, from },
    })
    assert.ok(status === 403 || status === 422)
  }
})

test('a domain verified by one account cannot be registered by another', async () => {
  const options = { session: stranger.session, body: { name: 'here.example' } }
  assertRefusal(await mailhorn.call('POST', '/domains', options), {
    status: 422,
    name: 'validation_error',
    path: 'name',
    says: /here\.example/,
  })
})

test('a domain claimed by two belongs to the one who verifies it first', async () => {
  const session = await mailhorn.signIn()
  const claim = (who: string) =>
    mailhorn.call('POST', '/domains', { session: who, body: { name: 'both.example' } })
  const verify = async ({ body: { id } }: ApiAnswer, who: string) =>
    (await mailhorn.call('POST', `/domains/${id}/verify`, { session: who })).body.status
  const [mine, theirs] = [await claim(session), await claim(stranger.session)]
  assert.equal([mine.status, theirs.status], [201, 201])
  mailhorn.zone.add(zoneText(mine.body.records))
  mailhorn.zone.add(zoneText(theirs.body.records))
  assert.is(await verify(theirs, stranger.session), 'verified')
  assert.is(await verify(mine, session), 'pending')
  const mail = { ...MAIL, from: 'ann@both.example' }
  assert.is((await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: mail })).status, 403)
  assert.is((await mailhorn.call('POST', '/emails', { key: stranger.apiKey, body: mail })).status, 200)
})

test('its idempotency keys are its own', async () => {
  const body = { ...MAIL, to: 'delivered@simulator.test' }
  const headers = { 'idempotency-key': 'shared' }
  const mine = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body, headers })
  const theirs = await mailhorn.call('POST', '/emails', { key: stranger.apiKey, body, headers })
  assert.equal([mine.status, theirs.status], [200, 200])
  assert.is.not(mine.body.id, theirs.body.id)
})

test('its suppressions are its own', async () => {
  const to = 'perm-550-511@there.example'
  await mailhorn.emailWhen(await mailhorn.send({ ...MAIL, to }), 'bounced')
  await mailhorn.emailWhen(await mailhorn.send({ ...MAIL, to }), 'suppressed')
  const theirs = { key: stranger.apiKey, body: { ...MAIL, from: 'ann@both.example', to } }
  const { body } = await mailhorn.call('POST', '/emails', theirs)
  const { body: email } = await mailhorn.call('GET', `/emails/${body.id}`, { key: stranger.apiKey })
  assert.is.not(email.status, 'suppressed')
})

test.run()
