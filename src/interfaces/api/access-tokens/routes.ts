/**
 * Serves the access tokens of an account to its users. The token is shown only in the reply to the creation.
 * Programs cannot use these routes, so that a token cannot create a wider one.
 */
import { wireId } from '../../../lib/ids.ts'
import type { AccessTokens } from '../../../resources/accounts/access-tokens.ts'
import { ApiError, orNotFound } from '../api-error.ts'
import { isOperator } from '../auth/operator.ts'
import { type ApiRequest, created, listReply, ok, pathId, type Route, sessionOf } from '../route/route.ts'
import { deletedSchema, listSchema } from '../schema/reply-schemas.ts'
import {
  createdTokenSchema,
  newTokenSchema,
  readNewToken,
  readRename,
  refuseFixedFields,
  renameSchema,
  tokenSchema,
  tokenView,
} from './schema.ts'

interface AccessTokenRoutesOptions {
  accessTokens: AccessTokens
  now(): number
}

export function accessTokenRoutes({ accessTokens, now }: AccessTokenRoutesOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/access-tokens',
      access: 'session',
      summary: 'Create an access token; the reply contains its secret, once',
      body: newTokenSchema,
      replies: { 201: createdTokenSchema },
      async handle(request) {
        const choice = readNewToken(await request.body(), now())
        if (choice.operator && !isOperator(request)) throw operatorOnly()
        const { accountId, userId } = sessionOf(request)
        const { token, view } = await accessTokens.create(accountId, userId, choice)
        return created({ ...tokenView(view), token })
      },
    },
    {
      method: 'GET',
      path: '/access-tokens',
      access: 'session',
      summary: 'List access tokens, newest first',
      replies: { 200: listSchema(tokenSchema) },
      async handle({ credential: { accountId } }) {
        const tokens = await accessTokens.list(accountId)
        return listReply({ total: tokens.length, offset: 0 }, tokens.map(tokenView))
      },
    },
    {
      method: 'GET',
      path: '/access-tokens/:id',
      access: 'session',
      summary: 'Retrieve an access token, without its secret',
      replies: { 200: tokenSchema },
      handle: async request => ok(tokenView(await find(accessTokens, request))),
    },
    {
      method: 'PATCH',
      path: '/access-tokens/:id',
      access: 'session',
      summary: 'Rename an access token',
      body: renameSchema,
      replies: { 200: tokenSchema },
      async handle(request) {
        const id = pathId(request, 'tok')
        const body = await request.body()
        refuseFixedFields(body)
        const { name } = readRename(body)
        orNotFound(await accessTokens.rename(request.credential.accountId, id, name), 'Access token')
        return ok(tokenView(await find(accessTokens, request)))
      },
    },
    {
      method: 'DELETE',
      path: '/access-tokens/:id',
      access: 'session',
      summary: 'Revoke an access token',
      replies: { 200: deletedSchema('access_token', 'tok') },
      async handle(request) {
        const id = pathId(request, 'tok')
        orNotFound(await accessTokens.delete(request.credential.accountId, id), 'Access token')
        return ok({ object: 'access_token', id: wireId('tok', id), deleted: true })
      },
    },
  ]
}

/** @throws ApiError 404 */
async function find(accessTokens: AccessTokens, request: ApiRequest) {
  const id = pathId(request, 'tok')
  return orNotFound(await accessTokens.get(request.credential.accountId, id), 'Access token')
}

function operatorOnly(): ApiError {
  const message = 'Only an operator may grant `operator` to an access token.'
  return new ApiError(403, 'invalid_access', message, { errors: [{ path: 'operator', message }] })
}
