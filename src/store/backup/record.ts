/**
 * Remembers in a file of the data folder when a backup was last made to each folder, and which scheduled
 * backup has failed since. The folders of backups themselves may be on disks that do not answer.
 *
 * In: backups that were made or have failed. Out: facts for the schedule, the doctor and the metrics.
 */
import { dirname, join } from 'node:path'
import * as z from 'zod'
import { readJsonFile, replaceJsonFile } from '../../lib/json-file.ts'

export interface BackupRecord {
  /** Times in ms since the epoch by folder of backups. */
  made: Readonly<Record<string, number>>
  /** Failures by folder, each since the last backup that was made to it. */
  failed: Readonly<Record<string, BackupFailure>>
}

export interface BackupFailure {
  /** ms since the epoch */
  at: number
  reason: string
}

const RECORD_FILE = 'backups.json'
const FOLDERS_KEPT_MAX = 20
const REASON_CHARACTERS_MAX = 500
const NOTHING: BackupRecord = { made: {}, failed: {} }

const schema = z.object({
  made: z.record(z.string(), z.int()),
  failed: z.record(z.string(), z.object({ at: z.int(), reason: z.string() })),
})

/** @returns an empty record when the file is missing or damaged: the next backup writes it anew */
export function readRecord(dataDir: string): BackupRecord {
  return readJsonFile(join(dataDir, RECORD_FILE), schema) ?? NOTHING
}

/**
 * @param path path of the backup
 * @param madeAt ms since the epoch
 * @throws when the data folder cannot be written
 */
export function recordMade(dataDir: string, path: string, madeAt: number): void {
  const folder = dirname(path)
  const { made, failed } = readRecord(dataDir)
  const { [folder]: _, ...otherFailures } = failed
  writeRecord(dataDir, { made: { ...made, [folder]: madeAt }, failed: otherFailures })
}

/** @throws when the data folder cannot be written */
export function recordFailed(dataDir: string, folder: string, { at, reason }: BackupFailure): void {
  const { made, failed } = readRecord(dataDir)
  const failure = { at, reason: reason.slice(0, REASON_CHARACTERS_MAX) }
  writeRecord(dataDir, { made, failed: { ...failed, [folder]: failure } })
}

/** @returns the last backup to any folder; undefined when none was made */
export function lastMade({ made }: BackupRecord): { folder: string; at: number } | undefined {
  const [last] = Object.entries(made).sort(([, one], [, other]) => other - one)
  return last && { folder: last[0], at: last[1] }
}

function writeRecord(dataDir: string, { made, failed }: BackupRecord): void {
  const newest = Object.entries(made)
    .sort(([, one], [, other]) => other - one)
    .slice(0, FOLDERS_KEPT_MAX)
  const failures = Object.entries(failed)
    .sort(([, one], [, other]) => other.at - one.at)
    .slice(0, FOLDERS_KEPT_MAX)
  const record = { made: Object.fromEntries(newest), failed: Object.fromEntries(failures) }
  replaceJsonFile(join(dataDir, RECORD_FILE), record)
}
