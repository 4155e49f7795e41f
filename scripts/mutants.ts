/**
 * Plants faults at random places of `src`, one at a time, in a copy of the tree, and runs the nearest tests
 * against each. A fault that no test notices shows where the tests are soft, unless the program does the same
 * with it.
 *
 *   npm run test:mutants -- [--seed 1] [--n 60] [--skip 0] [--whole] [folder or file]...
 *
 * The nearest tests are those that import the file, those that import a user of it, directly or through a
 * helper of tests, those of the same folder, those with a word of its name in theirs, and those whose words
 * are most like the lines around the fault.
 * With --whole, all unit and flow tests run against the faults that these have not noticed. --skip leaves out
 * the first faults of a seed, to continue a run that has ended early. Nothing is planted when the nearest
 * tests of the first fault fail without it. For faults of `src/store/postgres`, the tests run on PostgreSQL.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createRandom } from '../test/kit/random.ts'
import { faultsOf, type PlantedFault } from './planted-faults.ts'

/** Number of tests of each kind of nearness. */
const SIMILAR_TESTS = 12
/** Number of the nearest tests that run before the others. */
const FIRST_TESTS = 8
/** Greatest number of imports from a test to the file, beyond which it is no nearer than any other. */
const IMPORTS_MAX = 3
const WINDOW_LINES = 20
/** A fault that makes tests hang is noticed by that. */
const TEST_ENV = { TEST_LIMIT_FACTOR: '0.25', TEST_FILE_LIMIT_MS: '150000' }
const HANGING = /^FAIL (\S+) .* hangs in /
/** Sources whose faults only tests on PostgreSQL can notice. */
const OF_POSTGRES = /^src\/store\/postgres\//
/** Tests of texts, which no fault of these kinds changes. */
const WITHOUT_TEXT_TESTS = /^test\/unit\/(?:docs|layers|words|standards|log-events)\.test\.ts$/
const root = fileURLToPath(new URL('..', import.meta.url))

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    n: { type: 'string', default: '60' },
    skip: { type: 'string', default: '0' },
    whole: { type: 'boolean', default: false },
  },
})
const random = createRandom(Number(values.seed))
const copy = copyOfTree()
let running: number | undefined
process.once('exit', () => {
  endTests()
  rmSync(copy, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const allSources = listed('src').filter(file => file.endsWith('.ts') && !file.endsWith('.d.ts'))
const sources = allSources.filter(isWanted)
const tests = listed('test').filter(
  file => /^test\/(?:unit|flow|api)\/.*\.test\.ts$/.test(file) && !WITHOUT_TEXT_TESTS.test(file),
)
const words = new Map(tests.map(file => [file, wordsOf(textOf(file))]))
const rarity = rarities([...words.values()])
const importers = importersOfEach([...allSources, ...listed('test').filter(file => file.endsWith('.ts'))])

const survivors: string[] = []
let drawn = 0
let count = 0
while (count < Number(values.n)) {
  // Files are drawn by their length, so that each line is as likely as another.
  const file = drawByLength(sources)
  const faults = faultsOf(textOf(file))
  if (faults.length === 0) continue
  const fault = random.of(faults)
  if (++drawn <= Number(values.skip)) continue
  if (count++ === 0) await checkCleanTree(nearestTests(file, fault))
  const shown = shownFault(file, fault)
  const failure = await failureWith(file, fault)
  console.log(`${String(drawn).padStart(3)} ${failure ? 'noticed ' : 'SURVIVED'} ${shown}`)
  if (failure) console.log(`             ${failure}`)
  else survivors.push(shown)
}
console.log(`\nseed ${values.seed}: ${count - survivors.length} of ${count} noticed`)
for (const shown of survivors) console.log(`  survived: ${shown}`)

/** Ends the program if tests fail anyhow, since every fault would count as noticed. */
async function checkCleanTree(paths: readonly string[]) {
  const failure = await failureAmong(paths)
  if (!failure) return
  console.error(`Nothing is planted, since tests fail without a fault:\n  ${failure}`)
  process.exit(1)
}

/** @returns the test file that notices the fault, and how it fails */
async function failureWith(file: string, fault: PlantedFault): Promise<string | undefined> {
  const text = textOf(file)
  writeFileSync(join(copy, file), text.slice(0, fault.start) + fault.replacement + text.slice(fault.end))
  try {
    const isOnPostgres = OF_POSTGRES.test(file)
    const failure = await failureAmongNearest(nearestTests(file, fault), isOnPostgres)
    return failure ?? (values.whole ? await failureOf(['test/unit', 'test/flow'], isOnPostgres) : undefined)
  } finally {
    writeFileSync(join(copy, file), text)
  }
}

/**
 * The nearest tests run before the others, since they notice most faults. On PostgreSQL all run at once: the
 * nearest may not open a store, and then none of them runs there.
 */
async function failureAmongNearest(paths: readonly string[], isOnPostgres: boolean) {
  if (isOnPostgres) return failureAmong(paths, isOnPostgres)
  return (await failureAmong(paths.slice(0, FIRST_TESTS))) ?? failureAmong(paths.slice(FIRST_TESTS))
}

/** A file that hangs runs once more, alone, since a busy machine is no fault. */
async function failureAmong(paths: readonly string[], isOnPostgres = false): Promise<string | undefined> {
  if (paths.length === 0) return undefined
  const failure = await failureOf(paths, isOnPostgres)
  const hanging = failure && HANGING.exec(failure)?.[1]
  if (!hanging) return failure
  const others = paths.filter(path => path !== hanging)
  return (await failureOf([hanging], isOnPostgres)) ?? failureAmong(others, isOnPostgres)
}

/** Runs tests up to the first that fails. */
async function failureOf(paths: readonly string[], isOnPostgres = false): Promise<string | undefined> {
  const tests = ['scripts/test.ts', ...paths]
  const args = isOnPostgres ? ['scripts/with-postgres.ts', process.execPath, ...tests, '--stores'] : tests
  const child = spawn(process.execPath, args, {
    cwd: copy,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...TEST_ENV },
  })
  running = child.pid
  let failure: string | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (failure) return
    failure = /^FAIL.*$/m.exec(text)?.[0]
    if (failure) endTests()
  })
  const code = await new Promise<number | null>(done => child.on('close', done))
  running = undefined
  return failure ?? (code === 0 ? undefined : `exit ${code}`)
}

