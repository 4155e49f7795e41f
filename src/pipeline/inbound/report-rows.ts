/**
 * Stores returned mail (bounces, complaints, unsubscribe mail): durable before the 250 reply, parsed
 * afterwards.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import { referBlobs, releaseBlobs } from '../../store/blobs/blobs.ts'
import type { StagedBlob } from '../../store/blobs/staged.ts'
import { command, type Run } from '../../store/model/command.ts'
import { REPORT_STATE, type ReportAddressKind, type ReportRow } from '../../store/model/schema/reports.ts'
import type { Db } from '../../store/model/schema.ts'

export interface NewReport {
  addressKind: ReportAddressKind
  emailId: Id | null
  ordinal: number | null
  recipient: string
}

interface StoreReports {
  reports: readonly NewReport[]
  sender: string
  clientIp: string
  /** Size of the whole mail, of which the blob may hold only the beginning. */
  sizeBytes: number
  blob: StagedBlob
  at: number
}

/**
 * Longer than a return path is valid, so that the handling of a report can be looked up for as long as one
 * may arrive.
 */
const RETENTION_MS = 60 * 24 * 3_600_000
const BATCH_REPORTS = 200

export const reportCommands = {
  /** Stores one row per recipient of the mail. @returns their ids */
  storeReports: command<StoreReports, Id[]>(async (tx, { reports, blob, at, ...mail }) => {
    const rows = reports.map(report => ({
      id: tx.newId(at),
      receivedAt: at,
      ...report,
      ...mail,
      blobHash: blob.hash,
      state: REPORT_STATE.unread,
    }))
    await referBlobs(
      tx,
      rows.map(() => blob),
      at,
    )
    await tx.rows.insert('reports', rows)
    return rows.map(({ id }) => id)
  }),

  /**
   * Deletes at most `limit` reports received before the given time. @returns their number, and files that no
   * row refers to any more
   */
  forgetReports: command<{ before: number; limit: number }, { count: number; files: string[] }>(
    async (tx, { before, limit }) => {
      const gone = await tx.db
        .selectFrom('reports')
        .select(['id', 'blobHash'])
        .where('receivedAt', '<', before)
        .where('state', '=', REPORT_STATE.read)
        .orderBy('receivedAt')
        .limit(limit)
        .execute()
      if (gone.length === 0) return { count: 0, files: [] }
      await tx.db
        .deleteFrom('reports')
        .where(
          'id',
          'in',
          gone.map(({ id }) => id),
        )
        .execute()
      const files = await releaseBlobs(
        tx,
        gone.map(({ blobHash }) => Buffer.from(blobHash).toString('hex')),
      )
      return { count: gone.length, files }
    },
  ),
}

/** Reports that have not been parsed yet, oldest first. */
export async function unreadReports(db: Db, limit: number): Promise<ReportRow[]> {
  return db
    .selectFrom('reports')
    .selectAll()
    .where('state', '=', REPORT_STATE.unread)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Deletes expired reports; for a sweeper. Their files are deleted by the sweeper of blob files. */
export function sweepReports({ run, clock }: { run: Run<typeof reportCommands>; clock: Clock }) {
  return inSteps(BATCH_REPORTS, async limit => {
    const { count } = await run('forgetReports', { before: clock.now() - RETENTION_MS, limit })
    return count
  })
}
