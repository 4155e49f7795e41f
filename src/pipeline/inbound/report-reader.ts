/** Reads reports in a child process: hostile mail costs the process, at worst. */
import type { ReaderPool } from '../../lib/reader-pool.ts'
import type { BounceReport } from '../../protocols/bounces/report.ts'

export interface ReportReader {
  /** @throws what `ReaderPool.run` throws */
  read(bytes: Uint8Array): Promise<BounceReport>
}

/** Function of the process that reads reports. */
export const READ_REPORT = 'readReport'
/** Reports come from anywhere, and are read one at a time. */
const OWNER = 'reports'

export function createReportReader(readers: Pick<ReaderPool, 'run'>): ReportReader {
  return {
    read: async bytes =>
      (await readers.run({
        ...{ name: READ_REPORT, owner: OWNER, sizeBytes: bytes.length },
        load: async () => bytes,
      })) as BounceReport,
  }
}
