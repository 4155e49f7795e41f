/**
 * Entry of the signing worker, which makes DKIM signatures for one delivery thread.
 *
 * In: signing jobs, from the delivery worker. Out: signatures.
 */
import { serveThread } from '../lib/serve-thread.ts'
import { type SigningJob, signAll } from '../protocols/dkim/signer.ts'

serveThread({ signAll: async (job: SigningJob) => signAll(job) })
