/** Schemas of API keys and of access tokens that are shown as keys, and pages of them. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import type { AccessTokenView } from '../../../resources/accounts/access-tokens.ts'
import type { ApiKeyView } from '../../../resources/accounts/api-keys.ts'
import type { FoundPage } from '../../../store/reading/list-page.ts'
import { credentialNameSchema } from '../access-tokens/schema.ts'
import { invalidField } from '../api-error.ts'
import { cutIdPage, type Listed, parseIdOf, readIdPage } from '../pages/id-page.ts'
import { bodyReader, presentPicker } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const permissionSchema = z.enum(['full_access', 'sending_access'])
const anyIdSchema = z.union([idSchema('key'), idSchema('tok')])

export const createKeySchema = z.object({
  name: credentialNameSchema,
  permission: permissionSchema.optional().meta({
    description: '`sending_access`, the default, creates an API key; `full_access` an access token.',
  }),
  domain_id: z.string().optional(),
})
const readKey = bodyReader(createKeySchema, { emptyMeansAbsent: ['name'] })

/** Limits of access tokens, which a key does not have. */
const TOKEN_LIMITS = ['scopes', 'networks', 'expires_at', 'expires_in'] as const

/**
 * Refuses the limits of access tokens by name, so that no key is wider than was meant.
 * @throws ApiError
 */
export function readCreateKey(body: unknown): ReturnType<typeof readKey> {
  const key = readKey(body)
  const limits = presentPicker(TOKEN_LIMITS)(body as Record<string, unknown>)
  const path = Object.keys(limits)[0]
  if (path !== undefined)
    throw invalidField(path, `API keys have no \`${path}\`. Create an access token (POST /access-tokens).`)
  return key
}

export const keySchema = z.object({
  object: z.literal('api_key'),
  id: anyIdSchema,
  name: z.string(),
  token_start: z.string(),
  permission: permissionSchema,
  domain_id: idSchema('dom').nullable(),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable(),
})
export const newKeySchema = keySchema
  .pick({ object: true, id: true, name: true, permission: true, domain_id: true })
  .extend({ token: z.string() })
export const deletedKeySchema = z.object({
  object: z.literal('api_key'),
  id: anyIdSchema,
  deleted: z.literal(true),
})

type KeyView = z.output<typeof keySchema>

export function keyView(key: ApiKeyView): KeyView {
  return {
    object: 'api_key',
    id: wireId('key', key.id),
    name: key.name,
    token_start: key.tokenStart,
    permission: 'sending_access',
    domain_id: key.domainId && wireId('dom', key.domainId),
    created_at: timestamp(key.createdAt),
    last_used_at: timestamp(key.lastUsedAt),
  }
}

/** Shows an access token as the SDKs show a key with full access. */
export function fullAccessView(token: AccessTokenView): KeyView {
  return {
    object: 'api_key',
    id: wireId('tok', token.id),
    name: token.name,
    token_start: token.tokenStart,
    permission: 'full_access',
    domain_id: null,
    created_at: timestamp(token.createdAt),
    last_used_at: timestamp(token.lastUsedAt),
  }
}

const KEYS: Listed = { prefixes: ['key', 'tok'], name: 'API key', what: 'an API key', fallback: 100 }

/** The SDKs page through keys by id. Without a parameter, the list has all keys. */
export const apiKeyPageQuery = {
  limit: z.int().min(1).max(100).optional(),
  after: anyIdSchema.optional(),
  before: anyIdSchema.optional(),
}

/**
 * Orders keys newest first, and cuts the page that the query asks for.
 * @throws ApiError 404 if the cursor names no key, or 422
 */
export function apiKeyPage(keys: readonly KeyView[], query: URLSearchParams): FoundPage<KeyView> {
  const idOf = ({ id }: KeyView) => parseIdOf(KEYS.prefixes, id)!
  const all = keys.toSorted((a, b) => Buffer.compare(idOf(b), idOf(a)))
  const page = readIdPage(query, KEYS)
  const isWhole = !query.has('limit') && !page.after && !page.before
  return cutIdPage(all, isWhole ? { ...page, limit: all.length } : page, KEYS)
}
