/**
 * Runs test files in a network namespace that has only loopback where the system allows one. Files of
 * `test/unit`, `test/flow` and `test/api` share processes with their neighbours, one file after another. A
 * file fails when a test fails, when it ran no test, when it keeps handles open after its last test, when it
 * hangs (the test is named), or when it reaches outside loopback.
 *
 *   node scripts/test.ts <folder or file>... [--except folder] [--match text] [--grep title] [--stores]
 *     [--watch]
 *
 * --except leaves a folder out. --match selects files by their paths, --grep selects tests whose `suite:
 * title` contains the text; files of a folder that do not contain the words of the text are not loaded. With
 * --watch, the tests run again whenever a source or test file changes. With --stores, only files that open
 * stores are run: on PostgreSQL, too, which `test/kit/database.ts` is about.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { watchSources } from './source-watcher.ts'
import { type FileResult, killTestProcesses, runTestFiles } from './test-process.ts'

/**
 * Tests that are skipped with --stores, because they do not depend on the database: DNS, TLS, sessions,
 * peers, and most HTTP tests. Without --stores they run on PostgreSQL, too.
 */
const ON_SQLITE_ALONE = new RegExp(
  [
    'flow/dns/',
    'flow/delivery/(?:explained-doors|mail-loops|peer-faults|routing|slow-hosts|smart-host|source-ips)\\.',
    'flow/delivery/(?:tls|tls-reports|verdicts)\\.',
    'flow/http/(?:any-request|bodies|hostile-http|openapi|other-account|password|rate-limit|send-\\w+|sign-in)\\.',
    'flow/http/(?:attachment-\\w+|autoconfigure|email-attachments|guessing|links|raw-email)\\.',
    'flow/http/(?:reply-headers|shares|slow-bodies|sources|stopping|unapplied-fields)\\.',
    'flow/certificates/authority\\.',
    'flow/inbound/(?:answers|attacks|verdicts)\\.',
    'flow/submission/(?:attacks|dsn|hide-origin)\\.',
    'unit/(?:app/mta-sts|scripts/\\w+|interfaces/api/body/[\\w-]+|interfaces/cli/.*)\\.test\\.',
    'unit/pipeline/delivery/(?:holds|linked|message|outages|tls-policy/[\\w-]+|tarpits|worker)\\.',
    'unit/resources/contacts/(?:hostile-import|import-(?:answers|columns|consent|text))\\.',
    'unit/(?:interfaces/api/web-host|resources/certificates/keeper)\\.',
    'unit/store/(?:blobs|full-disk|kysely|migrate|open|space|unavailable)\\.',
  ].join('|'),
)
/**
 * File system in memory, and the free space that tests need there. Most tests wait for the disk otherwise.
 */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 4 * 1024 ** 3
/** Tests that may use it, since they start no programs of other projects, which may have no access to it. */
const FIT_FOR_MEMORY = /\/test\/(?:unit|flow|api)\//
const SLOWEST_SHOWN = 12
const root = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = resolve(root, 'src')
/** Tests that measure memory or change their process: each file has a process of its own. */
const ALONE = /\/test\/(?:faults|peers|browser|program|attacks)\//
/** Number of neighbouring files that share a process. It is lower for files that start the whole service. */
const FILES_PER_PROCESS = 16
const FLOW_FILES_PER_PROCESS = 12
/** Duration of the last run of each file, in ms. */
const TIMES = resolve(root, 'node_modules/.cache/test-times.json')
/** Duration that is assumed for a file that has not run yet. */
const USUAL_MS = 2_000
const STARTS_SERVICE = /\/test\/(?:flow|api)\//

const texts = new Map<string, string>()

if (process.env.TEST_INSIDE || !(await enterNamespace())) process.exitCode = await main(process.argv.slice(2))

/** Runs this program again where there is no network but loopback. False when the system refuses. */
async function enterNamespace(): Promise<boolean> {
  const unshare = process.getuid?.() === 0 ? ['-n'] : ['-r', '-n']
  const probe = spawnSync('unshare', [...unshare, 'sh', '-c', 'ip link set lo up'])
  if (probe.status !== 0) {
    console.log('network: guarded (no namespace to be had here)')
    return false
  }
  const inside = [
    'sh',
    '-c',
    'ip link set lo up && exec "$@"',
    'sh',
    process.execPath,
    ...process.argv.slice(1),
  ]
  const child = spawn('unshare', [...unshare, ...inside], {
    stdio: 'inherit',
    env: { ...process.env, TEST_INSIDE: '1' },
  })
  onEndSignal(signal => child.kill(signal))
  process.exitCode = await new Promise<number>(done => child.on('close', code => done(code ?? 1)))
  return true
}

