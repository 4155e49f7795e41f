/** Stands in for the thread that judges: does to each message what its sender says. */
import { BroadcastChannel, workerData } from 'node:worker_threads'
import { serveThread } from '../../../../../src/lib/serve-thread.ts'
import { unknownAuthentication, verdictsOf } from '../../../../../src/pipeline/inbound/verdicts/conclusion.ts'
import type {
  NumberedJudgement,
  VerdictThreadData,
} from '../../../../../src/pipeline/inbound/verdicts/verdicts.ts'

const { mailHost, working } = workerData as VerdictThreadData
const mark = new Int32Array(working)
const busy = new BroadcastChannel('busy')
let judged = 0

serveThread({
  async judge({ mailFrom, number }: NumberedJudgement) {
    judged += 1
    const place = judged
    if (mailFrom.includes('busy')) {
      if (mailFrom === 'busy') Atomics.store(mark, 0, number)
      busy.postMessage(null)
      for (;;);
    }
    if (mailFrom === 'dies') process.exit(1)
    if (mailFrom === 'throws') throw new Error('as the test wants it')
    if (mailFrom === 'waits') await new Promise(() => {})
    if (mailFrom === 'slow') await new Promise(resolve => setTimeout(resolve, 20))
    return verdictsOf(mailHost, unknownAuthentication(`judged ${place} on this thread`))
  },
  ping: async () => null,
})
