/**
 * Types of routes. A route has a method, a path, an access level, a description for the OpenAPI document, and
 * a handler from a request to a reply.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type * as z from 'zod'
import { type Id, type IdPrefix, parseWireId } from '../../../lib/ids.ts'
import type { BatchMode, PreparedRequest } from '../../../pipeline/accept/prepared.ts'
import type { TokenScope } from '../../../resources/accounts/scopes.ts'
import type { Session } from '../../../resources/accounts/sessions.ts'
import type { FoundPage } from '../../../store/reading/list-page.ts'
import { notFound } from '../api-error.ts'
import type { RouteScope } from './route-scopes.ts'
import type { Reasons } from './warnings.ts'

/** Work on the body of a request that sends emails. */
export interface SendWork {
  accountId: Id
  /** Validation mode of a batch; null for a single email. */
  mode: BatchMode | null
  /** Whether to compute the hash of the body. */
  hashed: boolean
}

export interface SendBody {
  prepared: PreparedRequest
  /** SHA-256 of the canonical form of the body, null unless requested. */
  hash: Uint8Array | null
}

/** Null returns the parsed value unchanged. */
export type BodyWork = SendWork | null
export type BodyOf<W extends BodyWork> = W extends SendWork ? SendBody : unknown

/** Account and user that a request acts for. */
export type Credential =
  /** @param domain domain that the key is restricted to (see `bound-key.ts`) */
  | { kind: 'key'; accountId: Id; apiKeyId: Id; domain: string | null }
  | ({ kind: 'session' } & { accountId: Id; session: Session })
  | TokenCredential

/** Access token, whose scopes cover the route. */
export interface TokenCredential {
  kind: 'token'
  accountId: Id
  tokenId: Id
  name: string
  scopes: readonly TokenScope[]
  /** Whether the token has the rights of operators. */
  operator: boolean
  networks: readonly string[] | null
  expiresAt: number | null
}

/**
 * `key` allows an API key, an access token or a session; `session` allows an access token or a session. The
 * scopes of a route say which access tokens (`route-scopes.ts`).
 */
export type Access = 'public' | 'key' | 'session'

export interface ApiRequest<C = Credential> {
  method: string
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  headers: IncomingHttpHeaders
  clientAddress: string
  credential: C
  /**
   * Reads the JSON body, `{}` for an empty body. May be called once.
   * @throws ApiError
   */
  body(): Promise<unknown>
  /**
   * Streams the body, for routes that do not read JSON. May be called once. The iteration throws ApiError.
   */
  stream(): AsyncIterable<Buffer>
  /**
   * Reads the fields of a form except files, for pages.
   * @throws ApiError
   */
  form(): Promise<URLSearchParams>
  /**
   * Reads and prepares the body of a request that sends emails.
   * @throws ApiError
   */
  sendBody(work: SendWork): Promise<SendBody>
}

export interface ApiReply {
  status: number
  body: object
  headers?: Record<string, string>
}

/** A reply that is not JSON. */
export interface RawHttpReply {
  status: number
  headers: Record<string, string> & { 'content-type': string }
  content: Uint8Array | AsyncIterable<Uint8Array>
  /** Called once, when the content has been read, or will not be read any further. */
  done?(): void
}

/** Description of a route in `/openapi.json`. Tests validate replies against it. */
interface RouteDescription {
  summary: string
  /** Schema of the JSON body, absent if the route reads none. */
  body?: z.ZodType
  /** Media type of a body that is not JSON. */
  bodyType?: string
  /** Schemas of query parameters by name. All parameters are optional. */
  query?: Readonly<Record<string, z.ZodType>>
  /** Schemas of request headers by name. */
  headers?: Readonly<Record<string, z.ZodType>>
  /** Schema of the JSON reply, or media type of another reply, by status below 400. */
  replies: Readonly<Record<number, z.ZodType | string>>
}

interface RouteShape extends RouteDescription {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Path with `:name` parameters. */
  path: string
  /** Scopes that an access token needs, if they do not follow from the path and the method. */
  scopes?: readonly RouteScope[]
  /** Fields of the body that are accepted but have no effect, and why (see `warningsFor`). */
  notApplied?: Reasons
  /** Fields whose value an empty string or list removes, while null changes nothing. */
  emptyRemoves?: readonly string[]
  /** Whether the route works while the service is read-only; by default, GET does. */
  whileReadOnly?: boolean
  /** Maximum size of the body. Public routes ignore it and have a fixed limit. */
  bodyLimitBytes?: number
}

export type Route = RouteShape &
  (
    | { access: 'public'; handle(request: ApiRequest<Credential | null>): Promise<ApiReply | RawHttpReply> }
    | { access: 'key' | 'session'; handle(request: ApiRequest): Promise<ApiReply | RawHttpReply> }
  )

export function ok(body: object): ApiReply {
  return { status: 200, body }
}

export function created(body: object): ApiReply {
  return { status: 201, body }
}

export function listReply<T>(page: { total: number; offset: number }, data: readonly T[]): ApiReply {
  return ok({ object: 'list', total: page.total, has_more: page.offset + data.length < page.total, data })
}

/**
 * Converts a page of rows to a reply.
 * @param view returns what clients see of a row; absent if the rows are shown as they are
 */
export function pageReply<T>(
  { total, hasMore, rows }: FoundPage<T>,
  view: (row: T) => unknown = row => row,
): ApiReply {
  return ok({ object: 'list', total, has_more: hasMore, data: rows.map(row => view(row)) })
}

/** Returns the session of a request on a route with the scope `session`, which only sessions may use. */
export function sessionOf({ credential }: ApiRequest): Session {
  if (credential.kind !== 'session') throw new Error('this route was opened to programs by mistake')
  return credential.session
}

/** Names of the resources in error messages. */
const NOUNS = {
  acc: 'Account',
  att: 'Attachment',
  aud: 'Audience',
  brd: 'Broadcast',
  dom: 'Domain',
  eml: 'Email',
  evt: 'Webhook event',
  imp: 'Import',
  inb: 'Received message',
  log: 'Log',
  prp: 'Property',
  rte: 'Inbound route',
  seg: 'Segment',
  ses: 'Session',
  shr: 'Share',
  tok: 'Access token',
  top: 'Topic',
  wh: 'Webhook',
  whd: 'Webhook delivery',
} as const satisfies Partial<Record<IdPrefix, string>>

/**
 * Returns the id that a parameter of the path contains, with or without its prefix.
 *
 * @param noun name of the resource in the error
 * @throws ApiError 404
 */
export function pathId(
  { params }: Pick<ApiRequest, 'params'>,
  prefix: keyof typeof NOUNS,
  parameter = 'id',
  noun: string = NOUNS[prefix],
): Id {
  const id = parseWireId(prefix, params[parameter]!)
  if (!id) throw notFound(noun)
  return id
}
