/**
 * Starts the schedule of backups, which are made by a child process. Part of the composition root.
 */
import type { Config } from '../config/config.ts'
import { createWorkerProcess } from '../lib/worker-process.ts'
import { type BackupOptions, MAKE_BACKUP, type MadeBackup } from '../store/backup/create.ts'
import { BackupSchedule } from '../store/backup/schedule.ts'
import { readSecret } from '../store/opening/secret-file.ts'
import type { AppContext } from './context.ts'
import { version } from './version.ts'

const HOUR_MS = 3_600_000
const HEAP_MIB = 256

/** @returns undefined when no schedule is set */
export function startBackups({ config, clock, log, store, stack }: AppContext): BackupSchedule | undefined {
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
  return schedule
}

/** @returns null without a passphrase, and when the secret key is a setting, which is kept elsewhere */
function secretToSeal({ dataDir, secretKey, backup: { passphrase } }: Config): BackupOptions['secret'] {
  const bytes = passphrase === null || secretKey !== null ? undefined : readSecret(dataDir)
  return bytes && passphrase !== null ? { bytes, passphrase } : null
}
