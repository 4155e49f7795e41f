/**
 * Assembles the HTTP application: the middleware that every request passes, in order, and the routes. In:
 * requests of `server.ts`. Out: replies of routes and pages, and every error in the shape of `ApiError`.
 * Called by `app/http.ts`.
 */
import { promisify } from 'node:util'
import { gzip, type ZlibOptions } from 'node:zlib'
import Koa, { type Context, type Middleware } from 'koa'
import { acceptsGzip } from '../../../lib/accept-encoding.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createIdSource, idKey, idText } from '../../../lib/ids.ts'
import type { Log } from '../../../lib/log.ts'
import { TooManyWaiting } from '../../../lib/semaphore.ts'
import { type ThrottledLog, throttledLog } from '../../../lib/throttled-log.ts'
import { WorkerEnded } from '../../../lib/worker-rpc.ts'
import { closedFor } from '../../../pipeline/accept/refusal.ts'
import type { ServiceMode } from '../../../pipeline/queue/service-mode.ts'
import { forTypedClient, typedClientOf } from '../../../resources/compat/typed-clients.ts'
import { withoutEncodedSecrets } from '../../../resources/request-log/redact.ts'
import type { RequestLog } from '../../../resources/request-log/request-log.ts'
import { StorageUnavailable } from '../../../store/model/command.ts'
import { ApiError, apiErrorOf } from '../api-error.ts'
import type { FindCredential } from '../auth/credentials.ts'
import { DEFAULT_BODY_LIMIT_BYTES, PUBLIC_BODY_LIMIT_BYTES, type ReadBody } from '../body/body.ts'
import { readForm } from '../body/form.ts'
import { streamBody } from '../body/stream.ts'
import { type DashboardPages, servePages } from '../pages/pages.ts'
import type { ApiReply, Credential, RawHttpReply, Route, SendWork } from '../route/route.ts'
import { scopesOfRoute } from '../route/route-scopes.ts'
import type { ClientAddressOf } from './client-address.ts'
import { readUnreadBodies } from './lingering-close.ts'
import type { SpendRequest } from './rate-limit.ts'
import { type CountRequest, type RequestState, recordRequests } from './record-requests.ts'
import { checkHead } from './request-head.ts'
import { createRouting, notOfferedMessage, type Routing, readParameters } from './routing.ts'
import { JSON_HEADERS } from './security-headers.ts'
import { sendLongReplies, streamReply } from './stream.ts'
import type { UnreadReplies } from './unread-replies.ts'

interface HttpAppOptions {
  /** Tells whether a host (with its port unless that is the default) serves only links of emails. */
  isLinkHost(host: string): boolean
  routes: readonly Route[]
  /** Undefined if only the API is served. */
  pages: DashboardPages | undefined
  findCredential: FindCredential
  clientAddressOf: ClientAddressOf
  readBody: ReadBody
  /** Headers of every reply; see `headersOfAll`. */
  headers: Readonly<Record<string, string>>
  /** Undefined without a rate limit. */
  spendRequest: SpendRequest | undefined
  /** Undefined if requests are not logged. */
  requestLog: RequestLog | undefined
  countRequest: CountRequest
  serviceMode: { current: ServiceMode }
  unreadReplies: UnreadReplies
  clock: Clock
  log: Log
}

const RETRY_AFTER_SECONDS = 5
/** Below this, compression saves less than a packet. */
const COMPRESSED_CHARACTERS_MIN = 1_400
/** Higher levels take more time for two per cent. */
const COMPRESSION_LEVEL = 4
const gzipped = promisify<string, ZlibOptions, Buffer>(gzip)
const JSON_TYPE = 'application/json; charset=utf-8'
/** Every 401 must name a scheme (RFC 9110 §15.5.2). Browsers show no dialog for this one. */
const CHALLENGE = 'Bearer realm="Mailhorn"'

export function createHttpApp(options: HttpAppOptions): Koa {
  const app = new Koa({ proxy: false })
  app.silent = true
  app.use(sendLongReplies(options.unreadReplies, options))
  app.use(identifyRequest(options))
  app.use(readTarget)
  app.use(recordRequests(options))
  app.use(readUnreadBodies(options.clock))
  app.use(turnErrorsIntoReplies(options))
  app.use(checkHead)
  app.use(tidyPath)
  app.use(keepToLinks(options))
  if (options.pages) app.use(servePages(options.pages, options.findCredential))
  const routing = createRouting(options.routes, handlerOf(options))
  app.use(routing.dispatch)
  app.use(refuseTheRest(routing))
  return app
}

