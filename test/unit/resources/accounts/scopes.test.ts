import * as assert from 'uvu/assert'
import { includesScope, isScope, SCOPES, type TokenScope } from '../../../../src/resources/accounts/scopes.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/scopes')

for (const [granted, included, excluded] of [
  [['full'], SCOPES, []],
  [['domains:read'], ['domains:read'], ['full', 'domains:write', 'contacts:read', 'emails:send']],
  [['domains:write'], ['domains:read', 'domains:write'], ['full', 'contacts:write']],
  [['emails:send'], ['emails:send'], ['full', 'emails:read', 'emails:write']],
  [['emails:read'], ['emails:read'], ['full', 'emails:send', 'emails:write']],
  [['emails:write'], ['emails:read', 'emails:send', 'emails:write'], ['full', 'inbound:read']],
  [
    ['contacts:read', 'webhooks:write'],
    ['contacts:read', 'webhooks:read', 'webhooks:write'],
    ['full', 'contacts:write', 'domains:read'],
  ],
  [[], [], SCOPES],
] as const satisfies readonly (readonly TokenScope[])[][])
  test(`[${granted}] includes [${included}] and not [${excluded}]`, () => {
    for (const scope of included) assert.is(includesScope(granted, scope), true, scope)
    for (const scope of excluded) assert.is(includesScope(granted, scope), false, scope)
  })

test('a scope is known by its exact name', () => {
  for (const scope of SCOPES) assert.ok(isScope(scope), scope)
  for (const text of ['', 'FULL', 'domains', 'domains:', 'domains:delete', ' full', 'operator', '__proto__'])
    assert.not(isScope(text), text)
})

test.run()
