/** Check of the backups: whether one was made lately, and whether the last scheduled one has failed. */
import type { Clock } from '../../lib/clock.ts'
import { type BackupRecord, lastMade } from '../../store/backup/record.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'

interface BackupsOptions {
  read(): BackupRecord
  /** Folder of scheduled backups; null without a schedule. */
  folder: string | null
  /** Age in days from which the last backup is too old. */
  daysMax: number
  /** Returns when the installation was made, in ms since the epoch; undefined when there is none yet. */
  madeAt(): Promise<number | undefined>
  clock: Clock
}

const CHECK = 'backup'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const MAKE_ONE = 'Run mailhorn backup <folder>, or set backup.folder so that the service makes backups daily.'
const SEE_LOG = 'See backup_failed in the log, and run mailhorn backup <folder>.'

export function backups({ read, folder, daysMax, madeAt, clock }: BackupsOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const now = clock.now()
      const record = read()
      const advice = folder === null ? MAKE_ONE : SEE_LOG
      const failure = folder === null ? undefined : record.failed[folder]
      if (failure) {
        const text = `The scheduled backup failed at ${new Date(failure.at).toISOString()}: ${failure.reason}.`
        return [bad('failed', CHECK, folder, text, 'Remove the cause. The service tries again every hour.')]
      }
      const last = lastMade(record)
      if (last) {
        const ageMs = Math.max(0, now - last.at)
        const text = `the last backup was made ${agoText(ageMs)}`
        if (ageMs < daysMax * DAY_MS) return [good(CHECK, last.folder, `${sentence(text)}.`)]
        return [bad('failed', CHECK, last.folder, `No backup for ${daysText(daysMax)}: ${text}.`, advice)]
      }
      const since = await madeAt()
      if (since === undefined) return [unknownFinding(CHECK, folder, 'There is nothing to back up yet.')]
      if (now - since >= daysMax * DAY_MS)
        return [
          bad('failed', CHECK, folder, `No backup for ${daysText(daysMax)}: none was ever made.`, advice),
        ]
      if (folder !== null)
        return [unknownFinding(CHECK, folder, 'The first scheduled backup has not been made yet.')]
      return [bad('warning', CHECK, folder, 'No backup has been made yet.', advice)]
    },
  }
}

function sentence(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}

function agoText(ms: number): string {
  if (ms < HOUR_MS) return countText(Math.floor(ms / MINUTE_MS), 'minute')
  return ms < 2 * DAY_MS
    ? countText(Math.floor(ms / HOUR_MS), 'hour')
    : countText(Math.floor(ms / DAY_MS), 'day')
}

function countText(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`
}

function daysText(days: number): string {
  return `${days} ${days === 1 ? 'day' : 'days'}`
}
