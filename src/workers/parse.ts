/**
 * Entry of the child processes that parse large or hostile input: received mail, reports, submitted messages
 * and request bodies. They read the store and stage files; only the writer thread of the service changes the
 * database.
 */

import { READ_BODY } from '../interfaces/api/body/large-bodies.ts'
import { type BodyJob, doBodyJob } from '../interfaces/api/body/large-body-job.ts'
import { READ_SUBMISSION } from '../interfaces/submission/message-reader.ts'
import { doReadingJob, type ReadingJob } from '../interfaces/submission/reading-job.ts'
import { serveProcess } from '../lib/serve-process.ts'
import { createPreparation } from '../pipeline/accept/prepare.ts'
import { STORED_FROM_CHARACTERS } from '../pipeline/accept/transferables.ts'
import { providerOf } from '../pipeline/delivery/destinations/providers.ts'
import { CORRELATION_HEADER } from '../pipeline/delivery/message/signed-head.ts'
import { READ_MAIL, type StoredMail } from '../pipeline/inbound/mail-reader.ts'
import { readInbound } from '../pipeline/inbound/read-inbound.ts'
import { READ_REPORT } from '../pipeline/inbound/report-reader.ts'
import { readReport } from '../protocols/bounces/read-report.ts'
import { createReadyTemplates } from '../resources/templates/ready.ts'
import { openReader, type StoreLocation } from '../store/opening/dialect.ts'

export interface ReaderProcessData {
  location: StoreLocation
  /** authserv-id whose Authentication-Results are removed from received mail as forged. */
  mailHost: string
}

serveProcess<ReaderProcessData>(({ location, mailHost }, takePieces) => {
  const { db, find, blobs } = openReader(location)
  const preparation = createPreparation({
    findTemplate: createReadyTemplates(find),
    blobs,
    storedFromCharacters: STORED_FROM_CHARACTERS,
  })
  const reporting = {
    correlationHeader: CORRELATION_HEADER,
    providerOf: (host: string) => providerOf([host])?.name,
  }
  return {
    [READ_MAIL]: async ({ blobHash }: StoredMail) => readInbound(await blobs.read(db, blobHash), mailHost),
    [READ_REPORT]: async (bytes: Uint8Array) => readReport(bytes, reporting),
    [READ_SUBMISSION]: (job: ReadingJob) => doReadingJob(job, takePieces, preparation),
    [READ_BODY]: (job: BodyJob) => doBodyJob(job, takePieces, preparation),
  }
})
