/** Where backups are kept: a folder, or a bucket of an S3-compatible store. */
import type { FilePool, LiveFile } from './pool.ts'

export interface BackupRepository {
  /**
   * Runs a function while no other process makes a backup here, after what a killed one has left was removed.
   * @throws BackupInProgress
   */
  alone<T>(run: () => Promise<T>): Promise<T>
  /** Begins a backup, which nothing takes for one before it is published. */
  begin(options: DraftOptions): Promise<BackupDraft>
  /**
   * Removes old backups, and the files that no other backup names.
   * @param keep number of backups that stay; null when all do
   * @param made name of the backup that was just made, which stays in any case
   * @returns paths of the backups that were removed
   */
  prune(options: { keep: number | null; made: string }): Promise<string[]>
}

interface DraftOptions {
  /** ms since the epoch */
  nowMs: number
  /** Finds the files in use. */
  find: LiveFile
  /** Size that the copy of the database will not exceed by much. */
  bytes: number
}

export interface BackupDraft {
  name: string
  /** Path or URL that the backup gets. */
  path: string
  /** Folder on this machine in which its files are written, the manifest last. */
  work: string
  pool: FilePool
  /** Makes a backup of what was written, which is there completely or not at all. */
  publish(): Promise<void>
  discard(): Promise<void>
}
