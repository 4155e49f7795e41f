/**
 * Access tokens: create, authenticate, list, rename and delete. Programs use them to manage an account,
 * within the scopes of the token. Called by the API (`credentials.ts`, `access-tokens/`) and SMTP submission.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id, IdSource } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Run } from '../../store/model/command.ts'
import type { AccessTokenRow, Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import {
  type accessTokenCommands,
  entriesOf,
  findAccessToken,
  findAccessTokenAccount,
  findTokenHolder,
  isOperatorStill,
  listAccessTokens,
  type ShownToken,
  scopesOf,
  type TokenHolder,
} from './access-token-rows.ts'
import { createCredentialMemory } from './credential-memory.ts'
import type { TokenScope } from './scopes.ts'
import { createCheckedToken, hashToken, isCheckedToken } from './tokens.ts'

/** What the creator of an access token chooses. */
export interface TokenChoice {
  name: string
  /** At least one. */
  scopes: readonly TokenScope[]
  /** Grants the rights of operators. The caller has checked that the creator has them. */
  operator: boolean
  /** Addresses and CIDR ranges that the token may be used from, at least one; null for any address. */
  networks: readonly string[] | null
  /** Null for a token that does not expire. */
  expiresAt: number | null
}

/** Fields of an access token that may be shown. */
export interface AccessTokenView extends TokenChoice {
  id: Id
  accountId: Id
  /** Creator; null for a token of the command line. */
  userId: Id | null
  tokenStart: string
  createdAt: number
  lastUsedAt: number | null
}

/** Why a token that exists may not be used for a request. */
export type TokenObstacle = { kind: 'expired'; at: number } | { kind: 'elsewhere'; address: string }

/** Characters that are kept for display, beyond the prefix. */
const SHOWN_CHARACTERS = 5

interface AccessTokenOptions {
  db: Db
  find: Find
  run: Run<typeof accessTokenCommands>
  clock: Clock
  newId: IdSource
  log: Log
  /** Prefix of new access tokens, which no other credential begins with. */
  prefix: string
}

/** Creates an access token. The caller stores it; the token is shown once. */
export function newAccessToken(
  choice: TokenChoice,
  options: { id: Id; accountId: Id; userId: Id | null; prefix: string; now: number },
): { row: AccessTokenRow; token: string } {
  const { prefix, now, ...owner } = options
  const token = createCheckedToken(prefix)
  return {
    token,
    row: {
      ...owner,
      name: choice.name,
      tokenHash: hashToken(token),
      tokenStart: token.slice(0, prefix.length + SHOWN_CHARACTERS),
      scopes: JSON.stringify(choice.scopes),
      operator: choice.operator ? 1 : 0,
      networks: choice.networks && JSON.stringify(choice.networks),
      expiresAt: choice.expiresAt,
      createdAt: now,
      lastUsedAt: null,
    },
  }
}

/**
 * Tells why a token may not be used now from an address, or undefined if it may.
 * @param address in the form that a socket reports
 */
export function obstacleTo(
  { expiresAt, networks }: Pick<TokenHolder, 'expiresAt' | 'networks'>,
  { address, now }: { address: string; now: number },
): TokenObstacle | undefined {
  if (expiresAt !== null && expiresAt <= now) return { kind: 'expired', at: expiresAt }
  if (networks && !networks.contains(address)) return { kind: 'elsewhere', address }
  return undefined
}

export type AccessTokens = ReturnType<typeof createAccessTokens>

export function createAccessTokens(options: AccessTokenOptions) {
  const { db, find, run, clock, newId, log, prefix } = options
  const memory = createCredentialMemory({
    load: tokenHash => findTokenHolder(find, tokenHash),
    writeUse: (ids, at) => run('touchAccessTokens', { ids, at }),
    onUseNotWritten: error =>
      log.warn(
        { event: 'access_token_use_not_recorded', err: error },
        'The last use of access tokens could not be recorded',
      ),
    clock,
  })
  return {
    /** @param userId creator */
    async create(accountId: Id, userId: Id | null, choice: TokenChoice) {
      const now = clock.now()
      const { row, token } = newAccessToken(choice, { id: newId(now), accountId, userId, prefix, now })
      await run('createAccessToken', row)
      return { token, view: viewOf({ ...row, creatorIsOperator: 1 }) }
    },
    /**
     * Tells whether a text is meant to be an access token: it has the prefix, or another prefix, which the
     * setting may have had before, and the checksum.
     */
    isMeant: (text: string) => text.startsWith(prefix) || isCheckedToken(text),
    /** Tells whether the checksum of a text is right, without a look-up. */
    isWellFormed: isCheckedToken,
    /** Returns undefined for a text with a wrong checksum, too. The caller checks for an obstacle. */
    async find(text: string): Promise<TokenHolder | undefined> {
      const holder = isCheckedToken(text) ? await memory.find(text) : undefined
      // the creator may have lost the rights since, so they are read for every request
      if (!holder?.operator || (await isOperatorStill(find, holder.userId))) return holder
      return { ...holder, operator: false }
    },
    /** Notes that a token was used, which is written within a minute. */
    noteUse: memory.noteUse,
    /** Drops cached tokens after a deletion. */
    forget: memory.forget,
    list: async (accountId: Id) => (await listAccessTokens(db, accountId)).map(viewOf),
    async get(accountId: Id, id: Id) {
      const row = await findAccessToken(db, accountId, id)
      return row && viewOf(row)
    },
    /** Tells whether a token still exists. */
    exists: async (id: Id) => (await findAccessTokenAccount(db, id)) !== undefined,
    /** Resolves to false if the account has no such token. */
    rename: (accountId: Id, id: Id, name: string) => run('renameAccessToken', { accountId, id, name }),
    /** Resolves to false if the account has no such token. */
    delete: (accountId: Id, id: Id) => run('deleteAccessToken', { accountId, id }),
    /** Writes the remaining times of last use. */
    close: memory.close,
  }
}

/** `operator` is whether the rights count now. */
export function viewOf(row: ShownToken): AccessTokenView {
  const { id, accountId, userId, name, tokenStart, expiresAt, createdAt, lastUsedAt, creatorIsOperator } = row
  return {
    ...{ id, accountId, userId, name, tokenStart, expiresAt, createdAt, lastUsedAt },
    scopes: scopesOf(row),
    operator: row.operator === 1 && (userId === null || creatorIsOperator === 1),
    networks: entriesOf(row),
  }
}
