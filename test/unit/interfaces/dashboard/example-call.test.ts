import * as assert from 'uvu/assert'
import { scopesOfRoute } from '../../../../src/interfaces/api/route/route-scopes.ts'
import { exampleCall } from '../../../../src/interfaces/dashboard/web/labels/example-call.ts'
import { includesScope, SCOPES } from '../../../../src/resources/accounts/scopes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('the example of a new access token')

for (const scope of SCOPES)
  test(`the scope ${scope} allows the call`, () => {
    const { method, path } = exampleCall([scope])
    if (method === 'POST') assert.ok(includesScope([scope], 'emails:send'))
    else if (path !== '/installation')
      for (const needed of scopesOfRoute({ method, path, access: 'session' }))
        assert.ok(includesScope([scope], needed as never), `${path} needs ${needed}`)
  })

test('the widest scope shows the domains', () => {
  assert.equal(exampleCall(['full']), { method: 'GET', path: '/domains' })
  assert.is(exampleCall(['emails:send']).path, '/emails')
  assert.is(exampleCall(['suppressions:read', 'contacts:write']).path, '/contacts')
})

test.run()
