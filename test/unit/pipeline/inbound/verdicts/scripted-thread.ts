/** Stands in for the thread that judges: does to each message what its sender says. */
import { workerData } from 'node:worker_threads'
import { serveThread } from '../../../../../src/lib/serve-thread.ts'
import { unknownAuthentication, verdictsOf } from '../../../../../src/pipeline/inbound/verdicts/conclusion.ts'
import type { Judgement, VerdictThreadData } from '../../../../../src/pipeline/inbound/verdicts/verdicts.ts'

const { mailHost } = workerData as VerdictThreadData
let judged = 0

serveThread({
  async judge({ mailFrom }: Judgement) {
    judged += 1
    const place = judged
    if (mailFrom === 'busy') for (;;);
    if (mailFrom === 'dies') process.exit(1)
    if (mailFrom === 'throws') throw new Error('as the test wants it')
    if (mailFrom === 'waits') await new Promise(() => {})
    if (mailFrom === 'slow') await new Promise(resolve => setTimeout(resolve, 20))
    return verdictsOf(mailHost, unknownAuthentication(`judged ${place} on this thread`))
  },
})
