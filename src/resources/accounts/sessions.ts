/**
 * Dashboard sessions. A password opens a session, and it ends by sign-out, idleness or a new password. In:
 * passwords and tokens. Out: the session of a request. Called by the API (`credentials.ts`, `auth/`).
 */

import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Id, type IdSource, idKey, sameId, wireId } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { TooManyWaiting } from '../../lib/semaphore.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { clientNetworkOf, siteNetworkOf } from '../../protocols/dns/netblock.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db, SessionRow, UserRow } from '../../store/model/schema.ts'
import { createGuessGuard, type Guess, type GuessGuard } from './guess-guard.ts'
import { findUserAtPlace, networkHashOf, PLACE_RETENTION_MS } from './known-places.ts'
import type { Passwords } from './password.ts'
import type { PasswordTurn } from './password-queue.ts'
import { reportVerdict, type SignInReport } from './sign-in-report.ts'
import { createToken, hashToken } from './tokens.ts'
import {
  findSession,
  findUser,
  isOpenSession,
  listSessions,
  type Person,
  type SessionFacts,
  type userCommands,
} from './user-rows.ts'

export interface Session extends Person {
  sessionId: Id
  kind: SessionRow['kind']
}

/** @param waitMs time until the next attempt is checked, in ms */
type NotRight = { kind: 'refused' } | { kind: 'too-many'; waitMs: number }

export type SignIn = { kind: 'signed-in'; token: string; user: UserRow } | NotRight

type PasswordChange = { kind: 'changed'; endedCount: number } | NotRight

export interface Sessions {
  /**
   * Checks the password of the user with this folded address.
   * @throws TooManyWaiting
   */
  signIn(attempt: {
    email: string
    password: string
    clientAddress: string
    userAgent?: string | null
    kind: SessionRow['kind']
  }): Promise<SignIn>
  /** Returns the session of a token; undefined if there is none or it has expired. */
  find(token: string): Promise<Session | undefined>
  /** Tells whether a session is still open. */
  isOpen(sessionId: Id): Promise<boolean>
  end(sessionId: Id): Promise<void>
  /** Lists the sessions of a user that have not expired, last seen first. */
  list(userId: Id): Promise<SessionFacts[]>
  /** Resolves to false if the user has no such session. */
  endOwn(userId: Id, sessionId: Id): Promise<boolean>
  /**
   * Replaces the password of the session's user and ends all other sessions of the user.
   * @throws TooManyWaiting
   */
  changePassword(
    session: Pick<Session, 'sessionId' | 'userId'>,
    passwords: { current: string; next: string },
  ): Promise<PasswordChange>
}

/** Prefix that distinguishes session tokens from API keys in the `Authorization` header. */
export const SESSION_TOKEN_PREFIX = 'phs_'
export const SESSION_IDLE_MS = 14 * 86_400_000
/** Expired sessions that are deleted together. */
const EXPIRED_PER_STEP_MAX = 500
const TOUCH_EVERY_MS = 5 * 60_000
/** Uses of sessions that are remembered until they are written. */
const UNWRITTEN_MAX = 10_000

interface SessionOptions {
  db: Db
  run: Run<typeof userCommands>
  clock: Clock
  newId: IdSource
  passwords: Passwords
  secrets: Pick<SecretKeys, 'mac'>
  report: SignInReport
}

