/**
 * Puts each thread of the service into one file, for tests: they start hundreds of services with some threads each, and
 * finding and loading a thread's four hundred modules is most of what a start costs.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bundleOf, THREADS } from '../test/kit/bundled-threads.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const STAMP = join(THREADS, 'stamp')

/** Builds them where their sources have changed since. Others may be at it, too, or at work with what is replaced. */
export async function bundleThreads(): Promise<void> {
  const wanted = digestOfSources()
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  mkdirSync(THREADS, { recursive: true })
  const { outputFiles } = await build({
    entryPoints: globSync('src/*-thread.ts', { cwd: root }),
    absWorkingDir: root,
    outdir: THREADS,
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    keepNames: true,
    external: ['better-sqlite3', 'pg-native'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.filename);",
    },
    // Those who look for files beside them are all in `src` itself.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src', 'thread.ts')).href) },
    logLevel: 'error',
  })
  for (const { path, contents } of outputFiles) replace(bundleOf(basename(path, '.js')), contents)
  replace(STAMP, wanted)
}

/** Whoever reads it sees the former or the new one whole. */
function replace(path: string, contents: string | Uint8Array) {
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, contents)
  renameSync(fresh, path)
}

function digestOfSources(): string {
  const hash = createHash('sha256').update(process.version)
  for (const path of [
    'package-lock.json',
    'scripts/bundle-threads.ts',
    ...globSync('src/**/*.ts', { cwd: root }).sort(),
  ])
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}
