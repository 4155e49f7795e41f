import * as assert from 'uvu/assert'
import type { Route } from '../../../src/interfaces/api/route/route.ts'
import { includesScope, SCOPES, type TokenScope } from '../../../src/resources/accounts/scopes.ts'
import { authorizationOf } from '../../kit/authorization.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { goodBodyFor } from '../../kit/good-bodies.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { filled, type Owned, ownEverything, paramsOf } from '../../kit/owned.ts'
import { assertRefusal, contentsOf } from '../../kit/refusals.ts'
import { allRoutes, pathOf } from '../../kit/routes.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('access tokens on every route')
const guarded = (await allRoutes()).filter(({ access }) => access !== 'public')
let mx: FakeMx
let mailhorn: Mailhorn
let owned: Owned

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ mxPort: mx.port })
  const session = await mailhorn.signIn()
  await mailhorn.verifiedDomain('here.example')
  owned = await ownEverything(mailhorn, { session, key: mailhorn.apiKey, domain: 'mine.example' })
  // the email of POST /alerts/test would be delivered while later tests compare the database
  const hold = await mailhorn.call('POST', '/queue/hold', { session, body: { domain: 'mailhorn.test' } })
  assert.is(hold.status, 201)
  for (const route of guarded) {
    await tokenWith(scopesNeededBy(route))
    await tokenWith(scopesUselessFor(route))
  }
  await tokenWith(['full'])
  await tokenWith(['domains:read'], true)
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const tokens = new Map<string, string>()

/** One token per set of scopes. All are created before the tests, which compare the whole database. */
async function tokenWith(scopes: readonly TokenScope[], operator = false): Promise<string> {
  const name = `${scopes} ${operator}`
  if (!tokens.has(name)) {
    const body = { name: 'program', scopes, operator }
    const answer = await mailhorn.call('POST', '/access-tokens', { session: await mailhorn.signIn(), body })
    assert.is(answer.status, 201, JSON.stringify(answer.body))
    tokens.set(name, answer.body.token)
  }
  return tokens.get(name)!
}

const isTokenScope = (scope: string): scope is TokenScope => scope !== 'operator' && scope !== 'session'

/** Scopes of the route; for a route that no scope opens, another one. */
function scopesNeededBy(route: Route): TokenScope[] {
  const scopes = authorizationOf(route).scopes.filter(isTokenScope)
  return scopes.length > 0 ? scopes : ['domains:read']
}

/** Every scope that does not include a scope of the route. */
function scopesUselessFor(route: Route): TokenScope[] {
  const needed = authorizationOf(route).scopes.filter(isTokenScope)
  return SCOPES.filter(scope => scope !== 'full' && !needed.some(other => includesScope([scope], other)))
}

const REFUSED = { status: 403, name: 'invalid_access' }

function assertLetIn({ status, body }: ApiAnswer) {
  assert.not([401, 403, 405].includes(status), JSON.stringify(body))
}

for (const route of guarded) {
  const scopes = authorizationOf(route).scopes
  const what = `${route.method} ${route.path}`
  const ask = async (key: string) => mailhorn.call(route.method, pathOf(route), { key })

  test(`${what} accepts a token with [${scopes}], and full access`, async () => {
    const [exact, full] = [
      await ask(await tokenWith(scopesNeededBy(route))),
      await ask(await tokenWith(['full'])),
    ]
    const operator = await ask(await tokenWith(['domains:read'], true))
    if (scopes.includes('session')) {
      const says = /requires the session of a person/
      for (const answer of [exact, full, operator]) assertRefusal(answer, { ...REFUSED, says })
    } else if (scopes.includes('operator')) {
      const says = /rights of an operator/
      for (const answer of [exact, full]) assertRefusal(answer, { ...REFUSED, says })
      assertLetIn(operator)
    } else for (const answer of [exact, full]) assertLetIn(answer)
  })

  test(`${what} refuses a token with all other scopes, and changes nothing`, async () => {
    const key = await tokenWith(scopesUselessFor(route))
    const path = filled(route, paramsOf(owned, route))
    const body = route.body ? { body: goodBodyFor(mailhorn, route) } : {}
    const before = contentsOf(mailhorn)
    const answer = await mailhorn.call(route.method, path, { key, ...body })
    assertRefusal(answer, REFUSED)
    for (const scope of scopes.filter(isTokenScope))
      assert.ok(answer.body.message.includes(`\`${scope}\``), answer.body.message)
    assert.equal(contentsOf(mailhorn), before, 'a refused request must change nothing')
  })
}

test.run()
