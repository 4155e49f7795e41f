/**
 * Runs the service for development: `npm run dev`. Builds the service and the dashboard, starts the service,
 * and builds and starts it again when a file in `src`, `config` or `scripts` changes. After a change of the
 * dashboard alone, only the dashboard is built; open pages reload by themselves. Ends the service on SIGINT,
 * SIGTERM and SIGHUP.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { watchSources } from './source-watcher.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const WATCHED = ['src', 'config', 'scripts']
/** The service reads these files from the built dashboard only. */
const DASHBOARD = join('src', 'interfaces', 'dashboard', 'web', '/')
const NAMED_FILES_MAX = 3
/** Shell command of `npm start`, with its flags and its environment. It ends in `exec node …`. */
const { start: START_COMMAND } = (
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts
/** The command finds the Node that runs this program. */
const SERVICE_PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)

let service: ChildProcess | undefined
/** The service that has been asked to end. */
let ending: ChildProcess | undefined
let builder: ChildProcess | undefined
let isStopping = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())

const firstStart = buildAndStart()
const watcher = watchSources(root, WATCHED, restart)

async function restart(files: string[]) {
  await firstStart
  const others = files.length - NAMED_FILES_MAX
  const named = files.slice(0, NAMED_FILES_MAX).join(', ')
  print(`changed: ${named}${others > 0 ? ` and ${others} more` : ''}`)
  if (service && files.every(file => file.startsWith(DASHBOARD))) {
    await buildDashboard()
    return
  }
  await endService()
  await buildAndStart()
}

/** The builders do nothing when their sources are unchanged. They print their own errors. */
async function buildAndStart() {
  const hasService = await build('service')
  await buildDashboard()
  if (isStopping) return
  if (hasService) start()
  else print('the service was not built; waiting for a change')
}

async function buildDashboard() {
  const isBuilt = await build('dashboard', '--development')
  if (!isBuilt && !isStopping) print('the dashboard was not built')
}

async function build(part: 'service' | 'dashboard', ...flags: string[]): Promise<boolean> {
  if (isStopping) return false
  const program = join(root, `scripts/build-${part}.js`)
  builder = spawn(process.execPath, [program, ...flags], { cwd: root, stdio: 'inherit' })
  const [code] = await once(builder, 'close')
  builder = undefined
  return code === 0
}

function start() {
  const started = spawn(START_COMMAND, {
    shell: true,
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: SERVICE_PATH },
  })
  service = started
  print(`started the service (process ${started.pid})`)
  started.on('exit', (code, signal) => {
    if (service !== started) return
    service = undefined
    if (!isStopping) print(`the service ended (${signal ?? `exit code ${code}`}); waiting for a change`)
  })
}

/** The service completes the requests in progress when it gets SIGTERM. */
async function endService() {
  ending = service ?? ending
  service = undefined
  if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
  const exited = once(ending, 'exit')
  ending.kill('SIGTERM')
  await exited
}

/** Stops the service; a second signal kills it. */
async function stop() {
  if (isStopping) {
    ending?.kill('SIGKILL')
    return
  }
  isStopping = true
  watcher.close()
  builder?.kill()
  await endService()
  print('stopped')
  process.exit(0)
}

function print(text: string) {
  console.log(`dev: ${text}`)
}
