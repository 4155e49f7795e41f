/**
 * Client of the signing thread. It collects the texts of one event-loop turn and sends them in few messages,
 * each of which is answered as a whole.
 */
import type { KeyObject } from 'node:crypto'
import type { OnDemandWorker } from '../../lib/on-demand-worker.ts'
import { WorkerEnded } from '../../lib/worker-rpc.ts'
import type { DkimAlgorithm } from './keys.ts'
import { type PrivateKey, type Sign, signAtOnce, signHere } from './sign.ts'

/** Texts to sign, each with the index of its key. */
export interface SigningJob {
  keys: { algorithm: DkimAlgorithm; privateKey: KeyObject }[]
  texts: string[]
  keyOf: number[]
}

interface QueuedText {
  text: string
  key: PrivateKey
  answer: PromiseWithResolvers<string>
}

/** Signing fewer texts takes less time than a message to the thread. */
const JOB_SIGNATURES_MIN = 4
/**
 * More texts are split into several jobs, so that the first messages can leave while the thread signs the
 * next.
 */
const JOB_SIGNATURES_MAX = 12

/** @param thread worker that serves `signAll` */
export function createSigner(thread: Pick<OnDemandWorker, 'call'>): Sign {
  let queued: QueuedText[] = []
  let jobsInProgress = 0

  const signApart = async (batch: readonly QueuedText[]) => {
    jobsInProgress++
    try {
      const signatures = (await thread.call('signAll', jobOf(batch))) as string[]
      for (const [i, { answer }] of batch.entries()) answer.resolve(signatures[i]!)
    } catch (error) {
      if (error instanceof WorkerEnded) signEach(batch)
      else for (const { answer } of batch) answer.reject(error)
    } finally {
      jobsInProgress--
    }
  }
  const flush = () => {
    if (queued.length === 0) return
    const batch = queued
    queued = []
    if (batch.length >= JOB_SIGNATURES_MIN || jobsInProgress > 0) void signApart(batch)
    else signEach(batch)
  }

  return (text, key) => {
    if (queued.length === 0) setImmediate(flush)
    const answer = Promise.withResolvers<string>()
    queued.push({ text, key, answer })
    if (queued.length === JOB_SIGNATURES_MAX) flush()
    return answer.promise
  }
}

function signEach(batch: readonly QueuedText[]) {
  for (const { text, key, answer } of batch) signHere(text, key).then(answer.resolve, answer.reject)
}

function jobOf(batch: readonly QueuedText[]): SigningJob {
  const places = new Map<KeyObject, number>()
  const job: SigningJob = { keys: [], texts: [], keyOf: [] }
  for (const { text, key } of batch) {
    let place = places.get(key.privateKey)
    if (place === undefined) {
      place = job.keys.push({ algorithm: key.algorithm, privateKey: key.privateKey }) - 1
      places.set(key.privateKey, place)
    }
    job.texts.push(text)
    job.keyOf.push(place)
  }
  return job
}

/**
 * Runs on the signing thread.
 * @returns signatures in base64, in the order of the texts
 */
export function signAll({ keys, texts, keyOf }: SigningJob): string[] {
  return texts.map((text, i) => signAtOnce(text, keys[keyOf[i]!]!))
}
