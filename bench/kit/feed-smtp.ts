/** Feeds a server over SMTP, pipelined on kept connections, from a process of its own. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openSession } from '../../src/deliver/client/open.ts'
import { DEFAULT_TIMEOUTS, type Session } from '../../src/deliver/client/types.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { FeedResult } from './contender.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { destination } from './namespace.ts'

interface FeedOptions {
  port: number
  count: number
  connections: number
  /** 1 for `one.test`. */
  domainCount: number
}

export function feedSmtp(options: FeedOptions): Promise<FeedResult> {
  const { port, count, connections, domainCount } = options
  const args = [port, count, connections, domainCount].map(String)
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

async function feed({ port, count, connections, domainCount }: FeedOptions): Promise<FeedResult> {
  const { wire } = benchMessage()
  let next = 0
  let acceptedCount = 0
  const work = async () => {
    const session = await open(port)
    for (let i = next++; i < count; i = next++) {
      const { recipients } = await session.send({
        mailFrom: `news@${SENDER_DOMAIN}`,
        recipients: [recipient(i, domainCount)],
        message: [wire],
        size: wire.length,
        smtpUtf8: false,
      })
      if (recipients[0]!.kind !== 'accepted') throw new Error(JSON.stringify(recipients[0]))
      acceptedCount++
    }
    await session.quit()
  }
  await Promise.all(Array.from({ length: connections }, work))
  const { user, system } = process.cpuUsage()
  return { acceptedCount, feederCpuSeconds: (user + system) / 1e6 }
}

async function open(port: number): Promise<Session> {
  const session = await openSession({
    address: '127.0.0.1',
    port,
    mxHost: 'localhost',
    localName: `feeder.${SENDER_DOMAIN}`,
    tls: 'none',
    timeouts: DEFAULT_TIMEOUTS,
    clock: systemClock,
  })
  if ('failure' in session) throw new Error(session.failure.message)
  return session
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port, count, connections, domainCount] = process.argv.slice(2).map(Number)
  const result = await feed({
    port: port!,
    count: count!,
    connections: connections!,
    domainCount: domainCount!,
  })
  process.stdout.write(JSON.stringify(result))
}
