/**
 * Entry of the child processes that read what may be hostile or large: received mail, reports, submitted messages and large
 * request bodies. They read the store and stage files; only the writer thread of the service changes the database.
 */
import { createPreparation } from './accept/prepare.ts'
import { STORED_FROM_CHARACTERS } from './accept/travelling-memory.ts'
import { CORRELATION_HEADER } from './deliver/message/signed-head.ts'
import { providerOf } from './deliver/providers.ts'
import { READ_BODY } from './http/large-bodies.ts'
import { type BodyJob, doBodyJob } from './http/large-body-job.ts'
import { READ_MAIL, type StoredMail } from './inbound/mail-reader.ts'
import { readInbound } from './inbound/read-inbound.ts'
import { READ_REPORT } from './inbound/report-reader.ts'
import { serveProcess } from './lib/serve-process.ts'
import { readReport } from './reports/read-report.ts'
import { openReader, type StoreLocation } from './store/dialect.ts'
import { READ_SUBMISSION } from './submission/message-reader.ts'
import { doReadingJob, type ReadingJob } from './submission/reading-job.ts'
import { createReadyTemplates } from './templates/ready.ts'

export interface ReaderProcessData {
  location: StoreLocation
  /** Authentication results in its name are not believed in received mail. */
  mailHost: string
}

serveProcess<ReaderProcessData>(({ location, mailHost }) => {
  const { db, find, blobs } = openReader(location)
  const storing = { blobs, storedFromCharacters: STORED_FROM_CHARACTERS }
  const preparation = createPreparation({ findTemplate: createReadyTemplates(find), ...storing })
  const reporting = {
    correlationHeader: CORRELATION_HEADER,
    providerOf: (host: string) => providerOf([host])?.name,
  }
  return {
    [READ_MAIL]: async ({ blobHash }: StoredMail) => readInbound(await blobs.read(db, blobHash), mailHost),
    [READ_REPORT]: async (bytes: Uint8Array) => readReport(bytes, reporting),
    [READ_SUBMISSION]: (job: ReadingJob) => doReadingJob(job, storing),
    [READ_BODY]: (job: BodyJob) => doBodyJob(job, preparation),
  }
})