/** Each request has an id, which is that of its entry in the request log, too. */
function identifyRequest({ headers, clock }: Pick<HttpAppOptions, 'headers' | 'clock'>): Middleware {
  const lines = Object.entries(headers)
  const newId = createIdSource()
  return (ctx, next) => {
    const state = ctx.state as RequestState
    state.id = newId(clock.now())
    state.requestId = idText(state.id)
    ctx.res.setHeader('x-request-id', state.requestId)
    for (const [name, value] of lines) ctx.res.setHeader(name, value)
    return next()
  }
}

/** A proxy may send an absolute URL as the request target. A target that is not a URL counts as `/`. */
const readTarget: Middleware = (ctx, next) => {
  const target = ctx.req.url!
  if (!target.startsWith('/')) {
    const { pathname, search } = URL.parse(target) ?? { pathname: '', search: '' }
    ctx.req.url = pathname.startsWith('/') ? pathname + search : '/'
  }
  return next()
}

function turnErrorsIntoReplies({ log, clock }: Pick<HttpAppOptions, 'log' | 'clock'>): Middleware {
  const warn = throttledLog(
    { log, clock },
    'warn',
    'http_requests_refused',
    'HTTP requests are refused with 503: the service is overloaded or the store is unavailable',
  )
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      const refused = refusedBy(error)
      if (refused.status >= 500 && error !== refused) logFault(ctx, error, refused, { log, warn })
      ctx.status = refused.status
      ctx.state.errorName = refused.errorName
      if (refused.status === 401) ctx.set('www-authenticate', CHALLENGE)
      sayJson(ctx, refused.body(), refused.headers)
    }
  }
}

function refusedBy(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StorageUnavailable)
    return new ApiError(
      503,
      'application_error',
      `The database or the disk is unavailable. Retry after ${RETRY_AFTER_SECONDS} s.`,
      {
        headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
      },
    )
  if (error instanceof WorkerEnded)
    return new ApiError(503, 'application_error', 'A worker of the service is restarting. Retry after 2 s.', {
      headers: { 'retry-after': '2' },
    })
  if (error instanceof TooManyWaiting)
    return new ApiError(
      429,
      'rate_limit_exceeded',
      'Too many requests of this kind are in progress. Retry after 1 s.',
      {
        headers: { 'retry-after': '1' },
      },
    )
  return new ApiError(500, 'internal_server_error', 'An internal error occurred.')
}

function logFault(
  ctx: Context,
  error: unknown,
  { status }: ApiError,
  { log, warn }: { log: Log; warn: ThrottledLog },
) {
  const context = {
    request_id: ctx.state.requestId,
    method: ctx.method,
    path: withoutEncodedSecrets(ctx.path),
    err: error,
  }
  if (hasLeft(ctx))
    log.debug({ event: 'http_client_disconnected', ...context }, 'The client disconnected before the reply')
  else if (status === 503) warn(context)
  else
    log.error({ event: 'http_request_failed', ...context }, 'An HTTP request failed with an internal error')
}

/** A completely read request counts as destroyed, too, and its client is still connected. */
function hasLeft({ req, res }: Context): boolean {
  return res.destroyed || (req.destroyed && !req.complete)
}

/** Path of claims in the PHP SDK; all others say `claim`. */
const CLAIMS = /^(\/domains(?:\/[^/]+)?)\/claims(?=\/verify$|$)/

/** Path of sends in strapi-provider-email-resend. */
const EMAIL = /^\/email$/

/** Removes duplicate and trailing slashes. Clients whose base URL ends in a slash send `//emails`. */
const tidyPath: Middleware = (ctx, next) => {
  const tidy = ctx.path
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '')
    .replace(CLAIMS, '$1/claim')
    .replace(EMAIL, '/emails')
  if (tidy !== ctx.path) ctx.path = tidy
  return next()
}

/** Paths of pixels, tracked links, unsubscribe pages, logos, emails in the browser and domain proofs. */
const LINKS = /^\/(?:[oculsv]|\.well-known)\//

/** A host that serves only links has neither the API nor the dashboard. */
function keepToLinks({ isLinkHost }: Pick<HttpAppOptions, 'isLinkHost'>): Middleware {
  return (ctx, next) => {
    if (!isLinkHost((ctx.headers.host ?? '').toLowerCase())) return next()
    // the host may belong to a customer, for whom we cannot promise TLS
    ctx.remove('strict-transport-security')
    if (!LINKS.test(ctx.path)) throw unknownPath(ctx)
    return next()
  }
}

function unknownPath({ path }: Context): ApiError {
  return new ApiError(404, 'not_found', notOfferedMessage(path) ?? `Unknown path: ${path}`)
}

