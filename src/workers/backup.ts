/**
 * Entry of the child process that makes scheduled backups. It copies the database and compares files at a low
 * priority, and holds the lock of the folder of backups, which the system releases when the process is
 * killed.
 */
import { systemClock } from '../lib/clock.ts'
import { serveProcess } from '../lib/serve-process.ts'
import { stepBack } from '../lib/thread-priority.ts'
import { type BackupOptions, createBackup, MAKE_BACKUP } from '../store/backup/create.ts'

/** Niceness: it gets a tenth of the time of a core that the service keeps busy. */
const NICENESS = 10

serveProcess<null>(() => {
  stepBack(NICENESS)
  return { [MAKE_BACKUP]: (options: BackupOptions) => createBackup(options, systemClock) }
})