async function main(args: string[]): Promise<number> {
  onEndSignal(() => {
    killTestProcesses()
    process.exit(130)
  })
  const { values: options, positionals: paths } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      except: { type: 'string' },
      match: { type: 'string', default: '' },
      grep: { type: 'string', default: '' },
      stores: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
    },
  })
  if (paths.length === 0) exitWith('name a test file or a folder')
  const selected = () =>
    paths
      .flatMap(path => testFiles(path, options.grep))
      .filter(file => file.includes(options.match))
      .filter(file => !options.except || !file.startsWith(`${resolve(options.except)}/`))
      .filter(file => !options.stores || opensStores(file))
  const status = await runFiles(selected(), options.grep)
  if (!options.watch) return status
  const again = async () => {
    texts.clear()
    await runFiles(selected(), options.grep)
    console.log('watching src, test and config')
  }
  watchSources(root, ['src', 'test', 'config'], again)
  console.log('watching src, test and config')
  return status
}

function onEndSignal(act: (signal: NodeJS.Signals) => void) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, act)
}

/** @param grep text that a test's title must contain; empty for all tests */
async function runFiles(files: readonly string[], grep: string): Promise<number> {
  // Says by itself when it cannot; then the sources are tested.
  spawnSync(process.execPath, [resolve(root, 'scripts/build-service.js')], { stdio: 'inherit' })
  const folder = files.every(file => FIT_FOR_MEMORY.test(file)) ? folderInMemory() : undefined
  const times = lastTimes()
  const waiting = longestFirst(batchesOf(files), times)
  const results: FileResult[] = []
  const onResult = (result: FileResult) => {
    if (grep !== '' && result.total === 0 && !result.problem) return
    results.push(result)
    report(result)
  }
  // One more than there are processors, as tests also wait.
  const lanes = Number(process.env.TEST_LANES ?? availableParallelism() + 1)
  const started = Date.now()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let batch = waiting.shift(); batch; batch = waiting.shift())
        await runTestFiles(batch, { folder, grep, onResult, onLongTest })
    }),
  )
  if (grep === '') remember(times, results)
  return summarise(results, Date.now() - started, grep)
}

/** Files that run in one process: neighbours, so that each batch is the same in every run. */
function batchesOf(files: readonly string[]): string[][] {
  const batches: string[][] = []
  for (const file of files) {
    const batch = batches.at(-1)
    if (batch && batch.length < roomBeside(batch[0]!) && roomBeside(file) === roomBeside(batch[0]!))
      batch.push(file)
    else batches.push([file])
  }
  return batches
}

/** A long batch that begins last would run alone at the end. */
function longestFirst(batches: readonly string[][], times: Times): string[][] {
  const timeOf = (batch: readonly string[]) =>
    batch.reduce((sum, file) => sum + (times[relative(root, file)] ?? USUAL_MS), 0)
  return batches.toSorted((a, b) => timeOf(b) - timeOf(a))
}

type Times = Record<string, number>

function lastTimes(): Times {
  try {
    return JSON.parse(readFileSync(TIMES, 'utf8')) as Times
  } catch {
    return {} // no test has run here, or another run is writing the file
  }
}

function remember(times: Times, results: readonly FileResult[]) {
  for (const { file, elapsedMs } of results) if (file.startsWith('test/')) times[file] = elapsedMs
  mkdirSync(dirname(TIMES), { recursive: true })
  writeFileSync(TIMES, JSON.stringify(times))
}

function roomBeside(file: string): number {
  if (ALONE.test(file)) return 1
  return STARTS_SERVICE.test(file) ? FLOW_FILES_PER_PROCESS : FILES_PER_PROCESS
}

function exitWith(problem: string): never {
  console.error(`test: ${problem}`)
  process.exit(1)
}

