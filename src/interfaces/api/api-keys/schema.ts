/** Schemas of API keys and of access tokens that are shown as keys, and pages of them. */
import * as z from 'zod'
import { type Id, parseWireId, sameId, wireId } from '../../../lib/ids.ts'
import type { AccessTokenView } from '../../../resources/accounts/access-tokens.ts'
import type { ApiKeyView } from '../../../resources/accounts/api-keys.ts'
import { credentialNameSchema } from '../access-tokens/schema.ts'
import { invalidField, notFound } from '../api-error.ts'
import { bodyReader, presentPicker, readNumber } from '../schema/read.ts'
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
  const given = presentPicker(TOKEN_LIMITS)(body as Record<string, unknown>)
  const path = Object.keys(given)[0]
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

const ROWS_MAX = 100

/** The SDKs page through keys by id. Without a parameter, the list has all keys. */
export const apiKeyPageQuery = {
  limit: z.int().min(1).max(ROWS_MAX).optional(),
  after: anyIdSchema.optional(),
  before: anyIdSchema.optional(),
}

/**
 * Orders keys newest first, and cuts the page that the query asks for.
 * @throws ApiError 404 if the cursor names no key, or 422
 */
export function apiKeyPage(
  keys: readonly KeyView[],
  query: URLSearchParams,
): { total: number; rows: KeyView[]; hasMore: boolean } {
  const all = keys.toSorted((a, b) => Buffer.compare(idOf(b.id)!, idOf(a.id)!))
  const total = all.length
  const fallback = query.has('after') || query.has('before') ? ROWS_MAX : total
  const limit = readNumber(query, 'limit', { fallback, least: 1, most: ROWS_MAX })
  const [after, before] = [edgeOf(all, query, 'after'), edgeOf(all, query, 'before')]
  if (after !== undefined && before !== undefined)
    throw invalidField('before', 'The `before` parameter cannot be used with `after`.')
  if (before !== undefined)
    return { total, rows: all.slice(Math.max(0, before - limit), before), hasMore: before > limit }
  const from = after === undefined ? 0 : after + 1
  return { total, rows: all.slice(from, from + limit), hasMore: total > from + limit }
}

/** Returns the position of the key that a cursor names; undefined without a cursor. */
function edgeOf(all: readonly KeyView[], query: URLSearchParams, parameter: string): number | undefined {
  const text = query.get(parameter) ?? ''
  if (text === '') return undefined
  const id = idOf(text)
  if (!id) throw invalidField(parameter, `The \`${parameter}\` parameter must be the id of an API key.`)
  const at = all.findIndex(key => sameId(idOf(key.id)!, id))
  if (at < 0) throw notFound('API key')
  return at
}

function idOf(text: string): Id | undefined {
  return parseWireId('key', text) ?? parseWireId('tok', text)
}
