/** Schemas of access tokens, and the rules of their creation. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { isNetwork } from '../../../lib/networks.ts'
import type { AccessTokenView, TokenChoice } from '../../../resources/accounts/access-tokens.ts'
import { isScope, SCOPES, type TokenScope } from '../../../resources/accounts/scopes.ts'
import { invalidField } from '../api-error.ts'
import { shownValue } from '../schema/broken-rule.ts'
import { parseDuration } from '../schema/duration.ts'
import { bodyReader, camelCase, oneOrMany, readTime } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const NETWORKS_MAX = 100
const DAY_MS = 86_400_000
const LIFETIME_DAYS_MAX = 3_650

/** Name of an API key or an access token. */
export const credentialNameSchema = lineText(50).min(1)

const EXPIRY_RULE = `at most ${LIFETIME_DAYS_MAX} days ahead; without it, the token does not expire`

export const newTokenSchema = z.object({
  name: credentialNameSchema,
  scopes: oneOrMany().meta({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    description: `What the token may do: \`full\`, or a list of ${SCOPES.slice(1).join(', ')}.`,
  }),
  operator: z
    .boolean()
    .optional()
    .meta({ description: 'Also grants the rights of operators; only an operator may grant them.' }),
  networks: z
    .array(z.string())
    .min(1)
    .max(NETWORKS_MAX)
    .optional()
    .meta({ description: 'IP addresses and CIDR ranges that the token may be used from; by default any.' }),
  expires_at: z
    .unknown()
    .optional()
    .meta({ type: 'string', format: 'date-time', description: `Time of the expiry, ${EXPIRY_RULE}.` }),
  expires_in: z
    .unknown()
    .optional()
    .meta({
      anyOf: [{ type: 'string' }, { type: 'integer' }],
      description: `Number of seconds until the expiry, or a duration such as \`90 days\`; ${EXPIRY_RULE}.`,
    }),
})

/** Fields that restrict a token. */
const LIMITS = ['networks', 'expires_at', 'expires_in']
const readFields = bodyReader(newTokenSchema, { emptyMeansAbsent: ['name'] })

/**
 * Reads the body of a creation.
 * @param now ms since the epoch
 * @throws ApiError
 */
export function readNewToken(body: unknown, now: number): TokenChoice {
  refuseEmpty(body)
  const { name, scopes, operator = false, networks = null, expiresAt, expiresIn } = readFields(body)
  if (expiresAt !== undefined && expiresIn !== undefined)
    throw invalidField('expires_in', '`expires_in` cannot be combined with `expires_at`.')
  return {
    name,
    scopes: readScopes(scopes),
    operator,
    networks: networks && readNetworks(networks),
    expiresAt: readExpiry({ expiresAt, expiresIn }, now),
  }
}

/**
 * Refuses empty values of fields that restrict a token: a reader that takes them for absent would create an
 * unrestricted one.
 * @throws ApiError 422
 */
function refuseEmpty(body: unknown): void {
  const fields = body as Record<string, unknown>
  for (const key of LIMITS)
    for (const spelling of new Set([key, camelCase(key)])) {
      const value = Object.hasOwn(fields, spelling) ? fields[spelling] : undefined
      if (value === '' || (Array.isArray(value) && value.length === 0))
        throw invalidField(key, `\`${key}\` must not be empty. Omit it or set it to null for no limit.`)
    }
  if ((fields.domain_id ?? fields.domainId ?? null) !== null)
    throw invalidField(
      'domain_id',
      '`domain_id` is not supported: access tokens cannot be restricted to a domain.',
    )
}

/** @throws ApiError 422 */
function readScopes(texts: readonly string[]): TokenScope[] {
  const wrong = texts.find(text => !isScope(text))
  if (wrong === 'operator')
    throw invalidField('scopes', '`scopes` must not contain `operator`; set the field `operator` to true.')
  if (wrong !== undefined)
    throw invalidField(
      'scopes',
      `Each of \`scopes\` must be one of ${SCOPES.join(', ')}; got ${shownValue(wrong)}.`,
    )
  const scopes = [...new Set(texts as TokenScope[])]
  if (scopes.includes('full') && scopes.length > 1)
    throw invalidField('scopes', '`scopes` must not contain other scopes beside `full`, which includes them.')
  return scopes
}

/** @throws ApiError 422 */
function readNetworks(entries: readonly string[]): string[] {
  const wrong = entries.find(entry => !isNetwork(entry))
  if (wrong !== undefined)
    throw invalidField(
      'networks',
      `\`networks\` must contain IP addresses and CIDR ranges, such as 192.0.2.0/24; got ${shownValue(wrong)}.`,
    )
  return [...new Set(entries)]
}

/** @throws ApiError 422 */
function readExpiry(
  { expiresAt, expiresIn }: { expiresAt?: unknown; expiresIn?: unknown },
  now: number,
): number | null {
  if (expiresAt === undefined && expiresIn === undefined) return null
  const path = expiresAt === undefined ? 'expires_in' : 'expires_at'
  const durationMs = expiresAt === undefined ? parseDuration(expiresIn) : undefined
  if (path === 'expires_in' && durationMs === undefined)
    throw invalidField(
      path,
      `\`expires_in\` must be a number of seconds or a duration such as \`90 days\`; got ${shownValue(expiresIn)}.`,
    )
  const at = durationMs === undefined ? readTime(path, expiresAt) : now + durationMs
  if (at <= now) throw invalidField(path, `\`${path}\` must be in the future.`)
  if (at > now + LIFETIME_DAYS_MAX * DAY_MS)
    throw invalidField(path, `\`${path}\` must be at most ${LIFETIME_DAYS_MAX} days ahead.`)
  return at
}

export const renameSchema = z.object({ name: credentialNameSchema })
export const readRename = bodyReader(renameSchema, { emptyMeansAbsent: ['name'] })

/**
 * Refuses fields of an access token that a change cannot set.
 * @throws ApiError 422
 */
export function refuseFixedFields(body: unknown): void {
  const fields = body as Record<string, unknown>
  const isGiven = (key: string) => (fields[key] ?? fields[camelCase(key)] ?? null) !== null
  const fixed = ['scopes', 'operator', ...LIMITS].find(isGiven)
  if (fixed !== undefined)
    throw invalidField(fixed, `\`${fixed}\` of an access token cannot be changed. Create another token.`)
}

export const tokenSchema = z.object({
  object: z.literal('access_token'),
  id: idSchema('tok'),
  name: z.string(),
  token_start: z.string(),
  scopes: z.array(z.string()),
  operator: z.boolean().meta({
    description: 'Whether the token has the rights of operators now. It loses them when its creator does.',
  }),
  networks: z.array(z.string()).nullable(),
  created_by: idSchema('usr')
    .nullable()
    .meta({ description: 'Null for a token that a program or the command line created.' }),
  expires_at: timeSchema.nullable(),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable().meta({ description: 'Accurate to a minute.' }),
})
export const createdTokenSchema = tokenSchema.extend({ token: z.string() })

export function tokenView(token: AccessTokenView): z.output<typeof tokenSchema> {
  return {
    object: 'access_token',
    id: wireId('tok', token.id),
    name: token.name,
    token_start: token.tokenStart,
    scopes: [...token.scopes],
    operator: token.operator,
    networks: token.networks && [...token.networks],
    created_by: token.userId && wireId('usr', token.userId),
    expires_at: timestamp(token.expiresAt),
    created_at: timestamp(token.createdAt),
    last_used_at: timestamp(token.lastUsedAt),
  }
}
