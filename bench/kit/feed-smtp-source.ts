/** Feeds a server by Postfix's own load generator: one command after the other, on connections that are kept. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedOptions, FeedResult } from './contender.ts'
import { recipient } from './feed-smtp.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { weigh } from './process.ts'
import { epochNow } from './time.ts'

interface SourceFeedOptions extends FeedOptions {
  port: number
  folder: string
}

const LOOK_EVERY_MS = 50

/** To one destination: it has one recipient for all messages. */
export async function feedBySmtpSource(options: SourceFeedOptions): Promise<FeedResult> {
  const { port, count, connections, domainCount, folder } = options
  if (domainCount !== 1) throw new Error('smtp-source has one recipient for all messages')
  const file = join(folder, 'feed.eml')
  writeFileSync(file, benchMessage().wire.toString('latin1').replaceAll('\r\n', '\n'))
  const envelope = ['-f', `news@${SENDER_DOMAIN}`, '-t', recipient(0, domainCount), '-F', file]
  const load = ['-d', '-s', String(connections), '-m', String(count), '-M', `feeder.${SENDER_DOMAIN}`]
  const beganAt = epochNow()
  const source = spawn('smtp-source', [...load, ...envelope, `127.0.0.1:${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  let feederCpuSeconds = 0
  const watch = setInterval(() => {
    feederCpuSeconds = Math.max(feederCpuSeconds, weigh([source.pid!]).cpuSeconds)
  }, LOOK_EVERY_MS)
  const code = await new Promise(resolve => source.on('close', resolve))
  clearInterval(watch)
  if (code !== 0) throw new Error('smtp-source failed')
  return { beganAt, elapsedMs: epochNow() - beganAt, p99Ms: Number.NaN, feederCpuSeconds }
}
