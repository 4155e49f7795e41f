/**
 * Serves the API keys of an account. The token is shown only in the reply to the creation. The SDKs call an
 * access token with the scope `full` an API key with the permission `full_access`, and find it here, too.
 */
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import type { AccessTokens } from '../../../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../../../resources/accounts/api-keys.ts'
import { readRename, renameSchema } from '../access-tokens/schema.ts'
import { ApiError, fieldNotFound, invalidField, notFound, orNotFound } from '../api-error.ts'
import { type Credential, created, ok, pageReply, type Route } from '../route/route.ts'
import { listSchema } from '../schema/reply-schemas.ts'
import {
  apiKeyPage,
  apiKeyPageQuery,
  createKeySchema,
  deletedKeySchema,
  fullAccessView,
  keySchema,
  keyView,
  newKeySchema,
  readCreateKey,
} from './schema.ts'

type NewKey = ReturnType<typeof readCreateKey>

interface ApiKeyRoutesOptions {
  apiKeys: ApiKeys
  accessTokens: AccessTokens
}

export function apiKeyRoutes({ apiKeys, accessTokens }: ApiKeyRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/api-keys',
      access: 'session',
      summary: 'Create an API key, or with `full_access` an access token; the reply contains its token, once',
      body: createKeySchema,
      replies: { 201: newKeySchema },
      async handle({ credential, ...request }) {
        const wanted = readCreateKey(await request.body())
        if (wanted.permission !== 'full_access')
          return created(await createKey(apiKeys, credential.accountId, wanted))
        requireFull(credential)
        return created(await createFullAccess(accessTokens, credential, wanted))
      },
    },
    {
      method: 'GET',
      path: '/api-keys',
      access: 'session',
      summary: 'List API keys, and access tokens with full access, newest first',
      query: apiKeyPageQuery,
      replies: { 200: listSchema(keySchema) },
      async handle({ query, credential: { accountId } }) {
        const [keys, tokens] = await Promise.all([apiKeys.list(accountId), accessTokens.list(accountId)])
        const full = tokens.filter(({ scopes }) => scopes.includes('full'))
        return pageReply(apiKeyPage([...keys.map(keyView), ...full.map(fullAccessView)], query))
      },
    },
    {
      method: 'PATCH',
      path: '/api-keys/:id',
      access: 'session',
      summary: 'Rename an API key, or an access token with full access',
      body: renameSchema,
      replies: { 200: keySchema },
      async handle({ params, credential, ...request }) {
        const { name } = readRename(await request.body())
        const { accountId } = credential
        const keyId = parseWireId('key', params.id!)
        const key = keyId && (await apiKeys.rename(accountId, keyId, name))
        if (key) return ok(keyView(key))
        const token = await fullAccessOf(accessTokens, accountId, params.id!)
        requireFull(credential)
        orNotFound(await accessTokens.rename(accountId, token.id, name), 'API key')
        return ok(fullAccessView({ ...token, name }))
      },
    },
    {
      method: 'DELETE',
      path: '/api-keys/:id',
      access: 'session',
      summary: 'Delete an API key, or an access token with full access',
      replies: { 200: deletedKeySchema },
      async handle({ params, credential }) {
        const { accountId } = credential
        const keyId = parseWireId('key', params.id!)
        if (keyId && (await apiKeys.delete(accountId, keyId)))
          return ok({ object: 'api_key', id: wireId('key', keyId), deleted: true })
        const { id } = await fullAccessOf(accessTokens, accountId, params.id!)
        requireFull(credential)
        orNotFound(await accessTokens.delete(accountId, id), 'API key')
        return ok({ object: 'api_key', id: wireId('tok', id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 for an unknown domain */
async function createKey(apiKeys: ApiKeys, accountId: Id, { name, domainId: text }: NewKey) {
  const domainId = text === undefined ? null : readDomainId(text)
  const key = await apiKeys.create(accountId, { name, domainId })
  if (!key) throw fieldNotFound('domain_id', 'Domain')
  return {
    object: 'api_key',
    id: wireId('key', key.id),
    name,
    permission: 'sending_access',
    domain_id: domainId && wireId('dom', domainId),
    token: key.token,
  }
}

/** @throws ApiError 422 if the key is to be limited to a domain */
async function createFullAccess(
  accessTokens: AccessTokens,
  credential: Credential,
  { name, domainId }: NewKey,
) {
  if (domainId !== undefined)
    throw invalidField(
      'domain_id',
      '`domain_id` cannot be combined with the permission `full_access`, which is not limited to a domain.',
    )
  const { token, view } = await accessTokens.create(
    credential.accountId,
    credential.kind === 'session' ? credential.session.userId : null,
    { name, scopes: ['full'], operator: false, ...limitsOf(credential) },
  )
  const { object, id, permission, domain_id } = fullAccessView(view)
  return { object, id, name, permission, domain_id, token }
}

/** @throws ApiError 404 */
async function fullAccessOf(accessTokens: AccessTokens, accountId: Id, text: string) {
  const id = parseWireId('tok', text)
  const token = id && (await accessTokens.get(accountId, id))
  if (!token?.scopes.includes('full')) throw notFound('API key')
  return token
}

/** Returns the limits that an access token passes on to one that is created with it. */
function limitsOf(credential: Credential) {
  if (credential.kind !== 'token') return { networks: null, expiresAt: null }
  const { networks, expiresAt } = credential
  return { networks, expiresAt }
}

/**
 * Full access can be given, renamed and taken away only with full access.
 * @throws ApiError 403
 */
function requireFull(credential: Credential): void {
  if (credential.kind === 'token' && !credential.scopes.includes('full'))
    throw new ApiError(
      403,
      'invalid_access',
      'This access token lacks the scope `full`, which is required for keys with `full_access`.',
    )
}

/** @throws ApiError 404 */
function readDomainId(text: string): Id {
  const id = parseWireId('dom', text)
  if (!id) throw fieldNotFound('domain_id', 'Domain')
  return id
}
