/** Room on the disk of a folder that a backup is written to, or restored to. */
import { statfsSync } from 'node:fs'
import { BackupFault } from './backup-fault.ts'

const MB_BYTES = 1024 * 1024
const MARGIN_BYTES = 32 * MB_BYTES

/**
 * @param what what is to be written, such as "the backup"
 * @param advice what the operator can do, appended to the message
 * @throws BackupFault when the disk has less room than needed, and a margin
 */
export function requireRoom(folder: string, bytes: number, what: string, advice = ''): void {
  const { bavail, bsize } = statfsSync(folder)
  const freeBytes = bavail * bsize
  const neededBytes = bytes + MARGIN_BYTES
  if (freeBytes >= neededBytes) return
  throw new BackupFault(
    `the disk of ${folder} has ${inMb(freeBytes)} MB free, and ${what} needs ${inMb(neededBytes)} MB, ` +
      `${inMb(neededBytes - freeBytes)} MB more${advice}`,
  )
}

/** Rounds up, so that what is missing is never shown as nothing. */
function inMb(bytes: number): string {
  return `${Math.ceil(bytes / MB_BYTES)}`
}
