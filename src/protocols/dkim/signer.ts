/**
 * Client of the signing thread: the jobs of one event-loop turn are sent in few messages, each answered as a
 * whole.
 */
import type { KeyObject } from 'node:crypto'
import type { OnDemandWorker } from '../../lib/on-demand-worker.ts'
import { WorkerEnded } from '../../lib/worker-rpc.ts'
import type { DkimAlgorithm } from './keys.ts'
import { type PrivateKey, type Sign, signAtOnce, signHere } from './sign.ts'

/** Texts, each with the place of its key among the keys. */
export interface SigningJob {
  keys: { algorithm: DkimAlgorithm; privateKey: KeyObject }[]
  texts: string[]
  keyOf: number[]
}

interface Asked {
  text: string
  key: PrivateKey
  answer: PromiseWithResolvers<string>
}

/** Less is signed sooner than a thread can be told of it. */
const WORTH_TELLING = 4
/** More are several jobs: the first messages can go while the thread signs the next. */
const JOB_SIGNATURES_MAX = 12

/** @param thread has `signAll` */
export function createSigner(thread: Pick<OnDemandWorker, 'call'>): Sign {
  let asked: Asked[] = []
  let underWay = 0

  const signApart = async (batch: readonly Asked[]) => {
    underWay++
    try {
      const signatures = (await thread.call('signAll', jobOf(batch))) as string[]
      for (const [i, { answer }] of batch.entries()) answer.resolve(signatures[i]!)
    } catch (error) {
      if (error instanceof WorkerEnded) signEach(batch)
      else for (const { answer } of batch) answer.reject(error)
    } finally {
      underWay--
    }
  }
  const flush = () => {
    if (asked.length === 0) return
    const batch = asked
    asked = []
    if (batch.length >= WORTH_TELLING || underWay > 0) void signApart(batch)
    else signEach(batch)
  }

  return (text, key) => {
    if (asked.length === 0) setImmediate(flush)
    const answer = Promise.withResolvers<string>()
    asked.push({ text, key, answer })
    if (asked.length === JOB_SIGNATURES_MAX) flush()
    return answer.promise
  }
}

function signEach(batch: readonly Asked[]) {
  for (const { text, key, answer } of batch) signHere(text, key).then(answer.resolve, answer.reject)
}

function jobOf(batch: readonly Asked[]): SigningJob {
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

/** What the thread does, in the order of the texts; base64. */
export function signAll({ keys, texts, keyOf }: SigningJob): string[] {
  return texts.map((text, i) => signAtOnce(text, keys[keyOf[i]!]!))
}
