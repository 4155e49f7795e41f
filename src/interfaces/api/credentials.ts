/**
 * Authenticates requests. In: the headers of a request and the access of its route. Out: the account and the
 * session or API key, or an `ApiError`. Called by `server/app.ts` before each route.
 */
import type { IncomingMessage } from 'node:http'
import type { ApiKeys } from '../../resources/accounts/api-keys.ts'
import { SESSION_TOKEN_PREFIX, type Sessions } from '../../resources/accounts/sessions.ts'
import { ApiError } from './api-error.ts'
import { type SessionCookie, sessionTokenOf } from './auth/cookie.ts'
import type { Access, Credential } from './route.ts'

export type FindCredential = (request: IncomingMessage, access: Access) => Promise<Credential | null>

interface CredentialOptions {
  sessions: Sessions
  apiKeys: ApiKeys
  cookie: SessionCookie
}

const READING_METHODS = new Set(['GET', 'HEAD'])

/** @throws ApiError 401, or 403 for a cross-origin write with a session cookie */
export function createFindCredential({ sessions, apiKeys, cookie }: CredentialOptions): FindCredential {
  const byBearer = async (token: string): Promise<Credential | undefined> => {
    if (token.startsWith(SESSION_TOKEN_PREFIX)) {
      const session = await sessions.find(token)
      return session?.kind === 'bearer'
        ? { kind: 'session', accountId: session.accountId, session }
        : undefined
    }
    const key = await apiKeys.find(token)
    return key && { kind: 'key', accountId: key.accountId, apiKeyId: key.id, domain: key.domain }
  }
  const byCookie = async (request: IncomingMessage, access: Access): Promise<Credential | undefined> => {
    const token = sessionTokenOf(request, cookie)
    const session = token === undefined ? undefined : await sessions.find(token)
    if (session?.kind !== 'cookie') return undefined
    if (READING_METHODS.has(request.method!) || isSameOrigin(request))
      return { kind: 'session', accountId: session.accountId, session }
    if (access === 'public') return undefined
    throw elsewhere()
  }
  return async (request, access) => {
    const bearer = bearerOf(request)
    const credential = bearer === undefined ? await byCookie(request, access) : await byBearer(bearer)
    if (access === 'public') return credential ?? null
    if (!credential) throw bearer === undefined ? missing(access) : unknown(bearer, access)
    if (access === 'session' && credential.kind === 'key')
      throw new ApiError(
        401,
        'restricted_api_key',
        'This API key can only send and read email. This endpoint requires a dashboard session.',
      )
    return credential
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

function missing(access: Access): ApiError {
  return new ApiError(
    401,
    'missing_api_key',
    access === 'session'
      ? 'Missing dashboard session. Sign in with POST /auth/login.'
      : 'Missing API key in the Authorization header (Authorization: Bearer <key>).',
  )
}

function unknown(bearer: string, access: Access): ApiError {
  if (bearer.startsWith(SESSION_TOKEN_PREFIX)) return missing(access)
  return new ApiError(401, 'invalid_api_key', 'The API key is unknown or revoked.')
}

function elsewhere(): ApiError {
  return new ApiError(
    403,
    'security_error',
    'Cross-origin request refused: a request with a session cookie must come from the origin of the dashboard.',
  )
}
