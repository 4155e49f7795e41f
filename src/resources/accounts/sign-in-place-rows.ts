/**
 * Client networks from which users have signed in: looked up before a password is checked, written with each
 * new session.
 */
import { command, type Tx } from '../../store/command.ts'
import type { Db, SignInPlaceRow, UserRow } from '../../store/schema.ts'

/** Networks remembered for one user; those used last are kept. */
const PLACES_PER_USER_MAX = 20

/**
 * The user with this address, and whether the user has signed in from this network since `since` (epoch ms).
 * One statement whether there is such a user or not, so that the time it takes does not tell.
 */
export async function findUserAtPlace(
  db: Db,
  { email, networkHash, since }: { email: string; networkHash: Uint8Array; since: number },
): Promise<{ user: UserRow; isKnownPlace: boolean } | undefined> {
  const row = await db
    .selectFrom('users')
    .leftJoin('signInPlaces', join =>
      join.onRef('userId', '=', 'users.id').on('networkHash', '=', networkHash).on('lastAt', '>=', since),
    )
    .selectAll('users')
    .select('signInPlaces.lastAt')
    .where('email', '=', email)
    .executeTakeFirst()
  if (!row) return undefined
  const { lastAt, ...user } = row
  return { user, isKnownPlace: lastAt !== null }
}

/**
 * Part of a command: notes that the user has signed in from this network, and forgets the networks used
 * longest ago.
 */
export async function rememberPlace({ db }: Pick<Tx, 'db'>, place: SignInPlaceRow): Promise<void> {
  const { userId, lastAt } = place
  await db
    .insertInto('signInPlaces')
    .values(place)
    .onConflict(conflict => conflict.columns(['userId', 'networkHash']).doUpdateSet({ lastAt }))
    .execute()
  const kept = db
    .selectFrom('signInPlaces')
    .select('networkHash')
    .where('userId', '=', userId)
    .orderBy('lastAt', 'desc')
    .orderBy('networkHash')
    .limit(PLACES_PER_USER_MAX)
  await db
    .deleteFrom('signInPlaces')
    .where('userId', '=', userId)
    .where('networkHash', 'not in', kept)
    .execute()
}

export const signInPlaceCommands = {
  /**
   * Deletes networks from which nobody has signed in since `before` (epoch ms), at most `limit`; answers how
   * many.
   */
  forgetSignInPlaces: command<{ before: number; limit: number }, number>(async (tx, { before, limit }) => {
    const old = await tx.db
      .selectFrom('signInPlaces')
      .select(['userId', 'networkHash'])
      .where('lastAt', '<', before)
      .orderBy('lastAt')
      .limit(limit)
      .execute()
    for (const { userId, networkHash } of old)
      await tx.db
        .deleteFrom('signInPlaces')
        .where('userId', '=', userId)
        .where('networkHash', '=', networkHash)
        .execute()
    return old.length
  }),
}
