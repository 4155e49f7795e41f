/**
 * Makes a backup at each time of the schedule, one at a time. A time that was missed, because the service was
 * stopped or killed, is made up for. In: the schedule, and a function that makes a backup. Out: the record of
 * backups and log events. Called by `app/backups.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type Sweeper, startSweeper } from '../../lib/sweeper.ts'
import type { MadeBackup } from './create.ts'
import { readRecord, recordFailed } from './record.ts'

export interface BackupTimes {
  /** Time between two backups. */
  everyMs: number
  /** Time of the day (UTC) that they are counted from. */
  atMs: number
}

interface ScheduleOptions extends BackupTimes {
  /** Makes a backup and records it. */
  make(): Promise<MadeBackup>
  /** Ends `make`, if it is in progress. */
  abort(): Promise<void>
  dataDir: string
  /** Folder of backups. */
  folder: string
  clock: Clock
  log: Log
}

const MINUTE_MS = 60_000
const RETRY_MS = 60 * MINUTE_MS
const NAMES_MAX = 5

export class BackupSchedule {
  readonly #options: ScheduleOptions
  readonly #sweeper: Sweeper
  #isUnderWay = false
  /** Whether a backup was asked for beside the schedule. */
  #isAsked = false
  #isStopping = false

  constructor(options: ScheduleOptions) {
    this.#options = options
    const { clock, log } = options
    this.#sweeper = startSweeper({
      task: 'back up',
      sweep: () => this.#sweep(),
      everyMs: MINUTE_MS,
      clock,
      onError: error =>
        log.error(
          { event: 'backup_not_recorded', err: error },
          'A scheduled backup could not be recorded in the data folder; retrying in 1 min',
        ),
    })
  }

  /** Whether a backup is being made. */
  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  /** Time of the next backup in ms since the epoch; a past one when it is due. */
  get nextAt(): number {
    const { dataDir, folder, clock, everyMs, atMs } = this.#options
    const now = clock.now()
    const { made, failed } = readRecord(dataDir)
    const retryAt = (failed[folder]?.at ?? Number.NEGATIVE_INFINITY) + RETRY_MS
    const isDueNow = isDue(this.#options, { madeAt: made[folder], now })
    return Math.max(isDueNow ? now : now - ((now - atMs) % everyMs) + everyMs, retryAt)
  }

  /** Makes a backup now. @returns false if one is being made */
  runSoon(): boolean {
    if (this.#isUnderWay || this.#isAsked) return false
    this.#isAsked = true
    this.#sweeper.runSoon()
    return true
  }

  /** Ends a backup in progress; the next start makes it up. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#options.abort()
    await this.#sweeper.stop()
  }

  async *#sweep(): AsyncGenerator<void> {
    if (!this.#isAsked && !this.#isDue()) return
    this.#isUnderWay = true
    this.#isAsked = false
    try {
      await this.#backUp()
    } finally {
      this.#isUnderWay = false
    }
    yield
  }

  #isDue(): boolean {
    const { dataDir, folder, clock } = this.#options
    const now = clock.now()
    const { made, failed } = readRecord(dataDir)
    const failure = failed[folder]
    if (failure && failure.at <= now && now - failure.at < RETRY_MS) return false
    return isDue(this.#options, { madeAt: made[folder], now })
  }

  async #backUp(): Promise<void> {
    const { make, log } = this.#options
    try {
      const { path, blobs, databaseBytes, newBlobs, removed, lostBlobs, unrecorded } = await make()
      log.info(
        {
          event: 'backup_made',
          path,
          database_bytes: databaseBytes,
          files: blobs.count,
          new_files: newBlobs,
          removed: removed.length,
        },
        'A scheduled backup was made',
      )
      if (unrecorded !== null) throw new Error(unrecorded)
      if (lostBlobs.length > 0) this.#lacks(lostBlobs)
    } catch (error) {
      this.#failed(error as Error)
    }
  }

  #lacks(lost: MadeBackup['lostBlobs']): void {
    const { folder, log } = this.#options
    const names = lost.slice(0, NAMES_MAX).map(({ name, fault }) => `${name} (${fault})`)
    const reason = `the backup lacks ${lost.length} files that are missing or damaged: ${names.join(', ')}`
    log.error({ event: 'backup_lacks_files', folder, reason }, 'A scheduled backup lacks files')
    this.#record(reason)
  }

  #failed(error: Error): void {
    const { folder, log } = this.#options
    const { name, message: reason } = error
    if (this.#isStopping)
      log.info({ event: 'backup_stopped', folder }, 'The service stops and has ended a backup in progress')
    else if (name === 'BackupInProgress')
      log.info({ event: 'backup_postponed', folder, reason }, 'A scheduled backup waits for another one')
    else {
      log.error(
        { event: 'backup_failed', folder, reason, ...(name !== 'BackupFault' && { err: error }) },
        'A scheduled backup has failed; retrying in an hour',
      )
      this.#record(reason)
    }
  }

  #record(reason: string): void {
    const { dataDir, folder, clock } = this.#options
    recordFailed(dataDir, folder, { at: clock.now(), reason })
  }
}

/**
 * Whether a time of the schedule has passed since the last backup.
 * @param madeAt time of the last backup; undefined when there is none. A later time than now does not count:
 * the clock was wrong.
 */
export function isDue(
  { everyMs, atMs }: BackupTimes,
  { madeAt, now }: { madeAt: number | undefined; now: number },
): boolean {
  if (madeAt === undefined || madeAt > now) return true
  return madeAt < now - ((now - atMs) % everyMs)
}
