/** Operations that create and delete API keys and access tokens. */
import * as z from 'zod'
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { findAccessTokenAccount } from '../../../resources/accounts/access-token-rows.ts'
import { newAccessToken } from '../../../resources/accounts/access-tokens.ts'
import { findApiKeyAccount } from '../../../resources/accounts/api-key-rows.ts'
import { newApiKey } from '../../../resources/accounts/api-keys.ts'
import type { Db } from '../../../store/model/schema.ts'
import { readNewToken } from '../../api/access-tokens/schema.ts'
import { timestamp } from '../../api/schema/timestamp.ts'
import { OperationRefused, operation } from './operation.ts'
import { accountOf } from './user-operations.ts'

export const keyOperations = {
  /** Creates the key for the given account, or for the only one. */
  'key.create': operation(
    z.object({
      name: lineText(50).min(1),
      account_id: z.string().nullable(),
      /** Domain that the key is restricted to. */
      domain: z.string().nullable(),
    }),
    async (parts, { name, account_id: accountText, domain }) => {
      const { db, run, clock, newId, apiKeyPrefix: prefix } = parts
      const accountId = await accountOf(parts, accountText)
      const domainId = domain === null ? null : await domainOf(db, accountId, domain)
      const now = clock.now()
      const { row, token } = newApiKey({ id: newId(now), accountId, name, domainId, prefix, now })
      if (!(await run('createApiKey', row))) throw new OperationRefused(`Account ${accountText} not found.`)
      return {
        id: wireId('key', row.id),
        name,
        account_id: wireId('acc', accountId),
        domain,
        token,
      }
    },
  ),

  /** Deletes a key of any account. */
  'key.delete': operation(z.object({ id: z.string() }), async ({ db, run }, { id: text }) => {
    const id = parseWireId('key', text)
    const accountId = id && (await findApiKeyAccount(db, id))
    if (!accountId || !(await run('deleteApiKey', { accountId, id })))
      throw new OperationRefused(`API key ${text} not found.`)
    return { id: wireId('key', id) }
  }),

  /** Creates the token for the given account, or for the only one. `token` is a body as for the API. */
  'token.create': operation(
    z.object({ token: z.record(z.string(), z.unknown()), account_id: z.string().nullable() }),
    async (parts, { token: body, account_id: accountText }) => {
      const { run, clock, newId, accessTokenPrefix: prefix } = parts
      const now = clock.now()
      const choice = readNewToken(body, now)
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
        expires_at: timestamp(choice.expiresAt),
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

async function domainOf(db: Db, accountId: Id, name: string): Promise<Id> {
  const domain = await db
    .selectFrom('domains')
    .select('id')
    .where('accountId', '=', accountId)
    .where('name', '=', name.toLowerCase())
    .executeTakeFirst()
  if (!domain) throw new OperationRefused(`The account has no domain ${name}.`)
  return domain.id
}
