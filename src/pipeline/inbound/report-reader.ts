/** Parses reports in a child process, so that hostile mail can crash that process at worst. */
import type { ReaderPool } from '../../lib/reader-pool.ts'
import type { BounceReport } from '../../protocols/bounces/report.ts'

export interface ReportReader {
  /** @throws what `ReaderPool.run` throws */
  read(bytes: Uint8Array): Promise<BounceReport>
}

/** Name of the function in the reader process. */
export const READ_REPORT = 'readReport'
/** All reports share one owner, so that one is parsed at a time. */
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
