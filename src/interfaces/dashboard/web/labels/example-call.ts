/** Calls that the example of a new access token shows. */
import { includesScope, type TokenScope } from '../../../../resources/accounts/scopes.ts'
import type { SampleCall } from './code-samples.ts'

const EMAIL = { from: 'you@your-domain.com', to: 'them@example.com', subject: 'Hello', text: 'Hi' }
/** The first one that the token may do is shown. */
const CALLS: readonly [TokenScope, string][] = [
  ['domains:read', '/domains'],
  ['emails:send', '/emails'],
  ['contacts:read', '/contacts'],
  ['broadcasts:read', '/broadcasts'],
  ['templates:read', '/templates'],
  ['emails:read', '/emails'],
  ['inbound:read', '/emails/receiving'],
  ['webhooks:read', '/webhooks'],
  ['api-keys:read', '/api-keys'],
  ['suppressions:read', '/suppressions'],
  ['logs:read', '/logs'],
  ['activity:read', '/activity'],
  ['account:read', '/usage'],
]

/** Returns a call that the scopes allow. */
export function exampleCall(scopes: readonly TokenScope[]): Pick<SampleCall, 'method' | 'path' | 'body'> {
  const [scope, path] = CALLS.find(([scope]) => includesScope(scopes, scope)) ?? []
  if (scope === 'emails:send') return { method: 'POST', path: '/emails', body: EMAIL }
  return { method: 'GET', path: path ?? '/installation' }
}
