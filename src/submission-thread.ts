/** Entry of the thread that reads messages submitted over SMTP: it hands over what is left to be decided. */
import { workerData } from 'node:worker_threads'
import { serveCalls } from './lib/calls.ts'
import { openReader } from './store/dialect.ts'
import { doReadingJob, type ReadingJob, type SubmissionThreadData } from './submission/reading-job.ts'

/** Beyond what the writer keeps at hand for the delivery. */
const STORED_FROM_CHARACTERS = 64 * 1024 + 1

const { location, calls } = workerData as SubmissionThreadData
const { blobs } = openReader(location)

serveCalls(calls, {
  read: (job: ReadingJob) => doReadingJob(job, { blobs, storedFromCharacters: STORED_FROM_CHARACTERS }),
})
