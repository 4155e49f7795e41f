import type { IncomingMessage } from 'node:http'
import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import {
  createFindCredential,
  createIsValid,
  type RouteRules,
} from '../../../../../src/interfaces/api/auth/credentials.ts'
import type { Credential } from '../../../../../src/interfaces/api/route/route.ts'
import type { TokenHolder } from '../../../../../src/resources/accounts/access-token-rows.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('api/credentials')
const id = new Uint8Array(16)
const NOW = 1_000

const TOKEN: TokenHolder = {
  ...{ id, accountId: id, userId: null, name: 'CI', networkEntries: null, networks: null },
  ...{ scopes: ['domains:write'], operator: false, expiresAt: null },
}
const KEY_DOOR: RouteRules = { access: 'key', scopes: ['emails:send'] }
const SESSION_DOOR: RouteRules = { access: 'session', scopes: ['domains:write'] }
const PERSON_DOOR: RouteRules = { access: 'session', scopes: ['session'] }
const OPERATOR_DOOR: RouteRules = { access: 'session', scopes: ['operator'] }
const PUBLIC_DOOR: RouteRules = { access: 'public', scopes: [] }

/** Asks with a bearer token; resolves to the kind of the credential, or to the message of the refusal. */
async function ask(
  bearer: string | undefined,
  rules: RouteRules,
  token: Partial<TokenHolder> = {},
): Promise<string> {
  const find = createFindCredential({
    sessions: { find: async () => undefined },
    apiKeys: { find: async text => (text === 're_good' ? { id, accountId: id, domain: null } : undefined) },
    accessTokens: {
      isMeant: text => text.startsWith('mh_'),
      isWellFormed: text => text !== 'mh_misspelled',
      find: async text => (text === 'mh_good' ? { ...TOKEN, ...token } : undefined),
      noteUse: () => {},
    },
    cookie: { name: 'session', attributes: '' },
    clientAddressOf: () => '192.0.2.1',
    now: () => NOW,
  })
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
  try {
    return (await find({ method: 'GET', headers } as IncomingMessage, rules))?.kind ?? 'none'
  } catch (error) {
    assert.instance(error, ApiError)
    const { status, message } = error as ApiError
    return `${status} ${message}`
  }
}

for (const [what, bearer, rules, token, expected] of [
  ['nothing where a key is enough', undefined, KEY_DOOR, {}, /^401 Missing API key/],
  [
    'nothing where a token is accepted',
    undefined,
    SESSION_DOOR,
    {},
    /^401 Missing access token or dashboard/,
  ],
  ['nothing where a person must be', undefined, PERSON_DOOR, {}, /^401 Missing dashboard session/],
  ['a key where a token is accepted', 're_good', SESSION_DOOR, {}, /^401 .* Use an access token/],
  ['a key where a person must be', 're_good', PERSON_DOOR, {}, /^401 .* requires a dashboard session/],
  ['a token with the scope', 'mh_good', SESSION_DOOR, {}, /^token$/],
  ['a token without the scope', 'mh_good', KEY_DOOR, {}, /^403 .* lacks the scope `emails:send`/],
  ['a token where a person must be', 'mh_good', PERSON_DOOR, { scopes: ['full'] }, /^403 .* of a person/],
  [
    'full access where an operator must be',
    'mh_good',
    OPERATOR_DOOR,
    { scopes: ['full'] },
    /^403 .*`operator`/,
  ],
  ['the rights of an operator', 'mh_good', OPERATOR_DOOR, { operator: true }, /^token$/],
  ['an operator without the scope', 'mh_good', KEY_DOOR, { operator: true }, /^403 .*`emails:send`/],
  ['an unknown token', 'mh_unknown', SESSION_DOOR, {}, /^401 The access token is unknown/],
  ['a misspelled token', 'mh_misspelled', SESSION_DOOR, {}, /^401 .*checksum/],
  ['an expired token', 'mh_good', SESSION_DOOR, { expiresAt: NOW }, /^401 .* expired at 1970-01-01T00:00:01/],
  ['a token at a public route', 'mh_good', PUBLIC_DOOR, {}, /^token$/],
  ['an expired token at a public route', 'mh_good', PUBLIC_DOOR, { expiresAt: NOW }, /^none$/],
  ['an unknown token at a public route', 'mh_unknown', PUBLIC_DOOR, {}, /^none$/],
] as const)
  test(`credential: ${what}: ${expected.source}`, async () => {
    assert.match(await ask(bearer, rules, token), expected)
  })

const session = { kind: 'session', accountId: id, session: { sessionId: id } } as Credential
const tokenUntil = (expiresAt: number | null) =>
  ({ kind: 'token', accountId: id, tokenId: id, expiresAt }) as Credential
for (const [what, credential, exists, expected] of [
  ['an open session', session, true, true],
  ['an ended session', session, false, false],
  ['a token', tokenUntil(null), true, true],
  ['a revoked token', tokenUntil(null), false, false],
  ['a token before its expiry', tokenUntil(NOW + 1), true, true],
  ['a token after its expiry', tokenUntil(NOW), true, false],
] as const)
  test(`stream: ${what} may ${expected ? '' : 'not '}go on`, async () => {
    const sessions = { isOpen: async () => exists }
    const isValid = createIsValid({ sessions, accessTokens: { exists: async () => exists }, now: () => NOW })
    assert.is(await isValid(credential), expected)
  })

test.run()
