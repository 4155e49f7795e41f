/**
 * Starts the schedule of backups, which are made, listed and checked by a child process. Part of
 * the composition root.
 */
import type { Config } from '../config/config.ts'
import { createWorkerProcess } from '../lib/worker-process.ts'
import { type BackupOptions, MAKE_BACKUP, type MadeBackup } from '../store/backup/create.ts'
import { LIST_BACKUPS, type ListedBackup } from '../store/backup/open.ts'
import { BackupSchedule } from '../store/backup/schedule.ts'
import { VERIFY_BACKUP } from '../store/backup/verify.ts'
import { readSecret } from '../store/opening/secret-file.ts'
import type { AppContext } from './context.ts'
import { version } from './version.ts'

const HOUR_MS = 3_600_000
const HEAP_MIB = 256

/** The result of the last check of a backup since the start. */
interface Verification {
  name: string
  startedAt: number
  /** Null while the check goes on. */
  finished: { at: number; faults: string[] } | null
}

export interface Backups {
  schedule: BackupSchedule
  list(): Promise<ListedBackup[]>
  /** Begins to check a backup. @returns false while another check goes on */
  verify(name: string): boolean
  verification(): Verification | undefined
}

/** @returns undefined when no schedule is set */
export function startBackups({ config, clock, log, store, stack }: AppContext): Backups | undefined {
  const { dataDir, backup } = config
  const { folder, keep } = backup
  if (folder === null) return undefined
  const worker = createWorkerProcess({
    name: 'backup',
    entry: new URL('../workers/backup.ts', import.meta.url),
    data: null,
    heapMib: HEAP_MIB,
    log,
  })
  const schedule = new BackupSchedule({
    async make() {
      const options: BackupOptions = {
        ...{ location: store.location, dataDir, folder, version, keep, s3: backup.s3 },
        nowMs: clock.now(),
        secret: secretToSeal(config),
      }
      return (await worker.call(MAKE_BACKUP, options)) as MadeBackup
    },
    abort: () => worker.close(),
    ...{ dataDir, folder, clock, log },
    everyMs: backup.everyHours * HOUR_MS,
    atMs: backup.at,
  })
  stack.defer(() => schedule.stop())
  const place = { folder, s3: backup.s3 }
  let verification: Verification | undefined
  const check = (name: string) =>
    worker.call(VERIFY_BACKUP, {
      folder: `${folder}/${name}`,
      ...{ s3: backup.s3, passphrase: backup.passphrase },
    }) as Promise<string[]>
  return {
    schedule,
    list: () => worker.call(LIST_BACKUPS, place) as Promise<ListedBackup[]>,
    verify(name) {
      if (verification?.finished === null) return false
      const begun: Verification = { name, startedAt: clock.now(), finished: null }
      verification = begun
      const finish = (faults: string[]) => {
        begun.finished = { at: clock.now(), faults }
      }
      void check(name).then(
        faults => {
          finish(faults)
          if (faults.length === 0)
            log.info({ event: 'backup_verified', folder, name }, 'A backup is complete')
          else log.error({ event: 'backup_damaged', folder, name, faults }, 'A backup is damaged')
        },
        (error: Error) => {
          finish([error.message])
          log.warn({ event: 'backup_not_checked', folder, name, err: error }, 'A backup could not be checked')
        },
      )
      return true
    },
    verification: () => verification,
  }
}

/** @returns null without a passphrase, and when the secret key is a setting, which is kept elsewhere */
function secretToSeal({ dataDir, secretKey, backup: { passphrase } }: Config): BackupOptions['secret'] {
  const bytes = passphrase === null || secretKey !== null ? undefined : readSecret(dataDir)
  return bytes && passphrase !== null ? { bytes, passphrase } : null
}
