/** Entry of the thread that reads received mail which is small, and the head of what could not be read in full. */
import { workerData } from 'node:worker_threads'
import type { MailThreadData, ReadingOrder } from './inbound/mail-reader.ts'
import { readInbound, readInboundHead } from './inbound/read-inbound.ts'
import { Moved, serveCalls } from './lib/calls.ts'
import { AFTER_ACCEPTING, stepBack } from './lib/thread-priority.ts'

const { calls, mailHost } = workerData as MailThreadData

stepBack(AFTER_ACCEPTING)

serveCalls(calls, {
  async read({ bytes, fault }: ReadingOrder) {
    const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const read = fault === null ? readInbound(octets, mailHost) : readInboundHead(octets, fault, mailHost)
    return new Moved(read, [read.content.body.buffer as ArrayBuffer])
  },
})
