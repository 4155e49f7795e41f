/** Entry of the thread that does all the work on large request bodies: it hands over what is left to be decided. */
import { workerData } from 'node:worker_threads'
import { createPreparation } from './accept/prepare.ts'
import { STORED_FROM_CHARACTERS } from './accept/travelling-memory.ts'
import { type BodyJob, type BodyThreadData, doBodyJob } from './http/large-body-job.ts'
import { serveCalls } from './lib/calls.ts'
import { hashFile } from './store/blobs/stream.ts'
import { openReader } from './store/dialect.ts'
import { createReadyTemplates } from './templates/ready.ts'

const { location, calls } = workerData as BodyThreadData
const { find, blobs } = openReader(location)
const preparation = createPreparation({
  findTemplate: createReadyTemplates(find),
  blobs,
  storedFromCharacters: STORED_FROM_CHARACTERS,
})

serveCalls(calls, {
  read: (job: BodyJob) => doBodyJob(job, preparation),
  hashFile,
})
