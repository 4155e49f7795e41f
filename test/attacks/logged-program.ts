/**
 * The service with both output streams in a file, as installations without a supervisor run it (`>
 * mailhorn.log 2>&1`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compiled } from '../kit/compiled.ts'
import type { Program, ProgramEnd } from '../kit/process.ts'
import { pause } from './scale.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const START_LIMIT_MS = 60_000
const LOOK_EVERY_MS = 50

export interface LoggedOptions {
  dataDir: string
  /** Environment variables without their `MAILHORN_`, including the addresses for HTTP and DNS. */
  settings: Record<string, string>
  logFile: string
}

/** Resolves when it answers. @throws when it ends before */
export async function startLogged({ dataDir, settings, logFile }: LoggedOptions): Promise<Program> {
  const log = openSync(logFile, 'a')
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const env: Record<string, string> = {
    PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH ?? ''}`,
    ...compiled(),
    MAILHORN_DATA_DIR: dataDir,
    MAILHORN_SMTP_INBOUND_MTA_STS: 'off',
    MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'true',
  }
  for (const [name, value] of Object.entries(settings)) env[`MAILHORN_${name}`] = value
  const child = spawn('sh', ['-c', scripts.start], { cwd: ROOT, env, stdio: ['ignore', log, log] })
  closeSync(log)
  const output = () => (logFile.startsWith('/dev/') ? '' : readFileSync(logFile, 'utf8'))
  let hasEnded = false
  const ended = once(child, 'exit').then(([code, signal]): ProgramEnd => {
    hasEnded = true
    return { code, signal, output: output() }
  })
  const baseUrl = `http://${settings.HTTP_LISTEN}`
  const call: Program['call'] = async (method, path, { token, body } = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const deadline = performance.now() + START_LIMIT_MS
  while ((await call('GET', '/healthz').catch(() => undefined))?.status !== 200) {
    if (hasEnded || performance.now() > deadline) {
      child.kill('SIGKILL')
      throw new Error(`the service did not start:\n${(await ended).output}`)
    }
    await pause(LOOK_EVERY_MS)
  }
  return {
    ...{ baseUrl, dnsPort: Number(settings.DNS_LISTEN?.split(':').at(-1)), pid: child.pid!, call, ended },
    get output() {
      return output()
    },
    logs: [],
    end(signal) {
      child.kill(signal)
      return ended
    },
    close() {
      child.kill('SIGKILL')
      return ended
    },
  }
}
