/**
 * The program of a test process: it runs the test files that its arguments name, one after another. The next
 * file begins when nothing keeps the event loop alive any more, which is when a process for one file would
 * have ended. After each file, the program prints a line that `scripts/test-process.ts` reads.
 */
import { pathToFileURL } from 'node:url'
import { takeGuardCode } from './guard.ts'
import { resetIds } from './new-id.ts'

const files = process.argv.slice(2)
const uvu = globalThis as unknown as { UVU_DEFER: number; UVU_QUEUE: unknown[][] }
// With this variable, suites wait for `exec`. uvu reads it while it is loaded, by `suite.ts`, too.
uvu.UVU_DEFER = 1
const { exec } = await import('uvu')
const { takeUnrunSuites } = await import('./suite.ts')
const environment = { ...process.env }

let running = -1
let isFinished = true
let cpuAtStart = process.cpuUsage()

process.on('beforeExit', next)
next()

function next() {
  if (!isFinished) throw new Error('the event loop is empty, but the tests of this file have not ended')
  if (running >= 0) reportFile()
  const file = files[++running]
  if (file === undefined) return
  process.exitCode = undefined
  isFinished = false
  // Without a turn of the event loop, there is no further 'beforeExit'.
  setImmediate(() => void runFile(file))
}

async function runFile(file: string) {
  cpuAtStart = process.cpuUsage()
  resetIds()
  uvu.UVU_QUEUE.splice(0, Infinity, [null])
  await import(pathToFileURL(file).href)
  await exec()
  isFinished = true
}

function reportFile() {
  restoreEnvironment()
  const unrun = takeUnrunSuites()
  if (unrun.length > 0) {
    console.error(`suites declared but never run: ${unrun.join(', ')}`)
    process.exitCode = 1
  }
  process.exitCode = takeGuardCode() ?? process.exitCode
  const { user, system } = process.cpuUsage(cpuAtStart)
  const result = { code: process.exitCode ?? 0, cpuMs: Math.round((user + system) / 1000) }
  process.stdout.write(`\0file ended ${JSON.stringify(result)}\n`)
}

/** Restores the environment, so that changes of one file do not affect the next. */
function restoreEnvironment() {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}