function handlerOf(options: HttpAppOptions): (route: Route) => Middleware {
  return route => {
    const rules = { access: route.access, scopes: scopesOfRoute(route) }
    return async ctx => {
      const state = ctx.state as RequestState
      if (route.access === 'public') state.isPublic = true
      const credential = await options.findCredential(ctx.req, rules)
      if (credential && !state.isPublic) state.credential = credential
      requireOpen(route, options.serviceMode.current)
      if (state.credential) options.spendRequest?.(ctx, state.credential.accountId)
      await send(ctx, await answer(options, route, ctx, credential), options)
    }
  }
}

/** @throws ApiError 503 for a change while the service is read-only */
function requireOpen({ method, whileReadOnly = method === 'GET' }: Route, mode: ServiceMode) {
  const closed = mode.mode === 'read-only' && !whileReadOnly && closedFor(mode)
  if (closed) throw apiErrorOf(closed)
}

async function answer(
  { clientAddressOf, readBody }: HttpAppOptions,
  route: Route,
  ctx: Context,
  credential: Credential | null,
): Promise<ApiReply | RawHttpReply> {
  const limitBytes =
    route.access === 'public' ? PUBLIC_BODY_LIMIT_BYTES : (route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES)
  const clientAddress = clientAddressOf(ctx.req)
  const onBytes = (bytes: Uint8Array) => {
    ctx.state.requestBody = bytes
  }
  const owner = credential ? idKey(credential.accountId) : clientAddress
  const request = {
    method: ctx.method,
    params: ctx.params as Record<string, string>,
    query: readParameters(ctx.querystring, route),
    headers: ctx.headers,
    clientAddress,
    form: () => readForm(ctx.req, limitBytes),
    body: () => readBody(ctx.req, { limitBytes, owner, onBytes }, null),
    stream: () => streamBody(ctx.req, limitBytes),
    sendBody: (work: SendWork) => readBody(ctx.req, { limitBytes, owner, onBytes }, work),
  }
  if (route.access === 'public') return route.handle({ ...request, credential })
  return route.handle({ ...request, credential: credential! })
}

async function send(
  ctx: Context,
  reply: ApiReply | RawHttpReply,
  options: Pick<HttpAppOptions, 'clock' | 'log'>,
): Promise<void> {
  ctx.status = reply.status
  if ('body' in reply) {
    sayJson(ctx, bodyFor(ctx, reply), reply.headers)
    return await compressJson(ctx)
  }
  ctx.set(reply.headers)
  if (Symbol.asyncIterator in reply.content)
    try {
      ctx.state.streamedAt = options.clock.monotonic()
      if (ctx.method !== 'HEAD') await streamReply(ctx, reply.content, options)
    } finally {
      reply.done?.()
    }
  else ctx.body = Buffer.from(reply.content.buffer, reply.content.byteOffset, reply.content.byteLength)
}

function bodyFor({ headers }: Context, { body }: ApiReply): object {
  const client = typedClientOf(headers)
  return client ? forTypedClient(client, body) : body
}

/**
 * Sets a JSON reply. It is encoded here, because the request log keeps its text. Its headers are set
 * directly, because the same in Koa takes longer; those of the route win.
 */
function sayJson(ctx: Context, body: object, headers: ApiReply['headers'] = {}): void {
  const text = JSON.stringify(body)
  const { res } = ctx
  res.setHeader('content-type', JSON_TYPE)
  res.setHeader('cache-control', JSON_HEADERS['cache-control'])
  res.setHeader('x-content-type-options', JSON_HEADERS['x-content-type-options'])
  ctx.set(headers)
  ctx.state.responseBody = text
  ctx.body = text
}

/** Compresses a longer JSON reply for clients that accept it, in a thread of the runtime. */
async function compressJson(ctx: Context): Promise<void> {
  const { responseBody: text } = ctx.state as { responseBody: string }
  if (ctx.method !== 'GET' || text.length < COMPRESSED_CHARACTERS_MIN) return
  ctx.vary('accept-encoding')
  if (!acceptsGzip(ctx.get('accept-encoding'))) return
  const compressed = await gzipped(text, { level: COMPRESSION_LEVEL })
  ctx.res.setHeader('content-encoding', 'gzip')
  ctx.body = compressed
}

/**
 * Answers requests that match no route: 404 for an unknown path, 405 for a known path with another method.
 */
function refuseTheRest({ methodsOf }: Routing): Middleware {
  return async ctx => {
    const methods = methodsOf(ctx.path)
    if (methods.length === 0) throw unknownPath(ctx)
    const allow = methods.join(', ')
    throw new ApiError(405, 'method_not_allowed', `${ctx.path} allows ${allow}; got ${ctx.method}.`, {
      headers: { allow },
    })
  }
}
