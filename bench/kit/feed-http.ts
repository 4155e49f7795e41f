/** Feeds the API by wrk, one request a message or a batch, over kept connections. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedOptions, FeedResult } from './contender.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { weigh } from './process.ts'
import { epochNow } from './time.ts'

/** Many messages a request. */
export interface BatchShape {
  size: number
  /** Whether each message has words of its own. */
  distinct: boolean
}

interface HttpFeedOptions extends FeedOptions {
  batch?: BatchShape | undefined
  host: string
  port: number
  apiKey: string
  folder: string
}

/** wrk ends by time or signal: its script says when the last reply is there. */
const DURATION_S_LENGTH_MAX = 600
const LOOK_EVERY_MS = 50

export async function feedHttp(options: HttpFeedOptions): Promise<FeedResult> {
  const script = join(options.folder, 'feed.lua')
  writeFileSync(script, luaScript(options))
  const args = [
    '-t1',
    `-c${options.connections}`,
    `-d${DURATION_S_LENGTH_MAX}s`,
    '--timeout',
    '60s',
    '--latency',
  ]
  const beganAt = epochNow()
  const wrk = spawn('wrk', [...args, '-s', script, `http://${options.host}:${options.port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let finishedAt = 0
  let feederCpuSeconds = 0
  const watch = setInterval(() => {
    feederCpuSeconds = Math.max(feederCpuSeconds, weigh([wrk.pid!]).cpuSeconds)
  }, LOOK_EVERY_MS)
  wrk.stdout.on('data', chunk => {
    output += chunk
  })
  wrk.stderr.once('data', () => {
    finishedAt = epochNow()
    wrk.kill('SIGINT')
  })
  await new Promise(resolve => wrk.on('close', resolve))
  clearInterval(watch)
  const count = Number(/(\d+) requests in/.exec(output)?.[1])
  if (count !== requestCount(options) || /Non-2xx|Socket errors/.test(output))
    throw new Error(`the HTTP feeder failed:\n${output}`)
  return { beganAt, elapsedMs: finishedAt - beganAt, p99Ms: latencyOf(output), feederCpuSeconds }
}

function latencyOf(output: string): number {
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(output)!
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']
}

function requestCount({ count, batch }: HttpFeedOptions): number {
  if (batch && count % batch.size !== 0) throw new Error(`${count} messages are no batches of ${batch.size}`)
  return batch ? count / batch.size : count
}

function luaScript(options: HttpFeedOptions): string {
  return options.batch ? batchScript(options, options.batch) : singleScript(options)
}

/** Each request the same, its messages to all domains in turn. */
function batchScript(options: HttpFeedOptions, { size, distinct }: BatchShape): string {
  const { subject, html, text } = benchMessage()
  const emails = Array.from({ length: size }, (_, i) => {
    const domain =
      options.domainCount === 1 ? 'one' : `d${String((i % options.domainCount) + 1).padStart(4, '0')}`
    const words = distinct
      ? { html: html.replace('<p ', `<p>Dear reader ${i},</p><p `), text: `Dear reader ${i},\n${text}` }
      : { html, text }
    return { from: `news@${SENDER_DOMAIN}`, to: `u${i}@${domain}.test`, subject, ...words }
  })
  return `
local body = [====[${JSON.stringify(emails)}]====]
${pacing(options)}
request = function()
  return wrk.format("POST", "/emails/batch", headers, body)
end
`
}

function singleScript(options: HttpFeedOptions): string {
  const { domainCount } = options
  const { subject, html, text } = benchMessage()
  const to = domainCount === 1 ? 'u@one.test' : 'u@@TO@@'
  const body = JSON.stringify({ from: `news@${SENDER_DOMAIN}`, to, subject, html, text })
  const [before, after] = body.split('u@@TO@@')
  return `
local sent = 0
local fixed = [====[${body}]====]
local before, after = [====[${before}]====], [====[${after ?? ''}]====]
${pacing(options)}
request = function()
  local body = fixed
  if ${domainCount} > 1 then
    body = before .. "u" .. sent .. "@d" .. string.format("%04d", sent % ${domainCount} + 1) .. ".test" .. after
  end
  sent = sent + 1
  return wrk.format("POST", "/emails", headers, body)
end
`
}

/** A connection that finds all requests given out waits for longer than the run takes. */
function pacing(options: HttpFeedOptions): string {
  const count = requestCount(options)
  return `
local given, done = 0, 0
local headers = { ["content-type"] = "application/json", ["authorization"] = "Bearer ${options.apiKey}" }
delay = function()
  if given == ${count} then
    return ${DURATION_S_LENGTH_MAX * 1000}
  end
  given = given + 1
  return 0
end
response = function()
  done = done + 1
  if done == ${count} then
    io.stderr:write("done")
    wrk.thread:stop()
  end
end
`
}
