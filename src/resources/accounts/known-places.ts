/**
 * Remembers the client networks from which users have signed in. Networks are personal data. They are stored
 * as keyed hashes, at most 20 per user, and are deleted 90 days after the last sign-in.
 */

import type { Clock } from '../../lib/clock.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import type { Run } from '../../store/model/command.ts'
import type { signInPlaceCommands } from './sign-in-place-rows.ts'

export const PLACE_KEPT_MS = 90 * 86_400_000
const DELETED_AT_ONCE_MAX = 500

/** Returns the keyed hash of a client network. */
export function networkHashOf(secrets: Pick<SecretKeys, 'mac'>, clientAddress: string): Uint8Array {
  return secrets.mac('sign-in-place', clientNetworkOf(clientAddress))
}

/** Deletes expired networks in steps. */
export function sweepSignInPlaces({ run, clock }: { run: Run<typeof signInPlaceCommands>; clock: Clock }) {
  return inSteps(DELETED_AT_ONCE_MAX, limit =>
    run('forgetSignInPlaces', { before: clock.now() - PLACE_KEPT_MS, limit }),
  )
}
