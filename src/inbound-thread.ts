/** Entry of the thread that reads received mail. */
import { workerData } from 'node:worker_threads'
import type { MailThreadData, ReadingOrder, ReadMail } from './inbound/mail-reader.ts'
import { readHeadOnly, readMail } from './inbound/parts/read-mail.ts'
import { encodeInboundContent } from './inbound/stored-content.ts'
import { Moved, serveCalls } from './lib/calls.ts'
import { AFTER_ACCEPTING, stepBack } from './lib/thread-priority.ts'
import { isClaim } from './verdicts/claims.ts'

const { calls, mailHost } = workerData as MailThreadData

stepBack(AFTER_ACCEPTING)

serveCalls(calls, {
  async read({ bytes, fault }: ReadingOrder): Promise<Moved<ReadMail>> {
    const octets = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const { html, text, headers, ...rest } = fault === null ? readMail(octets) : readHeadOnly(octets, fault)
    const believed = headers.filter(([name, value]) => !isClaim(name, value, mailHost))
    const encoded = encodeInboundContent({ html, text, headers: believed })
    const body = new Uint8Array(encoded.body)
    return new Moved({ ...rest, content: { ...encoded, body } }, [body.buffer])
  },
})
