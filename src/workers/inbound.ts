/**
 * Entry of the worker thread that parses small received mail, and the header section of mail that could not
 * be read in full.
 */
import { workerData } from 'node:worker_threads'
import { serveThread } from '../lib/serve-thread.ts'
import { AFTER_ACCEPTING, stepBack } from '../lib/thread-priority.ts'
import { Transferred } from '../lib/worker-rpc.ts'
import type { MailThreadData, ReadingOrder } from '../pipeline/inbound/mail-reader.ts'
import { readInbound, readInboundHead } from '../pipeline/inbound/read-inbound.ts'

const { mailHost } = workerData as MailThreadData

stepBack(AFTER_ACCEPTING)

serveThread({
  async read({ bytes, fault }: ReadingOrder) {
    const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const read = fault === null ? readInbound(octets, mailHost) : readInboundHead(octets, fault, mailHost)
    return new Transferred(read, [read.content.body.buffer as ArrayBuffer])
  },
})
