/**
 * Entry of the child process that makes scheduled backups, and lists and checks them. It copies the database
 * and compares files at a low priority, and holds the lock of the folder of backups, which the system
 * releases when the process is killed.
 */
import { systemClock } from '../lib/clock.ts'
import { serveProcess } from '../lib/serve-process.ts'
import { stepBack } from '../lib/thread-priority.ts'
import { type BackupOptions, createBackup, MAKE_BACKUP } from '../store/backup/create.ts'
import { LIST_BACKUPS, listPlace, openBackup } from '../store/backup/open.ts'
import { VERIFY_BACKUP, verifyBackup } from '../store/backup/verify.ts'

type PlaceOptions = Pick<BackupOptions, 'folder' | 's3'>

/** Niceness: it gets a tenth of the time of a core that the service keeps busy. */
const NICENESS = 10

serveProcess<null>(() => {
  stepBack(NICENESS)
  return {
    [MAKE_BACKUP]: (options: BackupOptions) => createBackup(options, systemClock),
    [LIST_BACKUPS]: ({ folder, s3 }: PlaceOptions) => listPlace(folder, s3, systemClock),
    async [VERIFY_BACKUP]({ folder, s3, passphrase }: PlaceOptions & { passphrase: string | null }) {
      const place = await openBackup(folder, s3, systemClock)
      try {
        return (await verifyBackup(place, passphrase)).faults
      } finally {
        await place.close()
      }
    },
  }
})
