/**
 * The service: reads the configuration, starts the parts, prints the address, and stops on the first signal.
 *
 * The image and `npm start` run the file that is built from this one.
 */
import { setFlagsFromString } from 'node:v8'
import { type App, startApp } from './app/app.ts'
import { endOnUncaughtErrors } from './app/crashes.ts'
import { startFaultText, storeFailure } from './app/start-faults.ts'
import { type Config, loadConfig } from './config/config.ts'
import { settingsInForce } from './config/in-force.ts'
import { collectGarbageWhenIdle } from './lib/idle-gc.ts'
import { createLog, type Log } from './lib/log.ts'
import { createLogOutput, outliveBrokenStreams } from './lib/log-output.ts'
import { trimWhenIdle } from './lib/malloc-trim.ts'
import { connectServiceManager } from './lib/service-manager.ts'
import type { FirstRun } from './resources/accounts/first-run.ts'
import { OWNER_ONLY_UMASK } from './store/opening/file-modes.ts'

/**
 * Heap limits of the process. Young generations start at 2 MB and grow to 16 MB in busy threads; the command
 * line limits that of the main thread, and `lib/thread-memory.ts` those of the other threads. Old generations
 * at most double between collections (decision 0017).
 */
for (const flag of ['--min-semi-space-size=2', '--max-semi-space-size=0', '--heap-growing-percent=100'])
  setFlagsFromString(flag)
collectGarbageWhenIdle()
outliveBrokenStreams()
process.umask(OWNER_ONLY_UMASK)

const root = new URL('..', import.meta.url).pathname
let config: Config | undefined
let app: App | undefined
let isStopping = false

try {
  const loaded = loadConfig(root, process.env)
  const { warnings } = loaded
  config = loaded.config
  const log = createLog(config.log.level)
  for (const warning of warnings) log.warn({ event: 'config_warning' }, warning)
  endOnUncaughtErrors({
    dataDir: config.dataDir,
    log,
    stop() {
      if (isStopping) return new Promise(() => {}) // the stop in progress ends the process
      isStopping = true
      return app?.stop()
    },
  })
  const notifyManager = await connectServiceManager(process.env)
  app = await startApp(config, {
    log,
    settings: settingsInForce(config, loaded.settings),
    onFatal(error) {
      const { fields, text } = storeFailure(error, loaded.config)
      log.fatal({ event: 'store_failed', ...fields }, text)
      process.exit(1)
    },
  })
  if (app.firstRun) showOnce(firstRunBanner(app.baseUrl, app.firstRun, config.simulator.domain), log)
  log.info(
    {
      event: 'ready',
      baseUrl: app.baseUrl,
      dns: app.dnsAddress,
      inbound: app.inboundAddress,
      mailHost: config.mailHost,
    },
    'ready',
  )
  notifyManager?.('READY=1')
  void trimWhenIdle()
  const running = app
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (isStopping) return
      isStopping = true
      notifyManager?.('STOPPING=1')
      log.info({ event: 'stopping', signal }, `The service received ${signal} and stops`)
      end(running).catch(error => {
        log.error({ event: 'stop_failed', err: error }, 'The service did not stop cleanly')
        process.exit(1)
      })
    })
} catch (error) {
  process.stderr.write(`${startFaultText(error, config)}\n`)
  process.exit(1)
}

/**
 * Prints the first password and API key, which are stored nowhere else in clear text, to stdout, or to stderr
 * if stdout accepts nothing.
 */
function showOnce(text: string, log: Log) {
  if (createLogOutput().write(text)) return
  process.stderr.write(text)
  log.warn(
    { event: 'first_credentials_not_shown' },
    'The first password and API key could not be written to stdout. If stderr is lost, too, set another password with `mailhorn user password <address>`',
  )
}

async function end(app: App) {
  await app.stop()
  process.exit()
}

/** Returns the text that the console shows once, after the first start. */
function firstRunBanner(
  baseUrl: string,
  { email, generatedPassword, apiKey, credentialsFile }: FirstRun,
  simulatorDomain: string,
): string {
  const message = JSON.stringify({
    from: 'You <you@example.com>',
    to: `delivered@${simulatorDomain}`,
    subject: 'Hello from Mailhorn',
    text: 'It works.',
  })
  const place = credentialsFile === null ? undefined : `(in ${credentialsFile})`
  const shownPassword = generatedPassword === null ? '(from the configuration)' : (place ?? generatedPassword)
  return `
Mailhorn is ready at ${baseUrl}

  Dashboard   ${baseUrl}/dashboard/
  User        ${email}
  Password    ${shownPassword}
  API key     ${place ?? apiKey}

${place === undefined ? 'Password and key are shown this once. ' : ''}Send a first message, to the simulator:

  curl -s ${baseUrl}/emails -H 'Authorization: Bearer ${place === undefined ? apiKey : '<API key>'}' -H 'Content-Type: application/json' -d '${message}'

`
}