export function createSessions(options: SessionOptions): Sessions {
  const { db, run, clock, newId, passwords, secrets, report } = options
  const guard = createGuessGuard(clock)
  /** Last use of sessions whose row has an earlier one. */
  const unwritten = new BoundedMap<string, { id: Id; userId: Id; at: number }>(UNWRITTEN_MAX)

  const noteUse = async ({ id, userId, lastSeenAt }: Pick<SessionRow, 'id' | 'userId' | 'lastSeenAt'>) => {
    const at = clock.now()
    const key = idKey(id)
    unwritten.delete(key)
    if (at - lastSeenAt > TOUCH_EVERY_MS) return run('touchSession', { id, at })
    unwritten.set(key, { id, userId, at })
  }
  const open = async (
    { id: userId, passwordHash }: Pick<UserRow, 'id' | 'passwordHash'>,
    { kind, clientAddress, userAgent }: Pick<SessionRow, 'kind' | 'clientAddress' | 'userAgent'>,
    networkHash: Uint8Array,
  ) => {
    const token = createToken(SESSION_TOKEN_PREFIX)
    const now = clock.now()
    const tokenHash = hashToken(token)
    const facts = { kind, clientAddress: clientAddress ?? null, userAgent: userAgent ?? null }
    const session = { id: newId(now), userId, tokenHash, ...facts, createdAt: now, lastSeenAt: now }
    const seen = [...unwritten.values()].filter(entry => sameId(entry.userId, userId))
    const isCreated = await run('createSession', { session, passwordHash, networkHash, seen })
    return isCreated ? token : undefined
  }

  return {
    async signIn({ email, password, clientAddress: address, userAgent = null, kind }) {
      const networkHash = networkHashOf(secrets, address)
      const since = clock.now() - PLACE_RETENTION_MS
      const { user, isKnownPlace = false } = (await findUserAtPlace(db, { email, networkHash, since })) ?? {}
      const guess = { address, account: email, isKnownPlace }
      const client = { address, user: user ? wireId('usr', user.id) : null }
      const verdict = await guard
        .hear(guess, () => passwords.verify(password, user?.passwordHash, turnOf(guess)))
        .catch(error => {
          if (error instanceof TooManyWaiting) report.throttled(client, 'queue')
          throw error
        })
      reportVerdict(report, verdict, client)
      if (verdict.kind === 'too-many') return verdict
      const token =
        verdict.kind === 'right' &&
        user &&
        (await open(user, { kind, clientAddress: address, userAgent }, networkHash))
      return token ? { kind: 'signed-in', token, user: user! } : { kind: 'refused' }
    },
    async find(token) {
      const session = await findSession(db, hashToken(token))
      if (!session || clock.now() - session.lastSeenAt > SESSION_IDLE_MS) return undefined
      await noteUse(session)
      const { id: sessionId, kind, userId, accountId, email, operator } = session
      return { sessionId, kind, userId, accountId, email, operator }
    },
    isOpen: id => isOpenSession(db, id),
    end: id => run('endSession', { id }),
    list: userId => listSessions(db, userId, clock.now() - SESSION_IDLE_MS),
    endOwn: (userId, id) => run('endOwnSession', { userId, id }),
    changePassword: (session, change) => changePassword(options, guard, session, change),
  }
}

async function changePassword(
  { db, run, passwords }: SessionOptions,
  guard: GuessGuard,
  { sessionId, userId }: Parameters<Sessions['changePassword']>[0],
  { current, next }: Parameters<Sessions['changePassword']>[1],
): ReturnType<Sessions['changePassword']> {
  const user = await findUser(db, userId)
  if (!user) return { kind: 'refused' }
  const { passwordHash: former } = user
  const turn = { owner: `user ${idKey(userId)}`, standing: 'known' } as const
  // wrong guesses are counted per session, so that a stolen session delays nobody else
  const verdict = await guard.hearInSession(idKey(sessionId), () => passwords.verify(current, former, turn))
  if (verdict.kind === 'too-many') return verdict
  if (verdict.kind === 'wrong') return { kind: 'refused' }
  const passwordHash = await passwords.hash(next, turn)
  const endedCount = await run('changePassword', { userId, sessionId, former, passwordHash })
  return endedCount === undefined ? { kind: 'refused' } : { kind: 'changed', endedCount }
}

/** Known places have a queue per account; strangers have a queue per network. */
function turnOf({ address, account, isKnownPlace }: Guess): PasswordTurn {
  const network = clientNetworkOf(address)
  if (isKnownPlace) return { owner: `account ${account}`, part: `${network} ${account}`, standing: 'known' }
  return { owner: siteNetworkOf(address) ?? network, part: network, standing: 'stranger' }
}

/** Deletes expired sessions, in steps. */
export function sweepSessions({ run, clock }: Pick<SessionOptions, 'run' | 'clock'>) {
  return inSteps(EXPIRED_PER_STEP_MAX, limit =>
    run('forgetSessions', { before: clock.now() - SESSION_IDLE_MS, limit }),
  )
}
