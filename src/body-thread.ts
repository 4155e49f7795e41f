/** Entry of the thread that parses large request bodies. */
import { parentPort } from 'node:worker_threads'
import { type BodyJob, doBodyJob } from './http/body-job.ts'

parentPort!.on('message', (job: BodyJob) => {
  const { answer, transfer } = doBodyJob(job)
  parentPort!.postMessage(answer, transfer)
})
