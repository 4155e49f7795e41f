/** Further accounts and sessions, put straight into the database of a running service. */

import type { Id } from '../../src/lib/ids.ts'
import { newApiKey } from '../../src/resources/accounts/api-keys.ts'
import { SESSION_TOKEN_PREFIX } from '../../src/resources/accounts/sessions.ts'
import { createToken, hashToken } from '../../src/resources/accounts/tokens.ts'
import { insertRows } from './database.ts'
import type { Mailhorn } from './mailhorn.ts'
import { newId } from './new-id.ts'

export interface OtherAccount {
  apiKey: string
  /** A bearer session of its only user. */
  session: string
}

/** An account with a user, an API key and a session. Its user cannot sign in by password. */
export function addAccount(mailhorn: Mailhorn, name: string): OtherAccount {
  const now = mailhorn.clock.now()
  const [accountId, userId] = [newId(now), newId(now)]
  const { row, token } = newApiKey({
    id: newId(now),
    accountId,
    name: 'first',
    domainId: null,
    prefix: 're_',
    now,
  })
  insert(mailhorn, 'accounts', { id: accountId, name, plan: 'scale', created_at: now })
  insert(mailhorn, 'users', {
    id: userId,
    account_id: accountId,
    email: `${name}@accounts.example`,
    password_hash: 'none',
    operator: 0,
    created_at: now,
  })
  insert(mailhorn, 'api_keys', {
    id: row.id,
    account_id: accountId,
    name: row.name,
    token_hash: row.tokenHash,
    token_start: row.tokenStart,
    created_at: now,
  })
  return { apiKey: token, session: insertSession(mailhorn, userId, 'bearer') }
}

/** Another session of the admin, without the cost of a password check. */
export function openSession(mailhorn: Mailhorn, kind: 'bearer' | 'cookie'): string {
  const [user] = mailhorn.rows<{ id: Id }>('select id from users where operator = 1')
  return insertSession(mailhorn, user!.id, kind)
}

function insertSession(mailhorn: Mailhorn, userId: Id, kind: string): string {
  const token = createToken(SESSION_TOKEN_PREFIX)
  const now = mailhorn.clock.now()
  insert(mailhorn, 'sessions', {
    id: newId(now),
    user_id: userId,
    token_hash: hashToken(token),
    kind,
    created_at: now,
    last_seen_at: now,
  })
  return token
}

function insert(mailhorn: Mailhorn, table: string, row: Record<string, unknown>) {
  insertRows(mailhorn, table, [row])
}
