/**
 * Feeds a server by Postfix's own load generator: one command after the other, on connections that are kept,
 * or new ones.
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedOptions, FeedResult } from './contender.ts'
import { feedSmtp, recipient, type SmtpFeedOptions } from './feed-smtp.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { weigh } from './process.ts'
import { epochNow } from './time.ts'

interface SourceFeedOptions extends FeedOptions, Pick<SmtpFeedOptions, 'port' | 'to' | 'isDistinct'> {
  folder: string
  /** A connection carries any number of messages when 0; the generator knows nothing in between. */
  perConnection?: 0 | 1
}

export interface EitherFeedOptions extends SourceFeedOptions {
  /** Uses Postfix's smtp-source, which waits for each reply, in place of our generator, which pipelines. */
  bySmtpSource?: boolean
}

const LOOK_EVERY_MS = 50
/**
 * Connections that may still be open when the next one is opened: the generator does not wait until the
 * server has seen their end, and the server limits the connections of a client.
 */
const CLOSING_CONNECTIONS = 5

export function feedByEither({ bySmtpSource = false, ...options }: EitherFeedOptions): Promise<FeedResult> {
  return bySmtpSource ? feedBySmtpSource(options) : feedSmtp(options)
}

/** To one destination: it has one recipient for all messages. */
async function feedBySmtpSource(options: SourceFeedOptions): Promise<FeedResult> {
  const { port, count, connections, domainCount, folder, to, perConnection = 0, isDistinct = false } = options
  if (domainCount !== 1) throw new Error('smtp-source has one recipient for all messages')
  const { wire } = benchMessage()
  const file = join(folder, 'feed.eml')
  writeFileSync(file, wire.toString('latin1').replaceAll('\r\n', '\n'))
  const envelope = ['-f', `news@${SENDER_DOMAIN}`, '-t', to ?? recipient(0, domainCount)]
  const message = isDistinct ? ['-l', String(wire.length)] : ['-F', file] // those it makes itself have ids of their own
  const sessions = perConnection === 1 ? connections - CLOSING_CONNECTIONS : connections
  const load = ['-s', String(sessions), '-m', String(count), '-M', `feeder.${SENDER_DOMAIN}`]
  const remaining = perConnection === 0 ? ['-d'] : []
  const beganAt = epochNow()
  const source = spawn('smtp-source', [...remaining, ...load, ...envelope, ...message, `127.0.0.1:${port}`], {
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
