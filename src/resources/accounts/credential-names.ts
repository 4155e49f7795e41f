/** Names of the credentials of programs, for lists that show who made a request. */
import { type Id, idKey } from '../../lib/ids.ts'
import type { Db } from '../../store/model/schema.ts'

/** Returns the names of the API keys and access tokens of an account by `idKey`. */
export async function credentialNames(db: Db, accountId: Id): Promise<Map<string, string>> {
  const [keys, tokens] = await Promise.all(
    (['apiKeys', 'accessTokens'] as const).map(table =>
      db.selectFrom(table).select(['id', 'name']).where('accountId', '=', accountId).execute(),
    ),
  )
  return new Map([...keys!, ...tokens!].map(({ id, name }) => [idKey(id), name]))
}
