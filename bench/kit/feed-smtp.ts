/** Feeds a server over SMTP, pipelined, on connections kept or new ones, from a process of its own. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../src/lib/clock.ts'
import { openSession } from '../../src/pipeline/delivery/smtp-client/open.ts'
import { DEFAULT_TIMEOUTS, type SmtpSession } from '../../src/pipeline/delivery/smtp-client/types.ts'
import type { FeedOptions, FeedResult } from './contender.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { destination } from './namespace.ts'
import { percentile } from './numbers.ts'
import { epochNow } from './time.ts'

export interface SmtpFeedOptions extends FeedOptions {
  port: number
  /** Address that receives all messages, in place of the destination domains. */
  to?: string
  /** Messages after which a connection is closed and another one opened; any number when 0. */
  perConnection?: number
  /**
   * Messages differ, as those of strangers do: each has a field of its own, so that nothing can be kept once
   * for all.
   */
  isDistinct?: boolean
}

export function feedSmtp(options: SmtpFeedOptions): Promise<FeedResult> {
  const { port, count, connections, domainCount, to = '', perConnection = 0, isDistinct = false } = options
  const args = [port, count, connections, domainCount, perConnection, Number(isDistinct), to].map(String)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.on('close', code =>
      code === 0 ? resolve(JSON.parse(output)) : reject(new Error('the SMTP feeder failed')),
    )
  })
}

export function recipient(index: number, domainCount: number): string {
  return domainCount === 1 ? 'u@one.test' : `u${index}@${destination((index % domainCount) + 1)}`
}

async function feed({
  port,
  count,
  connections,
  domainCount,
  to,
  perConnection = 0,
  isDistinct = false,
}: SmtpFeedOptions): Promise<FeedResult> {
  const { wire } = benchMessage()
  const latencies: number[] = []
  const atRest = process.cpuUsage()
  const beganAt = epochNow()
  let next = 0
  const work = async (_: unknown, worker: number) => {
    let session = await open(port, worker)
    let sentCount = 0
    for (let i = next++; i < count; i = next++) {
      if (perConnection > 0 && sentCount === perConnection) {
        await session.quit()
        session = await open(port, worker)
        sentCount = 0
      }
      sentCount += 1
      const sentAt = performance.now()
      const message = isDistinct ? [ownField(i), wire] : [wire]
      const { recipients } = await session.send({
        mailFrom: `news@${SENDER_DOMAIN}`,
        recipients: [to || recipient(i, domainCount)],
        message,
        size: message.reduce((size, { length }) => size + length, 0),
        smtpUtf8: false,
      })
      if (recipients[0]!.kind !== 'accepted') throw new Error(JSON.stringify(recipients[0]))
      latencies.push(performance.now() - sentAt)
    }
    return session
  }
  const sessions = await Promise.all(Array.from({ length: connections }, work))
  const elapsedMs = epochNow() - beganAt
  const { user, system } = process.cpuUsage(atRest)
  for (const session of sessions) await session.quit()
  return {
    beganAt,
    elapsedMs,
    p99Ms: percentile(latencies, 0.99),
    feederCpuSeconds: (user + system) / 1e6,
  }
}

function ownField(index: number): Buffer {
  return Buffer.from(`X-Number: ${process.pid}.${index}\r\n`)
}

/** Each of those who feed has an address of its own, as servers limit what one may do. */
async function open(port: number, worker: number): Promise<SmtpSession> {
  const session = await openSession({
    address: '127.0.0.1',
    port,
    mxHost: 'localhost',
    sourceAddress: `127.0.0.${worker + 2}`,
    localName: `feeder.${SENDER_DOMAIN}`,
    tls: { mode: 'none' },
    timeouts: DEFAULT_TIMEOUTS,
    clock: systemClock,
  })
  if ('failure' in session) throw new Error(session.failure.message)
  return session
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, count, connections, domainCount, perConnection, isDistinct] = process.argv
    .slice(2, 8)
    .map(Number)
  const to = process.argv[8]!
  const result = await feed({
    port: port!,
    count: count!,
    connections: connections!,
    domainCount: domainCount!,
    perConnection: perConnection!,
    isDistinct: isDistinct === 1,
    to,
  })
  process.stdout.write(JSON.stringify(result))
}