function endTests() {
  if (running !== undefined) process.kill(-running, 'SIGTERM')
}

/** Tests that import the file or belong to its folder, and then the most similar of the others. */
function nearestTests(file: string, fault: PlantedFault): string[] {
  const lines = textOf(file).split('\n')
  const line = lineOf(file, fault)
  const around = lines.slice(Math.max(0, line - WINDOW_LINES), line + WINDOW_LINES).join('\n')
  const wanted = wordsOf(`${around} ${file.replaceAll(/\W+/g, ' ')}`)
  const likeness = (test: string) => {
    const own = words.get(test)!
    let sum = 0
    for (const word of wanted) if (own.has(word)) sum += rarity.get(word)!
    return sum / Math.sqrt(own.size)
  }
  const bySimilarity = tests.toSorted((a, b) => likeness(b) - likeness(a))
  const distances = distancesTo(file)
  const folder = dirname(file).replace(/^src/, 'test/unit')
  const names = namesIn(file)
  const kinds = [
    ...Array.from({ length: IMPORTS_MAX }, (_, i) => (test: string) => distances.get(test) === i + 1),
    (test: string) => dirname(test) === folder,
    (test: string) => namesIn(test).some(name => names.includes(name)),
    () => true,
  ]
  return [...new Set(kinds.flatMap(kind => bySimilarity.filter(kind).slice(0, SIMILAR_TESTS)))]
}

/** Words of the names of a file and its folder, in the singular, such as `account` and `route`. */
function namesIn(file: string): string[] {
  const [folder = '', name = ''] = file
    .replace(/(?:\.test)?\.ts$/, '')
    .split('/')
    .slice(-2)
  return `${folder}-${name}`.split('-').map(word => word.replace(/s$/, ''))
}

/** Lists the files that import each file. */
function importersOfEach(files: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const file of files)
    for (const [, path] of textOf(file).matchAll(/from '(\.{1,2}\/[^']+)'/g)) {
      const imported = join(dirname(file), path!)
      found.set(imported, [...(found.get(imported) ?? []), file])
    }
  return found
}

/** @returns for each file, how many imports lead from it to this one; none for those that do not use it */
function distancesTo(file: string): Map<string, number> {
  const distances = new Map([[file, 0]])
  // The loop also visits what it adds, so that nearer files come first.
  for (const [near, distance] of distances)
    for (const importer of importers.get(near) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1)
  return distances
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/[A-Za-z][\w-]{3,}/g)?.map(word => word.toLowerCase()) ?? [])
}

/** Inverse document frequency of each word. */
function rarities(all: readonly Set<string>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const own of all) for (const word of own) counts.set(word, (counts.get(word) ?? 0) + 1)
  return new Map([...counts].map(([word, n]) => [word, Math.log(all.length / n)]))
}

function shownFault(file: string, fault: PlantedFault): string {
  const before = textOf(file).slice(fault.start, fault.end).replaceAll(/\s+/g, ' ')
  const after = fault.replacement.replaceAll(/\s+/g, ' ')
  return `${file}:${lineOf(file, fault)} ${fault.kind}: ${before.slice(0, 90)} -> ${after.slice(0, 90)}`
}

function lineOf(file: string, { start }: PlantedFault): number {
  return textOf(file).slice(0, start).split('\n').length
}

function drawByLength(files: readonly string[]): string {
  let at = random.below(files.reduce((sum, file) => sum + textOf(file).length, 0))
  for (const file of files) {
    at -= textOf(file).length
    if (at < 0) return file
  }
  throw new Error('no file of src has this name')
}

function isWanted(file: string): boolean {
  return (
    positionals.length === 0 ||
    positionals.some(path => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  )
}

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function listed(folder: string): string[] {
  return git('ls-files', '-co', '--exclude-standard', folder)
}

function git(...args: string[]): string[] {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n')
}

/**
 * Copies the files that git knows or does not ignore, so that the faults never stand in the work tree. The
 * dashboard is the built one.
 */
function copyOfTree(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-mutants-'))
  for (const file of git('ls-files', '-co', '--exclude-standard'))
    cpSync(join(root, file), join(folder, file))
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(folder, name))
  return folder
}
