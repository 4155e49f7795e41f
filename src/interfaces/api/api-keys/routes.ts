/** Serves the API keys of an account. The token is shown only in the reply to the creation. */
import * as z from 'zod'
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import type { ApiKeys, ApiKeyView } from '../../../resources/accounts/api-keys.ts'
import { ApiError, notFound } from '../api-error.ts'
import { created, listReply, ok, type Route } from '../route.ts'
import { bodyReader } from '../schema/read.ts'
import { deletedSchema, idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const createKeySchema = z.object({
  name: z
    .string()
    .min(1)
    .max(50)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters'),
  domain_id: z.string().optional(),
})

const keySchema = z.object({
  object: z.literal('api_key'),
  id: idSchema('key'),
  name: z.string(),
  token_start: z.string(),
  domain_id: idSchema('dom').nullable(),
  created_at: timeSchema,
  last_used_at: timeSchema.nullable(),
})
const newKeySchema = keySchema
  .pick({ object: true, id: true, name: true, domain_id: true })
  .extend({ token: z.string() })

const readCreateKey = bodyReader(createKeySchema, { emptyMeansAbsent: ['name'] })

export function apiKeyRoutes({ apiKeys }: { apiKeys: ApiKeys }): Route[] {
  return [
    {
      method: 'POST',
      path: '/api-keys',
      access: 'session',
      summary: 'Create an API key; the reply contains its token, once',
      body: createKeySchema,
      replies: { 201: newKeySchema },
      async handle(request) {
        const { name, domainId: text } = readCreateKey(await request.body())
        const domainId = text === undefined ? null : readDomainId(text)
        const key = await apiKeys.create(request.credential.accountId, { name, domainId })
        if (!key) throw unknownDomain()
        return created({
          object: 'api_key',
          id: wireId('key', key.id),
          name,
          domain_id: domainId && wireId('dom', domainId),
          token: key.token,
        })
      },
    },
    {
      method: 'GET',
      path: '/api-keys',
      access: 'session',
      summary: 'List API keys',
      replies: { 200: listSchema(keySchema) },
      async handle({ credential: { accountId } }) {
        const keys = await apiKeys.list(accountId)
        return listReply({ total: keys.length, offset: 0 }, keys.map(keyView))
      },
    },
    {
      method: 'DELETE',
      path: '/api-keys/:id',
      access: 'session',
      summary: 'Delete an API key',
      replies: { 200: deletedSchema('api_key', 'key') },
      async handle({ params, credential: { accountId } }) {
        const id = parseWireId('key', params.id!)
        if (!id || !(await apiKeys.delete(accountId, id))) throw notFound('API key')
        return ok({ object: 'api_key', id: wireId('key', id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 */
function readDomainId(text: string): Id {
  const id = parseWireId('dom', text)
  if (!id) throw unknownDomain()
  return id
}

function unknownDomain(): ApiError {
  const message = 'Domain not found (`domain_id`).'
  return new ApiError(404, 'not_found', message, { errors: [{ path: 'domain_id', message }] })
}

function keyView({
  id,
  name,
  tokenStart,
  domainId,
  createdAt,
  lastUsedAt,
}: ApiKeyView): z.output<typeof keySchema> {
  return {
    object: 'api_key',
    id: wireId('key', id),
    name,
    token_start: tokenStart,
    domain_id: domainId && wireId('dom', domainId),
    created_at: timestamp(createdAt),
    last_used_at: timestamp(lastUsedAt),
  }
}
