/**
 * The test function of this project: uvu's suite with a time limit that names the hanging test,
 * resources that are closed in reverse order, and a complaint about suites that were never run. `TEST_GREP`
 * in the environment selects tests by their titles; `scripts/test.ts` sets it for `--grep`.
 */
import { writeSync } from 'node:fs'
import { suite as uvuSuite } from 'uvu'

export interface Closable {
  close?(): unknown
  [Symbol.asyncDispose]?(): PromiseLike<void>
}

export interface TestContext {
  /** Hands over something to be closed when the test ends, whatever its result. */
  using<T extends Closable>(resource: T | Promise<T>): Promise<T>
  /** Registers a function to be called when the test ends. */
  after(fn: () => unknown): void
}

type TestBody = (t: TestContext) => unknown

export interface TestOptions {
  limitMs?: number
  /** Why the test cannot run here, such as "it needs root"; undefined if it can. */
  skip?: string | undefined
}

export interface Suite {
  (name: string, body: TestBody, options?: TestOptions): void
  before(fn: () => unknown): void
  after(fn: () => unknown): void
  run(): void
}

/**
 * It finds what hangs, not what is slow: a busy machine may take ten times as long, and stand still for
 * seconds.
 */
const HOOK_LIMIT_MS = 240_000
const DEFAULT_LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? HOOK_LIMIT_MS)
const SLOWER = Number(process.env.TEST_LIMIT_FACTOR ?? 1)
/** Only tests whose `suite: title` contains this text run. Case does not matter. */
const GREP = (process.env.TEST_GREP ?? '').toLowerCase()
const declared = new Set<string>()

/**
 * Opens a suite. `run()` must be called at the end of the file. `limitMs` bounds each of its tests, where
 * that of all is too short.
 */
export function suite(name: string, { limitMs = DEFAULT_LIMIT_MS } = {}): Suite {
  const inner = uvuSuite(name)
  declared.add(name)
  let selectedCount = 0
  const test = (title: string, body: TestBody, options: TestOptions = {}) => {
    const fullName = `${name}: ${title}`
    if (!fullName.toLowerCase().includes(GREP)) return
    if (options.skip !== undefined) {
      console.log(`skipped: ${fullName}: ${options.skip}`)
      return inner.skip(title)
    }
    selectedCount++
    inner(title, () => bounded(fullName, body, (options.limitMs ?? limitMs) * SLOWER))
  }
  return Object.assign(test, {
    before: (fn: () => unknown) => inner.before(() => told(() => hook(`before the tests of "${name}"`, fn))),
    after: (fn: () => unknown) => inner.after(() => hook(`after the tests of "${name}"`, fn)),
    run() {
      declared.delete(name)
      // Without a selected test, the suite's `before` functions must not run either.
      if (selectedCount > 0 || GREP === '') inner.run()
    },
  })
}

/** Services are started and stopped there, which hangs as a test may. */
async function hook(what: string, fn: () => unknown) {
  announce(what)
  await within(HOOK_LIMIT_MS * SLOWER, what, fn())
}

/** Prints an error of a hook before the tests, because a later error would hide it. */
async function told(fn: () => unknown) {
  try {
    await fn()
  } catch (error) {
    console.error(error)
    throw error
  }
}

process.on('exit', () => {
  const unrun = takeUnrunSuites()
  if (unrun.length === 0) return
  console.error(`suites declared but never run: ${unrun.join(', ')}`)
  process.exitCode = 1
})

/** Returns the names of suites that were declared since the last call, but never run. */
export function takeUnrunSuites(): string[] {
  const names = [...declared]
  declared.clear()
  return names
}

async function bounded(fullName: string, body: TestBody, limitMs: number) {
  announce(fullName)
  const cleanups: (() => unknown)[] = []
  const context: TestContext = {
    async using(resource) {
      const opened = await resource
      cleanups.push(() => closeOf(opened))
      return opened
    },
    after: fn => void cleanups.push(fn),
  }
  try {
    await within(limitMs, `"${fullName}"`, body(context))
  } finally {
    for (const cleanup of cleanups.reverse())
      await within(limitMs, `cleaning up after "${fullName}"`, cleanup())
  }
}

async function within(limitMs: number, what: string, work: unknown) {
  let timer: NodeJS.Timeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs} ms`)), limitMs)
  })
  await Promise.race([work, expired]).finally(() => clearTimeout(timer))
}

function closeOf(resource: Closable): unknown {
  const dispose = resource[Symbol.asyncDispose]
  return dispose ? dispose.call(resource) : resource.close?.()
}

/**
 * Tells the runner, over its extra pipe, which test is running, so that it can name one that blocks the
 * process.
 */
function announce(fullName: string) {
  if (process.env.TEST_RUNNER_PIPE) writeSync(3, `${fullName}\n`)
}
