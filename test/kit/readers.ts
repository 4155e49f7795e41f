/** The processes that read hostile input, as the service starts them, for tests of single parts. */
import { createLog } from '../../src/lib/log.ts'
import type { Metrics } from '../../src/lib/metrics.ts'
import { createReaderPool, type ReaderPool } from '../../src/lib/reader-pool.ts'
import type { StoreLocation } from '../../src/store/opening/dialect.ts'
import type { ReaderProcessData } from '../../src/workers/parse.ts'
import { createManualClock } from './manual-clock.ts'

interface ReadersOptions {
  location?: StoreLocation
  /** Entry file of the worker, in place of the service's. */
  entry?: URL
  heapMib?: number
  clock?: ReturnType<typeof createManualClock>
  metrics?: Metrics
}

export function openReaders({
  location,
  entry = new URL('../../src/workers/parse.ts', import.meta.url),
  heapMib = 256,
  clock = createManualClock(),
  metrics,
}: ReadersOptions = {}): ReaderPool {
  const data = { location, mailHost: 'mailhorn.test' } as ReaderProcessData
  return createReaderPool({ name: 'reader', entry, data, heapMib, metrics, clock, log: createLog('silent') })
}
