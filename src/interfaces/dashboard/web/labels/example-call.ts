/** Calls of the SDK that the example of a new access token shows. */
import { includesScope, type TokenScope } from '../../../../resources/accounts/scopes.ts'

const SEND =
  "emails.send({ from: 'you@your-domain.com', to: 'them@example.com', subject: 'Hello', text: 'Hi' })"
/** The first one that the token may do is shown. Resources without methods in the SDK are read by path. */
const CALLS: readonly [TokenScope, string][] = [
  ['domains:read', 'domains.list()'],
  ['emails:send', SEND],
  ['contacts:read', 'contacts.list()'],
  ['broadcasts:read', 'broadcasts.list()'],
  ['templates:read', 'templates.list()'],
  ['emails:read', 'emails.list()'],
  ['inbound:read', 'emails.receiving.list()'],
  ['webhooks:read', 'webhooks.list()'],
  ['api-keys:read', 'apiKeys.list()'],
  ['suppressions:read', "get('/suppressions')"],
  ['logs:read', "get('/logs')"],
  ['activity:read', "get('/events')"],
  ['account:read', "get('/usage')"],
]

/** Returns a call that the scopes allow, without the name of the client. */
export function exampleCall(scopes: readonly TokenScope[]): string {
  return CALLS.find(([scope]) => includesScope(scopes, scope))?.[1] ?? "get('/installation')"
}
