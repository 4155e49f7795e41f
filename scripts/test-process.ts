/**
 * Runs test files one after another in one process (`test/kit/run-files.ts`) and says how each ended. When
 * the process dies or hangs in a file, the files after that one run in a new process.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface FileResult {
  file: string
  elapsedMs: number
  /** CPU time of the test process, without processes that the tests started. */
  cpuMs: number
  total: number
  passed: number
  skipped: number
  problem?: string
  output: string
  /** Files that ran before this one in the same process. */
  earlier: string[]
}

export interface ProcessOptions {
  /** Folder for temporary files; undefined for the system's. */
  folder: string | undefined
  /** Text that a test's title must contain; empty for all tests. */
  grep: string
  onResult: (result: FileResult) => void
  /** Called each time a test has run for another `LONG_TEST_MS`. */
  onLongTest: (test: string, elapsedMs: number) => void
}

/** Line that `run-files.ts` prints after a file. */
interface FileEnd {
  code: number
  cpuMs: number
}

const NO_END: FileEnd = { code: 0, cpuMs: 0 }
const LONG_TEST_MS = Number(process.env.TEST_LONG_MS ?? 60_000)
const FILE_LIMIT_MS = Number(process.env.TEST_FILE_LIMIT_MS ?? 1_200_000)
/** Longer where tests have more time, as on PostgreSQL, whose databases are dropped at the end. */
const EXIT_GRACE_MS =
  Number(process.env.TEST_EXIT_GRACE_MS ?? 30_000) * Number(process.env.TEST_LIMIT_FACTOR ?? 1)
const root = fileURLToPath(new URL('..', import.meta.url))
/** Folder of the compile cache that all processes share. It saves a third of a flow test's CPU time. */
const COMPILED = resolve(root, 'node_modules/.cache/compiled')
const PRELOADED = ['guard', 'built'].map(
  name => `--import=${pathToFileURL(resolve(root, `test/kit/${name}.ts`)).href}`,
)
/** Scavenges by several threads, in young generations that begin small, cost a seventh of the CPU time. */
const V8_FLAGS = ['--single-threaded-gc', '--min-semi-space-size=8', '--max-semi-space-size=16']
const PROGRAM = resolve(root, 'test/kit/run-files.ts')
/** Part of the summary of uvu. */
const TESTS_END = /^ {2}Skipped: +\d+/m
const FILE_END = /\0file ended (\{.*\})\n/

const running = new Set<ChildProcess>()

export function killTestProcesses() {
  for (const child of running) child.kill('SIGKILL')
}

export async function runTestFiles(files: readonly string[], options: ProcessOptions): Promise<void> {
  let rest = files
  while (rest.length > 0) rest = rest.slice(await runProcess(rest, options))
}

/** @returns the number of files that have run */
async function runProcess(files: readonly string[], options: ProcessOptions): Promise<number> {
  const child = startProcess(files, options)
  const earlier: string[] = []
  let lastTest = ''
  let output = ''
  let watch = watchFile(child)
  let lastTestAt = Date.now()
  const longTest = setInterval(() => {
    options.onLongTest(lastTest || relative(root, files[earlier.length]!), Date.now() - lastTestAt)
  }, LONG_TEST_MS)
  const finish = (text: string, exitCode?: number | null) => {
    const end = FILE_END.exec(text)
    const { code, cpuMs } = end ? (JSON.parse(end[1]!) as FileEnd) : NO_END
    const { hung, leaking, elapsedMs } = watch.end()
    const result = {
      file: relative(root, files[earlier.length]!),
      output: text.replace(FILE_END, ''),
      earlier: [...earlier],
      elapsedMs,
      cpuMs,
      ...counts(text),
    }
    const circumstances = { hung, leaking, hasEnded: end !== null, lastTest, grep: options.grep }
    const problem = problemOf(result, exitCode === undefined ? code : exitCode, circumstances)
    earlier.push(result.file)
    options.onResult(problem ? { ...result, problem } : result)
  }
  child.stdio[3]!.on('data', (chunk: Buffer) => {
    lastTest = `${chunk}`.trim().split('\n').at(-1)!
    lastTestAt = Date.now()
    longTest.refresh()
  })
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output += text
    // The last file ends with the process.
    while (earlier.length < files.length - 1 && FILE_END.test(output)) {
      const at = output.indexOf('\n', output.search(FILE_END)) + 1
      finish(output.slice(0, at))
      output = output.slice(at)
      watch = watchFile(child)
    }
    if (TESTS_END.test(output)) watch.expectEnd()
  })
  const exitCode = await exitOf(child)
  clearInterval(longTest)
  finish(output, exitCode)
  return earlier.length
}

/**
 * Standard output and error of the process are one pipe, so that their lines come in the order of writing.
 */
function startProcess(files: readonly string[], { folder, grep }: ProcessOptions): ChildProcess {
  const command = [process.execPath, ...V8_FLAGS, ...PRELOADED, PROGRAM, ...files]
  const child = spawn('sh', ['-c', 'exec "$@" 2>&1', 'sh', ...command], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
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
  return child
}

/** Ends the process when a file takes too long, or keeps it alive after the tests. */
function watchFile(child: ChildProcess) {
  const startedAt = Date.now()
  let hung = false
  let leaking = false
  let grace: NodeJS.Timeout | undefined
  const limit = setTimeout(() => {
    hung = true
    child.kill('SIGKILL')
  }, FILE_LIMIT_MS)
  return {
    /** The tests have ended; now the event loop must become empty. */
    expectEnd() {
      grace ??= setTimeout(() => {
        leaking = true
        child.kill('SIGUSR2')
      }, EXIT_GRACE_MS)
    },
    end() {
      clearTimeout(limit)
      clearTimeout(grace)
      return { hung, leaking, elapsedMs: Date.now() - startedAt }
    },
  }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const code = await new Promise<number | null>(done => child.on('close', done))
  running.delete(child)
  return code
}

function counts(output: string) {
  const sum = (word: string) =>
    [...output.matchAll(new RegExp(`^ {2}${word}: +(\\d+)`, 'gm'))].reduce((n, hit) => n + Number(hit[1]), 0)
  return { total: sum('Total'), passed: sum('Passed'), skipped: sum('Skipped') }
}

interface Circumstances {
  /** Whether `run-files.ts` has reported the end of the file. */
  hasEnded: boolean
  hung: boolean
  leaking: boolean
  lastTest: string
  grep: string
}

function problemOf(
  { total, passed, skipped }: Pick<FileResult, 'total' | 'passed' | 'skipped'>,
  code: number | null,
  { hung, leaking, hasEnded, lastTest, grep }: Circumstances,
): string | undefined {
  if (hung) return `hangs in "${lastTest}"`
  if (leaking) return 'keeps handles open after its last test'
  if (code === 97) return 'reached outside loopback'
  if (code === 96) return 'left files open'
  if (total + skipped === 0 && grep !== '' && code === 0 && hasEnded) return undefined
  if (total + skipped === 0) return `ran no test (exit ${code})`
  if (passed < total) return `${total - passed} failed`
  if (code !== 0 || !hasEnded) return `exit ${code}, last test "${lastTest}"`
  return undefined
}
