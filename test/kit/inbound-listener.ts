/**
 * Starts the listener of port 25 with a scripted store and a manual clock. Blobs are counted and not kept.
 */
import * as assert from 'uvu/assert'
import { createLog } from '../../src/lib/log.ts'
import { createMetrics } from '../../src/lib/metrics.ts'
import { createIngestLoad } from '../../src/pipeline/inbound/ingest-load.ts'
import { type InboundListenerOptions, startInboundListener } from '../../src/pipeline/inbound/listener.ts'
import { createMailReport } from '../../src/pipeline/inbound/mail-report.ts'
import type { RcptPolicy } from '../../src/pipeline/inbound/rcpt-policy.ts'
import { createManualClock } from './manual-clock.ts'
import { newId } from './new-id.ts'
import { dialSmtp, type SmtpClient } from './smtp-client.ts'
import type { TestContext } from './suite.ts'
import { testCertificate } from './tls.ts'

interface Scripted {
  admit: RcptPolicy
  take: InboundListenerOptions['take']
  connectionsMax: number
  trustedProxies: InboundListenerOptions['trustedProxies']
  /** Writes a block of a message. */
  write(block: Uint8Array): Promise<void>
}

export const admitAll: RcptPolicy = async recipient => ({
  kind: 'inbox',
  message: { accountId: newId(0), domainId: newId(0) },
  recipient,
})

export async function openInboundListener(t: TestContext, scripted: Partial<Scripted> = {}) {
  const {
    admit = admitAll,
    take = async () => {},
    write = async () => {},
    connectionsMax,
    trustedProxies,
  } = scripted
  const left = { blobs: 0 }
  const metrics = createMetrics()
  const clock = createManualClock()
  const logged: Record<string, unknown>[] = []
  const log = createLog('info', { write: line => void logged.push(JSON.parse(line)) })
  const listener = await t.using(
    startInboundListener({
      listen: { host: '127.0.0.1', port: 0 },
      mailHost: 'mailhorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      newPerMinute: 0,
      isClosed: () => false,
      connectionsMax,
      trustedProxies,
      admit,
      take,
      openBlob() {
        left.blobs += 1
        return {
          write,
          async finish() {
            left.blobs -= 1
            return { hash: new Uint8Array(32), sizeBytes: 0, body: null, draft: null }
          },
          async discard() {
            left.blobs -= 1
          },
        }
      },
      ingestLoad: createIngestLoad(clock),
      report: createMailReport({ metrics, log, clock }, 'inbound'),
      clock,
      log,
    }),
  )
  const { port } = listener.address()
  const greeted = async (from = '127.0.0.1'): Promise<SmtpClient> => {
    const client = await t.using(dialSmtp({ port, from }))
    assert.match(await client.reply(), /^220 /)
    await client.say('EHLO client.example')
    assert.match(await client.say('MAIL FROM:<ann@there.example>'), /^250 /)
    return client
  }
  const inData = async (from?: string) => {
    const client = await greeted(from)
    assert.match(await client.say('RCPT TO:<bob@here.example>'), /^250 /)
    assert.match(await client.say('DATA'), /^354 /)
    return client
  }
  const figures = () => metrics.text().match(/^mailhorn_.*/gm)
  return { port, clock, greeted, inData, left, figures, logged }
}

/** Sends what is left of a message. @returns the reply */
export const finish = (client: SmtpClient, text = 'hello') => client.say(`Subject: one\r\n\r\n${text}\r\n.`)
