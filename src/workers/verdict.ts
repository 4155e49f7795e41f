/** Entry of the worker thread that checks received mail. */
import { workerData } from 'node:worker_threads'
import { systemClock as clock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { serveThread } from '../lib/serve-thread.ts'
import { AFTER_ACCEPTING, stepBack } from '../lib/thread-priority.ts'
import { createJudge } from '../pipeline/inbound/verdicts/judge.ts'
import type { Mail } from '../pipeline/inbound/verdicts/mail.ts'
import type { NumberedJudgement, VerdictThreadData } from '../pipeline/inbound/verdicts/verdicts.ts'
import { markedMail, markedResolver } from '../pipeline/inbound/verdicts/work-mark.ts'
import { withOddNames } from '../protocols/dns/odd-names.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { onePiece } from '../store/blobs/blobs.ts'
import { openReader } from '../store/opening/dialect.ts'

const data = workerData as VerdictThreadData
const { location, mailHost, resolvers, filters, logLevel } = data
const working = new Int32Array(data.working)
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
  judge: async ({ number, blobHash, bytes, ...envelope }: NumberedJudgement) => {
    const mark = () => void Atomics.store(working, 0, number)
    mark()
    const mail = await mailOf(blobHash, bytes)
    return judge(markedMail(mail, mark), envelope, markedResolver(resolver, mark))
  },
  ping: async () => null,
})

async function mailOf(blobHash: Uint8Array, bytes: Uint8Array | null): Promise<Mail> {
  if (bytes) return { sizeBytes: bytes.length, read: () => onePiece(bytes) }
  const { sizeBytes } = await blobs.open(db, blobHash)
  return { sizeBytes, read: () => contentOf(blobHash) }
}

async function* contentOf(blobHash: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* (await blobs.open(db, blobHash)).content
}
