/** Entry of the thread that reads messages submitted over SMTP: it hands over what is left to be decided. */
import { workerData } from 'node:worker_threads'
import { STORED_FROM_CHARACTERS } from './accept/travelling-memory.ts'
import { serveCalls } from './lib/calls.ts'
import { openReader } from './store/dialect.ts'
import { doReadingJob, type ReadingJob, type SubmissionThreadData } from './submission/reading-job.ts'

const { location, calls } = workerData as SubmissionThreadData
const { blobs } = openReader(location)

serveCalls(calls, {
  read: (job: ReadingJob) => doReadingJob(job, { blobs, storedFromCharacters: STORED_FROM_CHARACTERS }),
})
