import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { exampleCall } from '../../../../src/interfaces/dashboard/web/labels/example-call.ts'
import { SCOPES } from '../../../../src/resources/accounts/scopes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('the example of a new access token')

test('example call: the scope allows the call', () => {
  assert.match(exampleCall(['emails:send']), /^emails\.send\(/)
  assert.match(exampleCall(['emails:write']), /^emails\.send\(/)
  assert.is(exampleCall(['emails:read']), 'emails.list()')
  assert.is(exampleCall(['api-keys:read']), 'apiKeys.list()')
  assert.is(exampleCall(['api-keys:write']), 'apiKeys.list()')
  assert.is(exampleCall(['inbound:read']), 'emails.receiving.list()')
  assert.is(exampleCall(['suppressions:read', 'contacts:write']), 'contacts.list()')
  assert.is(exampleCall(['full']), 'domains.list()')
})

test('example call: the SDK has the method for each scope', () => {
  const resend = new Resend('re_test') as unknown as Record<string, unknown>
  for (const scope of SCOPES) {
    const path = exampleCall([scope]).split('(')[0]!.split('.')
    const method = path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], resend)
    assert.type(method, 'function', scope)
  }
})

test.run()