/** @param grep text that a test's title must contain; a file that is named itself is always selected */
function testFiles(path: string, grep: string): string[] {
  const absolute = resolve(root, path)
  const found = statSync(absolute, { throwIfNoEntry: false })
  if (!found) exitWith(`there is no file or folder ${path}`)
  if (found.isFile()) return [absolute]
  const files = globSync('**/*.test.ts', { cwd: absolute })
    .sort()
    .map(name => resolve(absolute, name))
  const selected = files.filter(file => mayHaveTitle(file, grep))
  const skippedCount = files.length - selected.length
  if (skippedCount > 0) console.log(`${skippedCount} files of ${path} do not contain the words of "${grep}"`)
  return selected
}

/**
 * Whether all words of the text occur in the file or in the test files that it loads. Titles are often put
 * together of several strings, and of numbers, so that only words are looked for. Paths of the API, which are
 * titles of tests over all routes, may stand in `src` alone.
 */
function mayHaveTitle(file: string, grep: string): boolean {
  if (grep.includes('/')) return true
  const words = grep.toLowerCase().match(/\p{L}{3,}/gu) ?? []
  const loaded = [...filesOf(file)].filter(path => !path.startsWith(SOURCES))
  return words.every(word => loaded.some(path => textOf(path).toLowerCase().includes(word)))
}

function opensStores(file: string): boolean {
  return !ON_SQLITE_ALONE.test(file) && filesOf(file).has(resolve(root, 'test/kit/database.ts'))
}

/** It and all files it loads, directly or not. */
function filesOf(file: string, known = new Set<string>()): Set<string> {
  if (known.has(file)) return known
  known.add(file)
  for (const [, target] of textOf(file).matchAll(/from '(\.{1,2}\/[^']+\.ts)'/g))
    filesOf(resolve(dirname(file), target!), known)
  return known
}

function textOf(path: string): string {
  const known = texts.get(path) ?? readFileSync(path, 'utf8')
  texts.set(path, known)
  return known
}

/**
 * Makes a folder in memory for the data of tests, removed when this process ends; undefined if memory is
 * short.
 */
function folderInMemory(): string | undefined {
  if (!existsSync(MEMORY)) return undefined
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < MEMORY_BYTES) return undefined
  const folder = mkdtempSync(`${MEMORY}/mailhorn-tests-`)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function onLongTest(test: string, elapsedMs: number) {
  console.log(`....  "${test}" has been running for ${seconds(elapsedMs)} s`)
}

function report({ file, total, problem, output, earlier, elapsedMs, cpuMs }: FileResult) {
  const end = problem ? `: ${problem}` : ` ${seconds(elapsedMs)} s, CPU ${seconds(cpuMs)} s`
  console.log(`${problem ? 'FAIL' : 'ok  '} ${file} (${total})${end}`)
  if (problem && earlier.length > 0) console.log(`     in one process after ${earlier.join(', ')}`)
  if (problem) console.log(output.replace(/^/gm, '     '))
  else for (const [line] of output.matchAll(/\bpeer: .*$|^skipped: .*$/gm)) console.log(`     ${line}`)
}

function summarise(results: FileResult[], elapsedMs: number, grep: string): number {
  const passed = results.reduce((n, result) => n + result.passed, 0)
  const broken = results.filter(result => result.problem)
  const failedTests = results.reduce((n, result) => n + result.total - result.passed, 0)
  const skipped = results.reduce((n, result) => n + result.skipped, 0)
  const failed = Math.max(failedTests, broken.length)
  if (results.length === 0 || passed + failed + skipped === 0) {
    console.log(grep === '' ? 'no test ran' : `no test title contains "${grep}"`)
    console.log('0 passed, 1 failed')
    return 1
  }
  for (const { file, problem } of broken) console.log(`FAIL ${file}: ${problem}`)
  const slowest = results.toSorted((a, b) => b.elapsedMs - a.elapsedMs).slice(0, SLOWEST_SHOWN)
  if (results.length > slowest.length)
    for (const { file, elapsedMs: ms, cpuMs } of slowest)
      console.log(`${seconds(ms)} s (CPU ${seconds(cpuMs)} s) of them: ${file}`)
  const cpuMs = results.reduce((sum, result) => sum + result.cpuMs, 0)
  console.log(`${results.length} files in ${seconds(elapsedMs)} s (CPU ${seconds(cpuMs)} s)`)
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed > 0 ? 1 : 0
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
