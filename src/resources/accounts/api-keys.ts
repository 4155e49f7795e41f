/**
 * API keys: create, authenticate, list and delete. Recent keys are cached, and their time of last use is
 * written lazily. Called by the API (`credentials.ts`) and SMTP submission.
 */
import type { Clock, Timer } from '../../lib/clock.ts'
import { type Id, type IdSource, idKey } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Run } from '../../store/command.ts'
import type { Find } from '../../store/read.ts'
import type { ApiKeyRow, Db } from '../../store/schema.ts'
import { type apiKeyCommands, findKeyHolder, type KeyHolder, listApiKeys } from './api-key-rows.ts'
import { createToken, hashToken } from './tokens.ts'

/** Fields of an API key that may be shown. */
export type ApiKeyView = Pick<
  ApiKeyRow,
  'id' | 'name' | 'tokenStart' | 'domainId' | 'createdAt' | 'lastUsedAt'
>

export interface ApiKeys {
  /**
   * @param domainId domain that the key is restricted to
   * @returns undefined if the account has no such domain
   */
  create(
    accountId: Id,
    key: { name: string; domainId: Id | null },
  ): Promise<{ id: Id; token: string } | undefined>
  find(token: string): Promise<KeyHolder | undefined>
  /** Drops cached keys after a deletion. */
  forget(): void
  list(accountId: Id): Promise<ApiKeyView[]>
  /** Resolves to false if the account has no such key. */
  delete(accountId: Id, id: Id): Promise<boolean>
  /** Writes the remaining times of last use. */
  close(): Promise<void>
}

const SHOWN_CHARACTERS = 8
const TOUCH_EVERY_MS = 60_000
const REMEMBERED_MAX = 1_000

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

export function createApiKeys({ db, find: lookUp, run, clock, newId, log, prefix }: ApiKeyOptions): ApiKeys {
  const used = new Map<string, Id>()
  /** Cached keys by the hash of their token. */
  const remembered = new Map<string, KeyHolder>()
  let timer: Timer | undefined

  const flush = async () => {
    timer?.cancel()
    timer = undefined
    if (used.size === 0) return
    const ids = [...used.values()]
    used.clear()
    try {
      await run('touchApiKeys', { ids, at: clock.now() })
    } catch (error) {
      log.warn(
        { event: 'api_key_use_not_recorded', err: error },
        'The last use of API keys could not be recorded',
      )
    }
  }
  const flushLater = () => {
    timer ??= clock.timer(TOUCH_EVERY_MS, () => void flush())
  }

  const holderOf = async (tokenHash: Uint8Array): Promise<KeyHolder | undefined> => {
    const hash = idKey(tokenHash)
    const known = remembered.get(hash)
    if (known) return known
    const key = await findKeyHolder(lookUp, tokenHash)
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    if (key) remembered.set(hash, key)
    return key
  }

  return {
    async create(accountId, { name, domainId }) {
      const now = clock.now()
      const { row, token } = newApiKey({ id: newId(now), accountId, name, domainId, prefix, now })
      return (await run('createApiKey', row)) ? { id: row.id, token } : undefined
    },
    async find(token) {
      const key = await holderOf(hashToken(token))
      if (!key) return undefined
      used.set(idKey(key.id), key.id)
      flushLater()
      return key
    },
    forget: () => remembered.clear(),
    list: accountId => listApiKeys(db, accountId),
    delete: (accountId, id) => run('deleteApiKey', { accountId, id }),
    close: flush,
  }
}
