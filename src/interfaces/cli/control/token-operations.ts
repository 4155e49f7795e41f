/** Operations that create and delete access tokens. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { findAccessTokenAccount } from '../../../resources/accounts/access-token-rows.ts'
import { newAccessToken } from '../../../resources/accounts/access-tokens.ts'
import { readNewToken } from '../../api/access-tokens/schema.ts'
import { ApiError } from '../../api/api-error.ts'
import { OperationRefused, operation } from './operation.ts'
import { accountOf } from './user-operations.ts'

export const tokenOperations = {
  /** Creates the token for the given account, or for the only one. `token` is a body as for the API. */
  'token.create': operation(
    z.object({ token: z.record(z.string(), z.unknown()), account_id: z.string().nullable() }),
    async (parts, { token: body, account_id: accountText }) => {
      const { run, clock, newId, accessTokenPrefix: prefix } = parts
      const now = clock.now()
      const choice = readChoice(body, now)
      const accountId = await accountOf(parts, accountText)
      const { row, token } = newAccessToken(choice, { id: newId(now), accountId, userId: null, prefix, now })
      await run('createAccessToken', row)
      return {
        id: wireId('tok', row.id),
        name: choice.name,
        account_id: wireId('acc', accountId),
        scopes: [...choice.scopes],
        operator: choice.operator,
        networks: choice.networks && [...choice.networks],
        expires_at: choice.expiresAt === null ? null : new Date(choice.expiresAt).toISOString(),
        token,
      }
    },
  ),

  /** Deletes a token of any account. */
  'token.delete': operation(z.object({ id: z.string() }), async ({ db, run }, { id: text }) => {
    const id = parseWireId('tok', text)
    const accountId = id && (await findAccessTokenAccount(db, id))
    if (!accountId || !(await run('deleteAccessToken', { accountId, id })))
      throw new OperationRefused(`Access token ${text} not found.`)
    return { id: wireId('tok', id) }
  }),
}

/** @throws OperationRefused */
function readChoice(body: unknown, now: number) {
  try {
    return readNewToken(body, now)
  } catch (error) {
    if (error instanceof ApiError) throw new OperationRefused(error.message)
    throw error
  }
}
