/** Entry of the thread that reads what has come back. */
import { workerData } from 'node:worker_threads'
import { CORRELATION_HEADER } from './deliver/message/signed-head.ts'
import { providerOf } from './deliver/providers.ts'
import type { ReportThreadData } from './inbound/report-reader.ts'
import { serveCalls } from './lib/calls.ts'
import { readReport } from './reports/read-report.ts'

const options = {
  correlationHeader: CORRELATION_HEADER,
  providerOf: (host: string) => providerOf([host])?.name,
}

serveCalls((workerData as ReportThreadData).calls, {
  read: async (bytes: Uint8Array) => readReport(bytes, options),
})
