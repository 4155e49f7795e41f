/**
 * Records requests after their replies are known: in the request log of the account, and as debug lines of
 * the service's log. In: the context of a request, whose `state` the later middleware fills. Out: entries
 * of `RequestLog`. Called by `app.ts` in this folder.
 */
import type { Context, Middleware } from 'koa'
import type { Clock } from '../../../lib/clock.ts'
import type { Id } from '../../../lib/ids.ts'
import type { Log } from '../../../lib/log.ts'
import { withoutEncodedSecrets, withoutSecrets } from '../../../resources/request-log/redact.ts'
import type { RequestLog } from '../../../resources/request-log/request-log.ts'
import type { FindCredential } from '../auth/credentials.ts'
import type { Credential } from '../route/route.ts'
import type { ClientAddressOf } from './client-address.ts'

/** What the middleware of a request leaves in `ctx.state`. */
export interface RequestState {
  id: Id
  requestId: string
  /** Whether the request matched a route that needs no credential. */
  isPublic?: boolean
  credential?: Credential
  /** JSON body of the request, or the beginning of a large one. */
  requestBody?: Uint8Array
  /** JSON body of the reply. */
  responseBody?: string
  errorName?: string
  /** Monotonic time at which a streamed reply began, in ms. */
  streamedAt?: number
}

/** Counts a request. @param ms time from its head to its reply, or to the beginning of a streamed reply */
export type CountRequest = (status: number, ms: number) => void

interface RecordOptions {
  /** Undefined if requests are not logged. */
  requestLog: RequestLog | undefined
  countRequest: CountRequest
  findCredential: FindCredential
  clientAddressOf: ClientAddressOf
  clock: Clock
  log: Log
}

/** Longer paths, queries and user agents are cut. */
const TEXT_LENGTH_MAX = 500

export function recordRequests(options: RecordOptions): Middleware {
  const { requestLog, countRequest, clock, log } = options
  return async (ctx, next) => {
    const startedAt = clock.monotonic()
    await next()
    const endedAt = clock.monotonic()
    countRequest(ctx.status, ((ctx.state as RequestState).streamedAt ?? endedAt) - startedAt)
    const ms = Math.round(endedAt - startedAt)
    if (log.isLevelEnabled('debug')) {
      const { method, status, state } = ctx
      const path = withoutEncodedSecrets(ctx.path)
      log.debug(
        { event: 'http_request', request_id: state.requestId, method, path, status, ms },
        'HTTP request',
      )
    }
    if (!requestLog) return
    const credential = await loggedCredential(options, ctx)
    if (credential) record(options, requestLog, ctx, credential, ms)
  }
}

/**
 * Finds the credential of a request that is logged. Requests that no route answered, or whose credential is
 * not accepted by their route, have not been authenticated for their route, so their credential is looked up.
 * What the dashboard reads is not logged.
 */
async function loggedCredential(
  { findCredential }: RecordOptions,
  ctx: Context,
): Promise<Credential | null | undefined> {
  const { isPublic, credential } = ctx.state as RequestState
  if (isPublic) return undefined
  if (!credential) {
    if (ctx.status < 400 || ctx.headers.authorization === undefined) return undefined
    return findCredential(ctx.req, { access: 'public', scopes: [] }).catch(() => null)
  }
  const isReading = ctx.method === 'GET' || ctx.method === 'HEAD'
  return isReading && credential.kind === 'session' && credential.session.kind === 'cookie'
    ? undefined
    : credential
}

/** Beginning of a reply that shows one resource. */
const SHOWN_ID = /^\{(?:"object":"\w+",)?"id":"((?:[a-z]+_)?[\da-f-]{36})"/

/**
 * Returns the id of what a POST request has created or changed, so that the email of a send is found even if
 * the bodies are not stored.
 */
function resourceIdOf({ method, status }: Context, reply: string | undefined): string | null {
  return (method === 'POST' && status < 300 && reply !== undefined && SHOWN_ID.exec(reply)?.[1]) || null
}

function record(
  { clientAddressOf }: RecordOptions,
  requestLog: RequestLog,
  ctx: Context,
  credential: Credential,
  durationMs: number,
) {
  const { id, requestBody, responseBody, errorName, credential: accepted } = ctx.state as RequestState
  requestLog.record(
    {
      accountId: credential.accountId,
      id,
      credentialKind: credential.kind,
      credentialId: credentialIdOf(credential),
      method: ctx.method,
      // a secret that was cut would not be recognized
      path: withoutEncodedSecrets(ctx.path).slice(0, TEXT_LENGTH_MAX),
      query: ctx.querystring === '' ? null : withoutEncodedSecrets(ctx.querystring).slice(0, TEXT_LENGTH_MAX),
      status: ctx.status,
      errorName: errorName ?? null,
      userAgent: withoutSecrets(ctx.headers['user-agent'] ?? '').slice(0, TEXT_LENGTH_MAX) || null,
      durationMs,
      resourceId: resourceIdOf(ctx, responseBody),
      clientAddress: clientAddressOf(ctx.req),
    },
    { request: requestBody, response: responseBody },
    accepted !== undefined && errorName !== 'rate_limit_exceeded',
  )
}

function credentialIdOf(credential: Credential): Id {
  if (credential.kind === 'key') return credential.apiKeyId
  return credential.kind === 'token' ? credential.tokenId : credential.session.sessionId
}
