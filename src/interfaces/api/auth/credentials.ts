/**
 * Authenticates requests. In: the headers of a request, and the access and scopes of its route. Out: the
 * account and the session, API key or access token, or an `ApiError`. Called by `server/app.ts` before each
 * route.
 */
import type { IncomingMessage } from 'node:http'
import type { TokenHolder } from '../../../resources/accounts/access-token-rows.ts'
import {
  type AccessTokens,
  obstacleTo,
  type TokenObstacle,
} from '../../../resources/accounts/access-tokens.ts'
import type { ApiKeys } from '../../../resources/accounts/api-keys.ts'
import { includesScope } from '../../../resources/accounts/scopes.ts'
import { SESSION_TOKEN_PREFIX, type Sessions } from '../../../resources/accounts/sessions.ts'
import { ApiError } from '../api-error.ts'
import type { Access, Credential, TokenCredential } from '../route/route.ts'
import type { RouteScope } from '../route/route-scopes.ts'
import { type SessionCookie, sessionTokenOf } from './cookie.ts'

/** What a route demands of credentials. */
export interface RouteRules {
  access: Access
  /** Scopes that an access token needs, all of them. */
  scopes: readonly RouteScope[]
}

export type FindCredential = (request: IncomingMessage, rules: RouteRules) => Promise<Credential | null>

interface CredentialOptions {
  sessions: Pick<Sessions, 'find'>
  apiKeys: Pick<ApiKeys, 'find'>
  accessTokens: Pick<AccessTokens, 'find' | 'isMeant' | 'isWellFormed' | 'noteUse'>
  cookie: SessionCookie
  clientAddressOf(request: IncomingMessage): string
  now(): number
}

const READING_METHODS = new Set(['GET', 'HEAD'])

/**
 * @returns a function that throws ApiError 401, or 403 for a cross-origin write with a session cookie and for
 * an access token that lacks a scope
 */
export function createFindCredential(options: CredentialOptions): FindCredential {
  const { sessions, apiKeys, accessTokens, cookie, clientAddressOf, now } = options
  const byBearer = async (bearer: string): Promise<Credential | undefined> => {
    if (bearer.startsWith(SESSION_TOKEN_PREFIX)) {
      const session = await sessions.find(bearer)
      return session?.kind === 'bearer'
        ? { kind: 'session', accountId: session.accountId, session }
        : undefined
    }
    const key = await apiKeys.find(bearer)
    return key && { kind: 'key', accountId: key.accountId, apiKeyId: key.id, domain: key.domain }
  }
  const byCookie = async (request: IncomingMessage, access: Access): Promise<Credential | undefined> => {
    const token = sessionTokenOf(request, cookie)
    const session = token === undefined ? undefined : await sessions.find(token)
    // a program has its one session by cookie, too
    if (!session) return undefined
    if (READING_METHODS.has(request.method!) || isSameOrigin(request))
      return { kind: 'session', accountId: session.accountId, session }
    if (access === 'public') return undefined
    throw elsewhere()
  }
  const byToken = async (
    text: string,
    request: IncomingMessage,
    rules: RouteRules,
  ): Promise<Credential | null> => {
    const token = await accessTokens.find(text)
    const obstacle = token && obstacleTo(token, { address: clientAddressOf(request), now: now() })
    const isUsable = token && !obstacle
    if (isUsable) accessTokens.noteUse(token.id)
    if (rules.access === 'public') return isUsable ? tokenCredential(token) : null
    if (!token) throw unknownToken(accessTokens.isWellFormed(text))
    if (obstacle) throw blocked(obstacle)
    if (isForPeople(rules)) throw forPeople()
    requireScopes(token, rules.scopes)
    return tokenCredential(token)
  }
  return async (request, rules) => {
    const { access } = rules
    const bearer = bearerOf(request)
    if (bearer !== undefined && accessTokens.isMeant(bearer)) return byToken(bearer, request, rules)
    const credential = bearer === undefined ? await byCookie(request, access) : await byBearer(bearer)
    if (access === 'public') return credential ?? null
    if (!credential) {
      const isSession =
        bearer?.startsWith(SESSION_TOKEN_PREFIX) ?? sessionTokenOf(request, cookie) !== undefined
      if (isSession) throw ended()
      throw bearer === undefined ? missing(rules) : unknown()
    }
    if (access === 'session' && credential.kind === 'key')
      throw new ApiError(
        401,
        'restricted_api_key',
        isForPeople(rules)
          ? 'This API key can only send and read email. This endpoint requires a dashboard session.'
          : 'This API key can only send and read email. Use an access token (POST /access-tokens) or a dashboard session.',
      )
    return credential
  }
}

