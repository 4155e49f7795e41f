/** Dashboard sessions: opened by a password, kept alive by use, ended by idleness. */
import type { Clock } from '../lib/clock.ts'
import type { Id, IdSource } from '../lib/ids.ts'
import type { Run } from '../store/command.ts'
import type { Db, SessionRow, UserRow } from '../store/schema.ts'
import { findSession, findUserByEmail, type Person, type userCommands } from '../store/users.ts'
import type { Passwords } from './password.ts'
import { createSignInGuard } from './sign-in-guard.ts'
import { createToken, hashToken } from './tokens.ts'

export interface Session extends Person {
  sessionId: Id
  kind: SessionRow['kind']
}

export type SignIn =
  | { kind: 'signed-in'; token: string; user: UserRow }
  | { kind: 'refused' }
  /** @param waitMs until the next try is heard */
  | { kind: 'too-many'; waitMs: number }

export interface Sessions {
  /** Checks the password of the user with this folded address. */
  signIn(attempt: {
    email: string
    password: string
    clientAddress: string
    kind: SessionRow['kind']
  }): Promise<SignIn>
  /** Another session for a user who has just signed in. */
  open(userId: Id, kind: SessionRow['kind']): Promise<string>
  /** The session a token opens, or undefined when it has none or has expired. */
  find(token: string): Promise<Session | undefined>
  end(sessionId: Id): Promise<void>
}

/** Tells session tokens from API keys, which share the `Authorization` header. */
export const SESSION_TOKEN_PREFIX = 'phs_'
export const SESSION_IDLE_MS = 14 * 86_400_000
const TOUCH_EVERY_MS = 5 * 60_000

interface SessionOptions {
  db: Db
  run: Run<typeof userCommands>
  clock: Clock
  newId: IdSource
  passwords: Passwords
}

export function createSessions({ db, run, clock, newId, passwords }: SessionOptions): Sessions {
  const guard = createSignInGuard(clock)

  const open = async (userId: Id, kind: SessionRow['kind']) => {
    const token = createToken(SESSION_TOKEN_PREFIX)
    const now = clock.now()
    const tokenHash = hashToken(token)
    await run('createSession', { id: newId(now), userId, tokenHash, kind, createdAt: now, lastSeenAt: now })
    return token
  }

  return {
    open,
    async signIn({ email, password, clientAddress, kind }) {
      const waitMs = guard.waitMs(clientAddress, email)
      if (waitMs > 0) return { kind: 'too-many', waitMs }
      const user = await findUserByEmail(db, email)
      const isRight = await passwords.verify(password, user?.passwordHash)
      const stillMs = guard.waitMs(clientAddress, email) // guesses made at once learn no more than guesses in a row
      if (stillMs > 0) return { kind: 'too-many', waitMs: stillMs }
      if (!isRight || !user) {
        guard.failed(clientAddress, email)
        return { kind: 'refused' }
      }
      guard.succeeded(clientAddress, email)
      return { kind: 'signed-in', token: await open(user.id, kind), user }
    },
    async find(token) {
      const session = await findSession(db, hashToken(token))
      const now = clock.now()
      if (!session || now - session.lastSeenAt > SESSION_IDLE_MS) return undefined
      if (now - session.lastSeenAt > TOUCH_EVERY_MS) await run('touchSession', { id: session.id, at: now })
      const { id: sessionId, kind, userId, accountId, email, operator } = session
      return { sessionId, kind, userId, accountId, email, operator }
    },
    end: id => run('endSession', { id }),
  }
}
