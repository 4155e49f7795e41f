/** Feeds the API by wrk, one request a message, over kept connections. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FeedResult } from './contender.ts'
import { benchMessage, SENDER_DOMAIN } from './message.ts'
import { weigh } from './process.ts'

interface FeedOptions {
  host: string
  port: number
  apiKey: string
  folder: string
  count: number
  connections: number
  domainCount: number
}

/** wrk ends by time or signal: its script says when the count is reached; what is under way then comes on top. */
const LONGEST_S = 600

export async function feedHttp(options: FeedOptions): Promise<FeedResult> {
  const script = join(options.folder, 'feed.lua')
  writeFileSync(script, luaScript(options))
  const args = ['-t1', `-c${options.connections}`, `-d${LONGEST_S}s`, '--timeout', '60s', '-s', script]
  const wrk = spawn('wrk', [...args, `http://${options.host}:${options.port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let feederCpuSeconds = 0
  const watch = setInterval(() => {
    feederCpuSeconds = Math.max(feederCpuSeconds, weigh([wrk.pid!]).cpuSeconds)
  }, 100)
  wrk.stdout.on('data', chunk => {
    output += chunk
  })
  wrk.stderr.once('data', () => wrk.kill('SIGINT'))
  await new Promise(resolve => wrk.on('close', resolve))
  clearInterval(watch)
  if (/Non-2xx/.test(output)) throw new Error(output)
  return { acceptedCount: Number(/(\d+) requests in/.exec(output)![1]), feederCpuSeconds }
}

function luaScript({ apiKey, count, connections, domainCount }: FeedOptions): string {
  const { subject, html, text } = benchMessage()
  const to = domainCount === 1 ? 'u@one.test' : 'u@@TO@@'
  const body = JSON.stringify({ from: `news@${SENDER_DOMAIN}`, to, subject, html, text })
  const [before, after] = body.split('u@@TO@@')
  return `
local sent, done = 0, 0
local headers = { ["content-type"] = "application/json", ["authorization"] = "Bearer ${apiKey}" }
local fixed = [====[${body}]====]
local before, after = [====[${before}]====], [====[${after ?? ''}]====]
request = function()
  local body = fixed
  if ${domainCount} > 1 then
    body = before .. "u" .. sent .. "@d" .. string.format("%04d", sent % ${domainCount} + 1) .. ".test" .. after
  end
  sent = sent + 1
  return wrk.format("POST", "/emails", headers, body)
end
response = function()
  done = done + 1
  if done == ${count - connections} then
    io.stderr:write("reached")
    wrk.thread:stop()
  end
end
`
}
