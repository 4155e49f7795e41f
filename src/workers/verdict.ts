/** Entry of the worker thread that checks received mail. */
import { workerData } from 'node:worker_threads'
import { systemClock as clock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { serveThread } from '../lib/serve-thread.ts'
import { AFTER_ACCEPTING, stepBack } from '../lib/thread-priority.ts'
import { createJudge } from '../pipeline/inbound/verdicts/judge.ts'
import type { Judgement, VerdictThreadData } from '../pipeline/inbound/verdicts/verdicts.ts'
import { withOddNames } from '../protocols/dns/odd-names.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { onePiece } from '../store/blobs/blobs.ts'
import { openReader } from '../store/opening/dialect.ts'

const { location, mailHost, resolvers, filters, logLevel } = workerData as VerdictThreadData
stepBack(AFTER_ACCEPTING)
const { db, blobs } = openReader(location)
/** Leaves time for other servers when two name servers do not answer. */
const timeoutMs = 3_000
const resolver = withOddNames(createResolver({ servers: resolvers, clock, timeoutMs, totalMs: 8_000 }), {
  servers: resolvers,
  clock,
  timeoutMs,
})
const log = createLog(logLevel).child({ thread: 'verdicts' })
const judge = createJudge({ mailHost, resolver, filters, clock, log })

serveThread({
  judge: async ({ blobHash, bytes, ...envelope }: Judgement) => {
    if (bytes) return judge({ sizeBytes: bytes.length, read: () => onePiece(bytes) }, envelope)
    const { sizeBytes } = await blobs.open(db, blobHash)
    return judge({ sizeBytes, read: () => contentOf(blobHash) }, envelope)
  },
})

async function* contentOf(blobHash: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* (await blobs.open(db, blobHash)).content
}
