/**
 * Entry of a thread that reads hostile mail as the threads of the service do; its heap is small
 * (`small-heap.ts`).
 */
import { parentPort } from 'node:worker_threads'
import { withShortLines, withWholeLines } from '../../src/interfaces/submission/lines.ts'
import { partsOf, readMessage } from '../../src/interfaces/submission/read-message.ts'
import { isRefusal } from '../../src/pipeline/accept/refusal.ts'
import { isRemote } from '../../src/pipeline/accept/submission.ts'
import { streamWithOwnFields } from '../../src/pipeline/inbound/verdicts/strip-auth-results.ts'
import { readReport } from '../../src/protocols/bounces/read-report.ts'
import { readMail } from '../../src/protocols/mime/read/read-mail.ts'
import { filled, HOSTILE_BODIES, HOSTILE_MESSAGES, hostileMail, PLACES } from './hostile-mail.ts'
import { mailbox } from './mail.ts'
import type { ReadingFacts, ReadingTask } from './small-heap.ts'

const BEGINNING_CHARACTERS = 100

function mailOf({ body, place, message, fill, sizeBytes }: ReadingTask): Buffer {
  if (fill !== undefined) return filled('From: ann@here.example\r\n\r\n', fill, sizeBytes)
  if (message !== undefined) return HOSTILE_MESSAGES.find(({ name }) => name === message)!.make(sizeBytes)
  const found = HOSTILE_BODIES.find(({ name }) => name === body)!
  return hostileMail(found, PLACES.find(({ name }) => name === place)!, sizeBytes)
}

const READERS: Record<ReadingTask['reader'], (mail: Buffer) => ReadingFacts | Promise<ReadingFacts>> = {
  inbound(mail) {
    const { subject, text, html, parts, faults } = readMail(mail)
    const sizes = parts.map(({ sizeBytes }) => sizeBytes)
    return {
      subject,
      ...lengths(text, html),
      sizes,
      faults,
      beginning: (text ?? html ?? '').slice(0, BEGINNING_CHARACTERS),
    }
  },
  reports(mail) {
    return { kind: readReport(mail, { correlationHeader: 'X-Ref', providerOf: () => undefined }).kind }
  },
  async submission(mail) {
    const octets = Buffer.concat([Buffer.from('Resend-Idempotency-Key: key\r\n'), mail])
    const facts = {
      hidesOrigin: false,
      octets,
      recipients: [mailbox('bob@there.example')],
      now: 0,
      messageName: 'new-name',
      dsn: null,
      received: { name: 'Received', value: 'by here' },
    }
    const read = await readMessage(facts, partsOf)
    if (isRefusal(read)) return { refused: read.message }
    const { html, text, attachments, raw } = read.message
    const sizes = attachments.map(file => (isRemote(file) ? 0 : file.content.length))
    return { ...lengths(text, html), sizes, ...lineFacts(Buffer.from(raw!.message)) }
  },
  lines: mail => lineFacts(withShortLines(withWholeLines(mail))),
  async download(mail) {
    const pieces = (async function* () {
      for (let at = 0; at < mail.length; at += 65_536) yield mail.subarray(at, at + 65_536)
    })()
    let sizeBytes = 0
    for await (const piece of streamWithOwnFields(pieces, 'mail.acme.example', '')) sizeBytes += piece.length
    return { sizeBytes }
  },
}

function lengths(text: string | null, html: string | null) {
  return { textLength: text?.length ?? null, htmlLength: html?.length ?? null }
}

/** Measures the lines of a composed message. */
function lineFacts(raw: Buffer) {
  let longestLine = 0
  let bareCount = 0
  let start = 0
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === 0x0d && raw[at + 1] === 0x0a) {
      longestLine = Math.max(longestLine, at - start)
      at += 1
      start = at + 1
    } else if (raw[at] === 0x0d || raw[at] === 0x0a) bareCount += 1
  }
  return { sizeBytes: raw.length, longestLine, bareCount, endsInLineEnd: start === raw.length }
}

parentPort!.on('message', async (task: ReadingTask) => {
  parentPort!.postMessage(await READERS[task.reader](mailOf(task)))
})
