import * as assert from 'uvu/assert'
import { scopesOfRoute } from '../../../../src/interfaces/api/route/route-scopes.ts'
import { AUTHORIZATIONS } from '../../../kit/authorization.ts'
import { allRoutes } from '../../../kit/routes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('authorization')

test('authorization: every route needs what the table says, and the table has no other route', async () => {
  const lineOf = (route: string, access: string, scopes: readonly string[]) =>
    `${route}: ${access} ${scopes.join(' and ')}`
  const routes = await allRoutes()
  assert.equal(
    routes.map(route => lineOf(`${route.method} ${route.path}`, route.access, scopesOfRoute(route))).sort(),
    AUTHORIZATIONS.map(({ route, access, scopes }) => lineOf(route, access, scopes)).sort(),
  )
})

test.run()