/** Tells whether the session or access token of a request that is still being answered may go on. */
export function createIsValid({
  sessions,
  accessTokens,
  now,
}: {
  sessions: Pick<Sessions, 'isOpen'>
  accessTokens: Pick<AccessTokens, 'exists'>
  now(): number
}): (credential: Credential) => Promise<boolean> {
  return async credential => {
    if (credential.kind === 'session') return sessions.isOpen(credential.session.sessionId)
    if (credential.kind === 'key') return false
    const { tokenId, expiresAt } = credential
    return (expiresAt === null || expiresAt > now()) && accessTokens.exists(tokenId)
  }
}

/** Tells whether a browser marks the request as same-origin (Fetch Metadata, or the Origin header). */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  if (headers.origin === undefined || headers.host === undefined) return false
  return URL.parse(headers.origin)?.host === headers.host
}

function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

function tokenCredential(token: TokenHolder): TokenCredential {
  const { id: tokenId, accountId, name, scopes, operator, networkEntries: networks, expiresAt } = token
  return { kind: 'token', accountId, tokenId, name, scopes, operator, networks, expiresAt }
}

function forPeople(): ApiError {
  return new ApiError(
    403,
    'invalid_access',
    'This endpoint requires the session of a person and accepts no access token. Sign in with POST /auth/login.',
  )
}

/** @throws ApiError 403 that names the missing scopes */
export function requireScopes(
  { scopes, operator }: Pick<TokenCredential, 'scopes' | 'operator'>,
  wanted: readonly RouteScope[],
): void {
  const lacking = wanted.filter(scope =>
    scope === 'operator'
      ? !operator
      : !includesScope(scopes, scope as Exclude<RouteScope, 'operator' | 'session'>),
  )
  if (lacking.length === 0) return
  if (lacking.includes('operator'))
    throw new ApiError(
      403,
      'invalid_access',
      'This endpoint requires the rights of an operator (`operator`), which this access token does not have.',
    )
  const names = lacking.map(scope => `\`${scope}\``).join(' and ')
  throw new ApiError(
    403,
    'invalid_access',
    `This access token lacks the scope ${names}, which this endpoint requires.`,
  )
}

function isForPeople({ scopes }: RouteRules): boolean {
  return scopes.includes('session')
}

function missing(rules: RouteRules): ApiError {
  return new ApiError(401, 'missing_api_key', missingMessage(rules))
}

function missingMessage(rules: RouteRules): string {
  if (rules.access === 'key')
    return 'Missing API key in the Authorization header (Authorization: Bearer <key>).'
  return isForPeople(rules)
    ? 'Missing dashboard session. Sign in with POST /auth/login.'
    : 'Missing access token or dashboard session. Send `Authorization: Bearer <token>`, or sign in with POST /auth/login.'
}

function unknown(): ApiError {
  return new ApiError(401, 'invalid_api_key', 'The API key is unknown or revoked.')
}

function unknownToken(isWellFormed: boolean): ApiError {
  return new ApiError(
    401,
    'invalid_api_key',
    isWellFormed
      ? 'The access token is unknown or revoked.'
      : 'The access token is incomplete or misspelled: its checksum is wrong.',
  )
}

function blocked(obstacle: TokenObstacle): ApiError {
  return obstacle.kind === 'expired'
    ? new ApiError(
        401,
        'invalid_api_key',
        `The access token expired at ${new Date(obstacle.at).toISOString()}.`,
      )
    : new ApiError(
        403,
        'invalid_access',
        `This access token may not be used from ${obstacle.address}, which is outside its \`networks\`.`,
      )
}

function ended(): ApiError {
  const message = 'The session has ended or expired. Sign in again with POST /auth/login.'
  return new ApiError(401, 'missing_api_key', message)
}

function elsewhere(): ApiError {
  return new ApiError(
    403,
    'security_error',
    'Cross-origin request refused: a request with a session cookie must come from the origin of the dashboard.',
  )
}
