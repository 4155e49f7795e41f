/**
 * Runs test files, each in a process of its own, in a network namespace that has only loopback where
 * the system allows one. A file fails when a test fails, when it ran no test, when it keeps handles
 * open after its last test, when it hangs (the test is named), or when it reaches outside loopback.
 *
 *   node scripts/test.ts <folder or file>... [--match text] [--grep title] [--stores] [--watch]
 *
 * --match selects files by their paths, --grep selects tests whose `suite: title` contains the text. With --watch,
 * the tests run again whenever a source or test file changes. With --stores, only files that open stores are run:
 * on PostgreSQL, too, which `test/kit/database.ts` is about.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { watchSources } from './source-watcher.ts'

const FILE_LIMIT_MS = Number(process.env.TEST_FILE_LIMIT_MS ?? 1_200_000)
/** Longer where tests have more time, as on PostgreSQL, whose databases are dropped at the end. */
const EXIT_GRACE_MS = 30_000 * Number(process.env.TEST_LIMIT_FACTOR ?? 1)
/**
 * Tests that would say nothing new there, and take their time: to which the database is a file; of the time that passes in
 * a worker; of names, sessions and peers; and all of everything over HTTP. They hold on PostgreSQL, too, without --stores.
 */
const ON_SQLITE_ALONE = new RegExp(
  [
    'flow/dns/',
    'flow/delivery/(?:peer-faults|routing|smart-host|source-ips|tls|tls-reports|verdicts)\\.',
    'flow/http/(?:any-request|bodies|hostile-http|openapi|password|rate-limit|send-\\w+|sign-in)\\.',
    'flow/http/(?:attachment-\\w+|sources|stopping)\\.',
    'unit/pipeline/delivery/(?:holds|outages|tls-policy/\\w+|tarpits|worker)\\.',
    'unit/store/(?:blobs|full-disk|kysely|migrate|open|space|unavailable)\\.',
  ].join('|'),
)
/** A file system in memory, and how much must be free there: what tests wait for most is a disk. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 4 * 1024 ** 3
/** Tests that start no programs of others, for which much may be forbidden there. */
const FIT_FOR_MEMORY = /\/test\/(?:unit|flow|api)\//
const SLOWEST_SHOWN = 12
const root = fileURLToPath(new URL('..', import.meta.url))
/** What one test file has compiled, the next need not: a third of a flow test's CPU. */
const COMPILED = resolve(root, 'node_modules/.cache/compiled')
const PRELOADED = ['guard', 'built'].map(
  name => `--import=${pathToFileURL(resolve(root, `test/kit/${name}.ts`)).href}`,
)

const texts = new Map<string, string>()

interface FileResult {
  file: string
  elapsedMs: number
  total: number
  passed: number
  skipped: number
  problem?: string
  output: string
}

/** Test files that run now. They end together with the runner. */
const running = new Set<ChildProcess>()

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
  process.exitCode = (await exitOf(child)) ?? 1
  return true
}

async function main(args: string[]): Promise<number> {
  onEndSignal(() => {
    for (const child of running) child.kill('SIGKILL')
    process.exit(130)
  })
  const { values: options, positionals: paths } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      match: { type: 'string', default: '' },
      grep: { type: 'string', default: '' },
      stores: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
    },
  })
  if (paths.length === 0) exitWith('name a test file or a folder')
  const selected = () =>
    paths
      .flatMap(testFiles)
      .filter(file => file.includes(options.match))
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
  const waiting = [...files]
  const results: FileResult[] = []
  // One more than there are processors, as tests also wait.
  const lanes = Number(process.env.TEST_LANES ?? availableParallelism() + 1)
  const started = Date.now()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        const result = await runFile(file, { folder, grep })
        if (grep !== '' && result.total === 0 && !result.problem) continue
        results.push(result)
        report(result)
      }
    }),
  )
  return summarise(results, Date.now() - started, grep)
}

function exitWith(problem: string): never {
  console.error(`test: ${problem}`)
  process.exit(1)
}

