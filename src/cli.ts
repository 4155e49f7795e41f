/**
 * Entry of the program `mailhorn`, the operator's command line. `bin/mailhorn` starts it with the right
 * Node.js version.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { sourceSettings } from './app/delivery.ts'
import { interfaceAddresses, zoneRecords } from './app/dns.ts'
import { examineHost, runDoctor } from './app/doctor.ts'
import { type Config, ConfigError, loadConfig } from './config/config.ts'
import type { CheckedSource } from './interfaces/cli/command.ts'
import { CommandError } from './interfaces/cli/control/result.ts'
import { examineService, openInstallation } from './interfaces/cli/installation.ts'
import { runProgram } from './interfaces/cli/program.ts'
import { systemClock } from './lib/clock.ts'
import { hostPort, isWildcard } from './lib/host-port.ts'
import { createResolver } from './protocols/dns/resolver.ts'
import { nameFaults } from './protocols/dns/reverse.ts'
import { OWNER_ONLY_UMASK } from './store/opening/file-modes.ts'

const root = new URL('..', import.meta.url).pathname

process.umask(OWNER_ONLY_UMASK)

const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { version: string }
const writerThread = new URL('./workers/writer.ts', import.meta.url)

process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit() // the reader of the pipe has closed it
  process.stderr.write(`mailhorn: the output cannot be written: ${error.message}\n`)
  process.exit(1)
})
process.stderr.on('error', () => process.exit(1))

process.exitCode = await runProgram(process.argv.slice(2), {
  version,
  openInstallation(dataDir) {
    const { dataDir: configured, database, apiKeys, accessTokens, mailHost } = readConfig()
    return openInstallation({
      dataDir: dataDir === undefined ? configured : resolve(dataDir),
      databaseUrl: database.url,
      apiKeyPrefix: apiKeys.prefix,
      accessTokenPrefix: accessTokens.prefix,
      mailHost,
      writerThread,
      clock: systemClock,
    })
  },
  backupSettings(dataDir) {
    const { dataDir: configured, database, secretKey, backup } = readConfig()
    return {
      dataDir: dataDir === undefined ? configured : resolve(dataDir),
      databaseUrl: database.url,
      secretKey,
      passphrase: backup.passphrase,
      s3: backup.s3,
      version,
      writerThread,
      clock: systemClock,
    }
  },
  checkSources,
  zoneRecords(serial, mtaStsId) {
    const config = readConfig()
    return { mailHost: config.mailHost, records: providerZoneOf(config, serial, mtaStsId) }
  },
  sourceSettings: () => sourceSettings(readConfig()),
  async examine(db, dataDir) {
    const config = readConfig()
    providerZoneOf(config)
    const folder = dataDir === undefined ? config.dataDir : resolve(dataDir)
    const report = await examineService(folder)
    return report ?? runDoctor({ ...config, dataDir: folder }, db, systemClock, false)
  },
  examineHost(settings, addresses) {
    return examineHost(readConfig({ ...process.env, ...settings }), addresses, systemClock)
  },
  interfaceAddresses,
  async ask(question) {
    if (!process.stdin.isTTY) return null
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    try {
      return await lines.question(`${question}: `)
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error
      return process.exit(130) // Ctrl+C
    } finally {
      lines.close()
    }
  },
  pause: setTimeout,
  say: line => void process.stderr.write(`${line}\n`),
  importSettings() {
    return { serviceUrl: serviceUrl(readConfig()), variable: name => process.env[name], clock: systemClock }
  },
  readInput: () => text(process.stdin),
  out: line => void process.stdout.write(line),
  err: line => void process.stderr.write(line),
})

/** @throws RecordFault */
function providerZoneOf(config: Config, serial = Math.floor(systemClock.now() / 1_000), mtaStsId?: string) {
  return zoneRecords(config, serial, mtaStsId)
}

/** Returns the URL of the service on this machine. */
function serviceUrl({ http: { listen, baseUrl } }: Config): string | null {
  if (listen === null) return baseUrl || null
  return `http://${hostPort(isWildcard(listen.host) ? 'localhost' : listen.host, listen.port)}`
}

/** @throws CommandError */
async function checkSources(): Promise<CheckedSource[]> {
  const { delivery, mailHost, dns } = readConfig()
  const resolver = createResolver({ servers: dns.resolvers, clock: systemClock })
  try {
    return await Promise.all(
      delivery.sourceIps.map(async ({ address, name }) => {
        const ehlo = name ?? mailHost
        return { address, name: ehlo, faults: await nameFaults(resolver, address, ehlo) }
      }),
    )
  } finally {
    resolver.close()
  }
}

/** @throws CommandError */
function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  try {
    return loadConfig(root, env).config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new CommandError(`the configuration is wrong:\n${error.message}`)
  }
}
