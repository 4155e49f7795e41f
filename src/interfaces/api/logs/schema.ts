/** Schemas, queries and views of the request log. */
import * as z from 'zod'
import { type Id, type IdPrefix, idKey, idTime, parseAnyId, parseWireId, wireId } from '../../../lib/ids.ts'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import type { RequestDetail, RequestFilter } from '../../../resources/request-log/list.ts'
import type { LoggedRequestRow } from '../../../store/model/schema/requests.ts'
import { cursorPageQuery } from '../schema/cursor.ts'
import { readParameter } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

/** Kinds of credentials with the prefixes of their ids. */
const CREDENTIALS = { key: 'key', token: 'tok', session: 'ses' } as const satisfies Record<string, IdPrefix>
const KINDS = ['key', 'token', 'session'] as const satisfies (keyof typeof CREDENTIALS)[]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const text = (description: string) => z.string().optional().meta({ description })
const { limit, after, before } = cursorPageQuery('log')
export const requestLogQuery = {
  ...{ limit, after, before },
  status: text('Status such as `422`, or class of statuses such as `4xx`.'),
  method: z.enum(METHODS).optional(),
  path: text('Path such as `/emails`; `/emails/*` matches all paths that begin with `/emails/`.'),
  q: text('Id of a request or of an email or another resource that it was about, or a part of a path.'),
  credential: text('Id of the API key, access token or session.'),
  api_key_id: idSchema('key').optional(),
  created_after: text('ISO 8601 time or date.'),
  created_before: text('ISO 8601 time or date.'),
}

export const loggedRequestSchema = z
  .object({
    object: z.literal('log'),
    id: idSchema('log').meta({ description: 'The UUID is the `x-request-id` of the reply.' }),
    created_at: timeSchema,
    method: z.string(),
    endpoint: z.string().meta({ description: 'Path of the request.' }),
    response_status: z.int(),
    error_name: z.string().nullable(),
    user_agent: z.string().nullable(),
    client_address: z.string().nullable(),
    duration_ms: z.int(),
    resource_id: z.string().nullable().meta({
      description: 'Id of what a POST request has created or changed, such as the email of a send.',
    }),
    credential: z.object({
      kind: z.enum(KINDS),
      id: z.string(),
      name: z.string().nullable().meta({
        description: 'Name of the API key or access token; null for a session and after it was deleted.',
      }),
    }),
  })
  .meta({ id: 'Log' })
export const requestDetailSchema = loggedRequestSchema
  .extend({
    query: z.string().nullable().meta({ description: 'Query string without `?`.' }),
    bodies_stored: z.boolean().meta({
      description: 'Whether the bodies were stored. Bodies that are not JSON are null, too.',
    }),
    request_body: z.unknown().meta({
      description: 'JSON body without secrets; contents of attachments are replaced by their sizes.',
    }),
    request_body_truncated: z.boolean(),
    response_body: z.unknown(),
    response_body_truncated: z.boolean(),
  })
  .meta({ id: 'LogDetail' })
export const requestListSchema = z.object({
  object: z.literal('list'),
  has_more: z.boolean(),
  data: z.array(loggedRequestSchema),
})

/**
 * Empty parameters count as absent.
 * @throws ApiError 422 naming the parameter
 */
export function readRequestFilter(query: URLSearchParams): RequestFilter {
  const read = <T>(name: string, parse: (text: string) => T | undefined, rule: string) =>
    readParameter(query, name, parse, rule)
  return {
    status: read('status', statusesOf, 'a status such as `422`, or a class such as `4xx`'),
    method: read('method', methodOf, `one of ${METHODS.join(', ')}`),
    path: read('path', pathOf, 'a path that begins with `/`'),
    search: read('q', searchOf, 'an id or a part of a path'),
    credentialId:
      read('credential', credentialOf, 'the id of an API key, access token or session') ??
      read('api_key_id', text => parseWireId('key', text), "an API key's id"),
    createdFrom: read('created_after', timeOf, TIME),
    createdBefore: read('created_before', timeOf, TIME),
  }
}

/** @param names names of credentials by `idKey` */
export function loggedRequestView(
  row: LoggedRequestRow,
  names: ReadonlyMap<string, string>,
): z.output<typeof loggedRequestSchema> {
  const kind = row.credentialKind as keyof typeof CREDENTIALS
  return {
    object: 'log',
    id: wireId('log', row.id),
    created_at: timestamp(idTime(row.id)),
    method: row.method,
    endpoint: row.path,
    response_status: row.status,
    error_name: row.errorName,
    user_agent: row.userAgent,
    client_address: row.clientAddress ?? null,
    duration_ms: row.durationMs,
    resource_id: row.resourceId,
    credential: {
      ...{ kind, id: wireId(CREDENTIALS[kind], row.credentialId) },
      name: names.get(idKey(row.credentialId)) ?? null,
    },
  }
}

export function requestDetailView(
  { row, bodies }: RequestDetail,
  names: ReadonlyMap<string, string>,
): z.output<typeof requestDetailSchema> {
  return {
    ...loggedRequestView(row, names),
    query: row.query,
    bodies_stored: bodies !== undefined,
    request_body: bodies?.request ?? null,
    request_body_truncated: bodies?.requestCut ?? false,
    response_body: bodies?.response ?? null,
    response_body_truncated: bodies?.responseCut ?? false,
  }
}

const TIME = 'an ISO 8601 date, or a time with an offset or `Z`'

function statusesOf(text: string): RequestFilter['status'] {
  if (/^[1-5]xx$/i.test(text)) return { from: Number(text[0]) * 100, to: Number(text[0]) * 100 + 99 }
  return /^[1-5]\d\d$/.test(text) ? { from: Number(text), to: Number(text) } : undefined
}

function methodOf(text: string): string | undefined {
  return METHODS.find(method => method === text.toUpperCase())
}

function pathOf(text: string): RequestFilter['path'] {
  if (!text.startsWith('/')) return undefined
  return text.endsWith('*') ? { text: text.slice(0, -1), isPrefix: true } : { text, isPrefix: false }
}

function searchOf(text: string): RequestFilter['search'] {
  const id = parseAnyId(text.trim())
  return id ? { id } : { path: text.trim() }
}

function credentialOf(text: string): Id | undefined {
  for (const kind of KINDS) {
    const id = parseWireId(CREDENTIALS[kind], text)
    if (id) return id
  }
  return undefined
}

/** A date stands for its start in UTC. */
function timeOf(text: string): number | undefined {
  return parseIsoTime(text) ?? parseIsoTime(`${text}T00:00Z`)
}