function testFiles(path: string): string[] {
  const absolute = resolve(root, path)
  const found = statSync(absolute, { throwIfNoEntry: false })
  if (!found) exitWith(`there is no file or folder ${path}`)
  if (found.isFile()) return [absolute]
  return globSync('**/*.test.ts', { cwd: absolute })
    .sort()
    .map(name => resolve(absolute, name))
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

/** In memory, for the data of tests, as long as this process lives; undefined where there is not enough of it. */
function folderInMemory(): string | undefined {
  if (!existsSync(MEMORY)) return undefined
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < MEMORY_BYTES) return undefined
  const folder = mkdtempSync(`${MEMORY}/mailhorn-tests-`)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function runFile(
  file: string,
  { folder, grep }: { folder: string | undefined; grep: string },
): Promise<FileResult> {
  const started = Date.now()
  const child = spawn(process.execPath, [...PRELOADED, file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: COMPILED,
      ...process.env,
      ...(folder && { TMPDIR: folder }),
      NO_COLOR: '1',
      FORCE_COLOR: '0',
      TEST_RUNNER_PIPE: '1',
      TEST_GREP: grep,
    },
  })
  running.add(child)
  let output = ''
  let lastTest = ''
  let leaking = false
  let hung = false
  let grace: NodeJS.Timeout | undefined
  const collect = (chunk: Buffer) => {
    output += chunk
    if (grace || !/^ {2}Skipped: +\d+/m.test(output)) return
    grace = setTimeout(() => {
      leaking = true
      child.kill('SIGUSR2')
    }, EXIT_GRACE_MS)
  }
  child.stdout!.on('data', collect)
  child.stderr!.on('data', collect)
  child.stdio[3]!.on('data', (chunk: Buffer) => {
    lastTest = `${chunk}`.trim().split('\n').at(-1)!
  })
  const limit = setTimeout(() => {
    hung = true
    child.kill('SIGKILL')
  }, FILE_LIMIT_MS)
  const code = await exitOf(child)
  running.delete(child)
  clearTimeout(limit)
  clearTimeout(grace)
  const elapsedMs = Date.now() - started
  const result = { file: relative(root, file), elapsedMs, output, ...counts(output) }
  const problem = problemOf(result, code, { hung, leaking, lastTest, grep })
  return problem ? { ...result, problem } : result
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise(done => child.on('close', done))
}

function counts(output: string) {
  const sum = (word: string) =>
    [...output.matchAll(new RegExp(`^ {2}${word}: +(\\d+)`, 'gm'))].reduce((n, hit) => n + Number(hit[1]), 0)
  return { total: sum('Total'), passed: sum('Passed'), skipped: sum('Skipped') }
}

function problemOf(
  { total, passed, skipped }: { total: number; passed: number; skipped: number },
  code: number | null,
  { hung, leaking, lastTest, grep }: { hung: boolean; leaking: boolean; lastTest: string; grep: string },
): string | undefined {
  if (hung) return `hangs in "${lastTest}"`
  if (leaking) return 'keeps handles open after its last test'
  if (code === 97) return 'reached outside loopback'
  if (total === 0 && grep !== '' && code === 0) return undefined
  if (total === 0) return `ran no test (exit ${code})`
  if (passed + skipped < total) return `${total - passed - skipped} failed`
  if (code !== 0) return `exit ${code}, last test "${lastTest}"`
  return undefined
}

function report({ file, total, problem, output }: FileResult) {
  console.log(`${problem ? 'FAIL' : 'ok  '} ${file} (${total})${problem ? `: ${problem}` : ''}`)
  if (problem) console.log(output.replace(/^/gm, '     '))
  else for (const [peer] of output.matchAll(/\bpeer: .*$/gm)) console.log(`     ${peer}`)
}

function summarise(results: FileResult[], elapsedMs: number, grep: string): number {
  const passed = results.reduce((n, result) => n + result.passed, 0)
  const broken = results.filter(result => result.problem)
  const failedTests = results.reduce((n, result) => n + result.total - result.passed - result.skipped, 0)
  const failed = Math.max(failedTests, broken.length)
  if (results.length === 0 || passed + failed === 0) {
    console.log(grep === '' ? 'no test ran' : `no test title contains "${grep}"`)
    console.log('0 passed, 1 failed')
    return 1
  }
  for (const { file, problem } of broken) console.log(`FAIL ${file}: ${problem}`)
  const slowest = results.toSorted((a, b) => b.elapsedMs - a.elapsedMs).slice(0, SLOWEST_SHOWN)
  if (results.length > slowest.length)
    for (const { file, elapsedMs: ms } of slowest) console.log(`${seconds(ms)} s of them: ${file}`)
  console.log(`${results.length} files in ${seconds(elapsedMs)} s`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
