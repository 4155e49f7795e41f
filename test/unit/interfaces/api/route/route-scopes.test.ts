import * as assert from 'uvu/assert'
import { scopesOfRoute } from '../../../../../src/interfaces/api/route/route-scopes.ts'
import { isScope } from '../../../../../src/resources/accounts/scopes.ts'
import { allRoutes } from '../../../../kit/routes.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('route-scopes')

const routes = await allRoutes()

for (const [method, path, expected] of [
  ['GET', '/domains', ['domains:read']],
  ['POST', '/domains/:id/verify', ['domains:write']],
  ['POST', '/emails', ['emails:send']],
  ['POST', '/emails/batch', ['emails:send']],
  ['GET', '/emails/export', ['emails:read']],
  ['POST', '/emails/:id/cancel', ['emails:write']],
  ['GET', '/emails/receiving/:id', ['inbound:read']],
  ['POST', '/inbound/:id/reply', ['inbound:read', 'emails:send']],
  ['DELETE', '/audiences/:id/contacts/:contact_id', ['contacts:write']],
  ['GET', '/segments', ['contacts:read']],
  ['PATCH', '/topics/:id', ['contacts:write']],
  ['POST', '/contact-properties', ['contacts:write']],
  ['POST', '/audiences/:id/segments/count', ['contacts:read']],
  ['POST', '/broadcasts/:id/lint', ['broadcasts:read']],
  ['POST', '/broadcasts/:id/send', ['broadcasts:write']],
  ['POST', '/api-keys', ['api-keys:write']],
  ['GET', '/account/usage', ['account:read']],
  ['GET', '/accounts/:id', ['account:read']],
  ['PATCH', '/accounts/:id', ['operator']],
  ['GET', '/queue', ['operator']],
  ['POST', '/access-tokens', ['session']],
  ['POST', '/auth/password', ['session']],
  ['POST', '/auth/login', []],
  ['GET', '/healthz', []],
] as const)
  test(`${method} ${path} needs [${expected}]`, () => {
    const route = routes.find(route => route.method === method && route.path === path)
    assert.ok(route, 'the route exists')
    assert.equal([...scopesOfRoute(route!)], [...expected])
  })

test('every route with a credential has scopes that exist', () => {
  for (const route of routes.filter(({ access }) => access !== 'public')) {
    const scopes = scopesOfRoute(route)
    assert.ok(scopes.length > 0, route.path)
    for (const scope of scopes)
      assert.ok(isScope(scope) || scope === 'operator' || scope === 'session', `${route.path}: ${scope}`)
  }
})

test('routes that only operators may use need `operator`', () => {
  for (const route of routes.filter(({ summary }) => summary.includes('(operator)')))
    assert.equal([...scopesOfRoute(route)], ['operator'], `${route.method} ${route.path}`)
})

test.run()
