/** Starts the rotation of DKIM keys. Part of the composition root. */
import type { Config } from '../config/config.ts'
import { startSweeper } from '../lib/sweeper.ts'
import { isLaboratory } from '../resources/domains/checker.ts'
import { rotateKeys } from '../resources/domains/rotation.ts'
import { ROTATION_WANTED } from '../resources/domains/rotation-commands.ts'
import type { AppContext } from './context.ts'
import { verifyingResolvers } from './dns.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Maximum time from the signature of a message to its end in the queue, with time for late reports. */
const DELIVERY_DAYS_MAX = 30

/** @returns the age at which keys are rotated; null when they are rotated on request only */
export function rotateAfterMs({ dkim }: Pick<Config, 'dkim'>): number | null {
  return dkim.rotateAfterDays === 0 ? null : dkim.rotateAfterDays * DAY_MS
}

/**
 * Returns the time for which a former key is kept: the longest retention of all plans plus
 * `DELIVERY_DAYS_MAX`; null when a plan keeps mail for ever.
 */
function shownForMs({ plans }: Pick<Config, 'plans'>): number | null {
  const days = Object.values(plans).map(({ retentionDays }) => retentionDays)
  return days.includes(null) ? null : (Math.max(0, ...days.map(Number)) + DELIVERY_DAYS_MAX) * DAY_MS
}

export function startKeyRotation(context: AppContext): void {
  const { config, clock, log, store, newId, stack, security } = context
  const asking = new AsyncDisposableStack()
  const resolvers = verifyingResolvers(config.dns.verifyResolvers, clock, asking)
  const options = {
    db: store.db,
    run: store.run,
    newId,
    clock,
    log,
    secrets: security.secrets,
    generateKey: security.generateKey,
    resolvers,
    mailHost: config.mailHost,
    laboratory: isLaboratory(config.mailHost),
    rotateAfterMs: rotateAfterMs(config),
    shownForMs: shownForMs(config),
  }
  const rounds = startSweeper({
    task: 'rotate DKIM keys',
    sweep: () => rotateKeys(options),
    everyMs: HOUR_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'dkim_rotation_failed', err: error },
        'DKIM keys could not be rotated; retrying later',
      ),
  })
  store.on(ROTATION_WANTED, rounds.runSoon)
  stack.defer(rounds.stop)
  stack.use(asking)
}
