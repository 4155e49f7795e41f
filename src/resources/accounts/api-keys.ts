/**
 * API keys: create, authenticate, list, rename and delete. Recent keys are cached, and their time of last use
 * is written lazily. Called by the API (`credentials.ts`) and SMTP submission.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Run } from '../../store/model/command.ts'
import type { ApiKeyRow, Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import { type apiKeyCommands, findKeyHolder, type KeyHolder, listApiKeys } from './api-key-rows.ts'
import { createCredentialMemory } from './credential-memory.ts'
import { createToken, hashToken } from './tokens.ts'

/** Fields of an API key that may be shown. */
export type ApiKeyView = Pick<
  ApiKeyRow,
  'id' | 'name' | 'tokenStart' | 'domainId' | 'createdAt' | 'lastUsedAt'
>

const SHOWN_CHARACTERS = 8

interface ApiKeyOptions {
  db: Db
  find: Find
  run: Run<typeof apiKeyCommands>
  clock: Clock
  newId: IdSource
  log: Log
  /** Prefix of every key. */
  prefix: string
}

/** Creates a key for an account. The caller stores it; the token is shown once. */
export function newApiKey(options: {
  id: Id
  accountId: Id
  name: string
  domainId: Id | null
  prefix: string
  now: number
}): { row: ApiKeyRow; token: string } {
  const { id, accountId, name, domainId, prefix, now } = options
  const token = createToken(prefix)
  const tokenStart = token.slice(0, SHOWN_CHARACTERS)
  const tokenHash = hashToken(token)
  return {
    token,
    row: { id, accountId, name, tokenHash, tokenStart, domainId, createdAt: now, lastUsedAt: null },
  }
}

export type ApiKeys = ReturnType<typeof createApiKeys>

export function createApiKeys({ db, find: lookUp, run, clock, newId, log, prefix }: ApiKeyOptions) {
  const memory = createCredentialMemory({
    load: tokenHash => findKeyHolder(lookUp, tokenHash),
    writeUse: (ids, at) => run('touchApiKeys', { ids, at }),
    onUseNotWritten: error =>
      log.warn(
        { event: 'api_key_use_not_recorded', err: error },
        'The last use of API keys could not be recorded',
      ),
    clock,
  })
  return {
    /** Resolves to undefined if the account does not have the domain that the key is restricted to. */
    async create(accountId: Id, { name, domainId }: { name: string; domainId: Id | null }) {
      const now = clock.now()
      const { row, token } = newApiKey({ id: newId(now), accountId, name, domainId, prefix, now })
      return (await run('createApiKey', row)) ? { id: row.id, token } : undefined
    },
    async find(token: string): Promise<KeyHolder | undefined> {
      const key = await memory.find(token)
      if (key) memory.noteUse(key.id)
      return key
    },
    /** Drops cached keys after a deletion. */
    forget: memory.forget,
    list: (accountId: Id): Promise<ApiKeyView[]> => listApiKeys(db, accountId),
    /** Resolves to the key; undefined if the account has no such key. */
    rename: (accountId: Id, id: Id, name: string): Promise<ApiKeyView | undefined> =>
      run('renameApiKey', { accountId, id, name }),
    /** Resolves to false if the account has no such key. */
    delete: (accountId: Id, id: Id) => run('deleteApiKey', { accountId, id }),
    /** Writes the remaining times of last use. */
    close: memory.close,
  }
}
