/** Operations that create and delete API keys. */
import * as z from 'zod'
import { type Id, parseWireId, wireId } from '../../../lib/ids.ts'
import { lineText } from '../../../lib/line-text.ts'
import { findApiKeyAccount } from '../../../resources/accounts/api-key-rows.ts'
import { newApiKey } from '../../../resources/accounts/api-keys.ts'
import type { Db } from '../../../store/model/schema.ts'
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
