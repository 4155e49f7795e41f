/** Dashboard sessions: opened by a password, kept alive by use, ended by idleness or a new password. */
import type { Clock } from '../lib/clock.ts'
import { type Id, type IdSource, idKey } from '../lib/ids.ts'
import {
  findSession,
  findUser,
  findUserByEmail,
  isOpenSession,
  listSessions,
  type Person,
  type SessionFacts,
  type userCommands,
} from '../store/accounts/users.ts'
import type { Run } from '../store/command.ts'
import type { Db, SessionRow, UserRow } from '../store/schema.ts'
import { createGuessGuard } from './guess-guard.ts'
import type { Passwords } from './password.ts'
import { createToken, hashToken } from './tokens.ts'

export interface Session extends Person {
  sessionId: Id
  kind: SessionRow['kind']
}

/** @param waitMs until the next try is heard */
type NotRight = { kind: 'refused' } | { kind: 'too-many'; waitMs: number }

export type SignIn = { kind: 'signed-in'; token: string; user: UserRow } | NotRight

export type PasswordChange = { kind: 'changed'; endedCount: number } | NotRight

export interface Sessions {
  /** Checks the password of the user with this folded address. @throws TooManyWaiting */
  signIn(attempt: {
    email: string
    password: string
    clientAddress: string
    kind: SessionRow['kind']
  }): Promise<SignIn>
  /** Another session for a user who has just signed in; undefined when the password has been changed since. */
  open(user: Pick<UserRow, 'id' | 'passwordHash'>, kind: SessionRow['kind']): Promise<string | undefined>
  /** The session a token opens, or undefined when it has none or has expired. */
  find(token: string): Promise<Session | undefined>
  /** Whether it has not been ended meanwhile. */
  isOpen(sessionId: Id): Promise<boolean>
  end(sessionId: Id): Promise<void>
  /** All of a user that have not expired, last seen first. */
  list(userId: Id): Promise<SessionFacts[]>
  /** False where the user has no such session. */
  endOwn(userId: Id, sessionId: Id): Promise<boolean>
  /** Gives the session's user another password and ends all other sessions of the user. @throws TooManyWaiting */
  changePassword(
    session: Pick<Session, 'sessionId' | 'userId'>,
    passwords: { current: string; next: string },
  ): Promise<PasswordChange>
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
  const guard = createGuessGuard(clock)

  const open: Sessions['open'] = async ({ id: userId, passwordHash }, kind) => {
    const token = createToken(SESSION_TOKEN_PREFIX)
    const now = clock.now()
    const tokenHash = hashToken(token)
    const session = { id: newId(now), userId, tokenHash, kind, createdAt: now, lastSeenAt: now }
    return (await run('createSession', { session, passwordHash })) ? token : undefined
  }

  return {
    open,
    async signIn({ email, password, clientAddress, kind }) {
      let user: UserRow | undefined
      const verdict = await guard.hear(`${clientAddress} ${email}`, async () => {
        user = await findUserByEmail(db, email)
        return passwords.verify(password, user?.passwordHash)
      })
      if (verdict.kind === 'too-many') return verdict
      const token = verdict.kind === 'right' && user && (await open(user, kind))
      return token ? { kind: 'signed-in', token, user: user! } : { kind: 'refused' }
    },
    async find(token) {
      const session = await findSession(db, hashToken(token))
      const now = clock.now()
      if (!session || now - session.lastSeenAt > SESSION_IDLE_MS) return undefined
      if (now - session.lastSeenAt > TOUCH_EVERY_MS) await run('touchSession', { id: session.id, at: now })
      const { id: sessionId, kind, userId, accountId, email, operator } = session
      return { sessionId, kind, userId, accountId, email, operator }
    },
    isOpen: id => isOpenSession(db, id),
    end: id => run('endSession', { id }),
    list: userId => listSessions(db, userId, clock.now() - SESSION_IDLE_MS),
    endOwn: (userId, id) => run('endOwnSession', { userId, id }),
    async changePassword({ sessionId, userId }, { current, next }) {
      const user = await findUser(db, userId)
      if (!user) return { kind: 'refused' }
      const { passwordHash: former } = user
      // by session: whoever holds a stolen one slows nobody else down
      const verdict = await guard.hear(idKey(sessionId), () => passwords.verify(current, former))
      if (verdict.kind === 'too-many') return verdict
      if (verdict.kind === 'wrong') return { kind: 'refused' }
      const passwordHash = await passwords.hash(next)
      const endedCount = await run('changePassword', { userId, sessionId, former, passwordHash })
      return endedCount === undefined ? { kind: 'refused' } : { kind: 'changed', endedCount }
    },
  }
}
