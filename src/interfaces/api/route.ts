/** What a route is: a method, a path, who may use it, and a function from a request to a reply. */
import type { IncomingHttpHeaders } from 'node:http'
import type * as z from 'zod'
import type { Id } from '../../lib/ids.ts'
import type { Session } from '../../resources/accounts/sessions.ts'
import type { FoundPage } from '../../store/list-page.ts'
import type { SendBody, SendWork } from './body/work.ts'

/** Account and user that a request acts for. */
export type Credential =
  /** @param domain name of the only domain the key acts for, see `bound-key.ts` */
  | { kind: 'key'; accountId: Id; apiKeyId: Id; domain: string | null }
  | ({ kind: 'session' } & { accountId: Id; session: Session })

/** `key` allows an API key or a session; `session` allows a session only. */
export type Access = 'public' | 'key' | 'session'

export interface ApiRequest<C = Credential> {
  method: string
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  headers: IncomingHttpHeaders
  clientAddress: string
  credential: C
  /** The JSON body, `{}` when there is none; read once. @throws ApiError */
  body(): Promise<unknown>
  /**
   * In place of `body`, by routes that take no JSON: the bytes as they come, read once. What reads them
   * throws ApiError.
   */
  stream(): AsyncIterable<Uint8Array>
  /** In place of `body`, by pages: the fields of a form; files are left out. @throws ApiError */
  form(): Promise<URLSearchParams>
  /** In place of `body`, by routes that send: what the body asks for, made ready. @throws ApiError */
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
  /** Called once when nothing more will be read of the content, or none of it was. */
  done?(): void
}

/** What `/openapi.json` says of a route, and what tests hold its replies against. */
interface RouteDescription {
  summary: string
  /** Of the request's JSON body, where one is read. */
  body?: z.ZodType
  /** Media type of the request's body, where it is no JSON. */
  bodyType?: string
  /** By the names of query parameters; missing ones are optional or have a default. */
  query?: Readonly<Record<string, z.ZodType>>
  /** Request headers the route looks at, by their names. */
  headers?: Readonly<Record<string, z.ZodType>>
  /** By status below 400: the JSON it answers with, or the media type of what is no JSON. */
  replies: Readonly<Record<number, z.ZodType | string>>
}

interface RouteShape extends RouteDescription {
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** With `:name` parameters. */
  path: string
  /**
   * Longest request body; the default serves all but sends and imports, and public routes have a limit of
   * their own.
   */
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

/** A page of rows, each as a client reads it. */
export function pageReply<T>({ total, hasMore, rows }: FoundPage<T>, view: (row: T) => object): ApiReply {
  return ok({ object: 'list', total, has_more: hasMore, data: rows.map(row => view(row)) })
}

/** The session of a request on a route that takes nothing else. */
export function sessionOf({ credential }: ApiRequest): Session {
  if (credential.kind !== 'session') throw new Error('this route was opened to API keys by mistake')
  return credential.session
}
