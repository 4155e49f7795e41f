/**
 * Remembers the client networks from which users have signed in. Networks are personal data. They are stored
 * as keyed hashes, at most 20 per user, and are deleted 90 days after the last sign-in. They are read before
 * a password is checked and written with each new session.
 */

import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import { command, type Run, type Tx } from '../../store/model/command.ts'
import type { Db, SignInPlaceRow, UserRow } from '../../store/model/schema.ts'

export const PLACE_RETENTION_MS = 90 * 86_400_000
const DELETED_AT_ONCE_MAX = 500
/** Maximum number of networks per user. The most recently used ones are kept. */
const PLACES_PER_USER_MAX = 20

/** Returns the keyed hash of a client network. */
export function networkHashOf(secrets: Pick<SecretKeys, 'mac'>, clientAddress: string): Uint8Array {
  return secrets.mac('sign-in-place', clientNetworkOf(clientAddress))
}

/**
 * Finds the user with this address, and whether the user has signed in from this network since `since` (ms
 * since the epoch). The same single statement runs if there is no such user, so that the response time
 * reveals nothing.
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
 * Part of a command. Stores that the user has signed in from this network, and deletes the networks used
 * longest ago.
 */
export async function rememberPlace({ db }: Pick<Tx, 'db'>, place: SignInPlaceRow): Promise<void> {
  const { userId, lastAt } = place
  await db
    .insertInto('signInPlaces')
    .values(place)
    .onConflict(conflict => conflict.columns(['userId', 'networkHash']).doUpdateSet({ lastAt }))
    .execute()
  const newest = db
    .selectFrom('signInPlaces')
    .select('networkHash')
    .where('userId', '=', userId)
    .orderBy('lastAt', 'desc')
    .orderBy('networkHash')
    .limit(PLACES_PER_USER_MAX)
  await db
    .deleteFrom('signInPlaces')
    .where('userId', '=', userId)
    .where('networkHash', 'not in', newest)
    .execute()
}

export const signInPlaceCommands = {
  /**
   * Deletes networks last used before `before` (ms since the epoch), at most `limit`. Returns their number.
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

/** Deletes expired networks in steps. */
export function sweepSignInPlaces({ run, clock }: { run: Run<typeof signInPlaceCommands>; clock: Clock }) {
  return inSteps(DELETED_AT_ONCE_MAX, limit =>
    run('forgetSignInPlaces', { before: clock.now() - PLACE_RETENTION_MS, limit }),
  )
}
