/**
 * The mode of the service, which operators switch for maintenance: `normal`; `draining`, in which no new
 * email is accepted while queued mail is delivered; `read-only`, in which nothing is changed or sent for
 * anybody. The mode is stored, so that it survives a restart.
 *
 * In: the command `setServiceMode`. Out: `readServiceMode()` for steps that are paused, and
 * `ServiceModeWatch` for the listeners, which ask for the mode at every request.
 */
import { command, MISSED, type Tx } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import { readSetting, writeSetting } from '../../store/reading/settings.ts'
import { endHold, startHold } from './hold.ts'
import { ANY_MAIL, findPause } from './hold-rows.ts'

export const SERVICE_MODES = ['normal', 'draining', 'read-only'] as const

export interface ServiceMode {
  mode: (typeof SERVICE_MODES)[number]
  /** Time of the switch, in ms since the epoch; null when the mode was never switched. */
  since: number | null
  /** Reason that the operator gave. */
  reason: string | null
}

/** Announcement topic; the messages are modes that were stored. */
export const SERVICE_MODE = 'service_mode'
/** Time after which refused clients may try again. */
export const CLOSED_RETRY_SECONDS = 60

const KEY = 'service_mode'
export const NORMAL_MODE: ServiceMode = { mode: 'normal', since: null, reason: null }

export async function readServiceMode(db: Db): Promise<ServiceMode> {
  const stored = await readSetting(db, KEY)
  return stored === undefined ? NORMAL_MODE : (JSON.parse(stored) as ServiceMode)
}

export async function isReadOnly(db: Db): Promise<boolean> {
  return (await readServiceMode(db)).mode === 'read-only'
}

/** Work that was accepted and is not in the queue yet. */
export interface ScheduledWork {
  /** Scheduled emails; at most `COUNTED_MAX` are counted. */
  emails: number
  /** Broadcasts that are scheduled or being sent. */
  broadcasts: number
}

/** Counting ends here, so that it takes no longer than some milliseconds. */
const COUNTED_MAX = 100_000

export async function countScheduled(db: Db): Promise<ScheduledWork> {
  const { emails } = await db
    .selectFrom(
      db
        .selectFrom('emails')
        .select('scheduledAt')
        .where('status', '=', 'scheduled')
        .limit(COUNTED_MAX)
        .as('scheduled'),
    )
    .select(eb => eb.fn.countAll<number>().as('emails'))
    .executeTakeFirstOrThrow()
  const { broadcasts } = await db
    .selectFrom('broadcasts')
    .select(eb => eb.fn.countAll<number>().as('broadcasts'))
    .where('nextAt', 'is not', null)
    .executeTakeFirstOrThrow()
  return { emails: Number(emails), broadcasts: Number(broadcasts) }
}

export const serviceModeCommands = {
  /**
   * Switches the mode. In read-only mode, a hold covers all mail, so that time in this mode does not count
   * towards expiry.
   * @returns the former mode; the caller then returns held mail to the queue (`QueueAdmin.resume`)
   */
  setServiceMode: command<ServiceMode & { since: number }, ServiceMode>(async (tx, wanted) => {
    const known = await readServiceMode(tx.db)
    const now = wanted.since
    const next = { ...wanted, since: known.mode === wanted.mode ? (known.since ?? now) : now }
    if (next.mode === 'read-only') await holdAll(tx, now)
    else await releaseAll(tx, now)
    await writeSetting(tx, KEY, JSON.stringify(next))
    tx.announce(SERVICE_MODE, next)
    return known
  }),
}

async function holdAll(tx: Tx, now: number): Promise<void> {
  if (await findPause(tx.db, ANY_MAIL)) return
  const hold = { ...ANY_MAIL, id: tx.newId(now), reason: 'the service is read-only' }
  await startHold(tx, { ...hold, origin: 'operator', createdAt: now, isPause: 1, releasedAt: null })
}

async function releaseAll(tx: Tx, now: number): Promise<void> {
  const hold = await findPause(tx.db, ANY_MAIL)
  if (hold) await endHold(tx, hold.id, now)
}

interface ModeSource {
  db: Db
  on(topic: string, listener: (payloads: readonly unknown[]) => void): void
}

interface WatchOptions {
  onSwitched(mode: ServiceMode): void
  /** Called when the mode could not be read again; the former one is kept. */
  onError(error: unknown): void
}

/** Knows the mode without a query. */
export class ServiceModeWatch {
  current: ServiceMode

  private constructor(mode: ServiceMode) {
    this.current = mode
  }

  static async open(store: ModeSource, { onSwitched, onError }: WatchOptions): Promise<ServiceModeWatch> {
    const watch = new ServiceModeWatch(await readServiceMode(store.db))
    const follow = (mode: ServiceMode) => {
      const isOther = mode.mode !== watch.current.mode
      watch.current = mode
      if (isOther) onSwitched(mode)
    }
    store.on(SERVICE_MODE, modes => follow(modes.at(-1) as ServiceMode))
    store.on(MISSED, () => {
      readServiceMode(store.db).then(follow, onError)
    })
    return watch
  }
}
