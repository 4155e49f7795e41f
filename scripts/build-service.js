/**
 * Puts the program of each thread, and the operator's, into one file without types, in `build`, where sources have changed
 * since: a thread that loads hundreds of modules and takes their types off needs a third more memory, and twice the time.
 * Plain JavaScript, because `npm start` runs it on whatever Node the host has.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourcePlacesOf } from './source-places.ts'
import { isStamped, replaceStamped, stampFor } from './stamped-folder.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'build')
const SOURCES = [
  'src',
  'scripts/build-service.js',
  'scripts/source-places.ts',
  'scripts/stamped-folder.js',
  'package-lock.json',
]
const ENTRIES = [
  'main.ts',
  'cli.ts',
  ...readdirSync(join(root, 'src/workers'))
    .filter(name => name !== 'commands.ts')
    .map(name => `workers/${name}`),
]

/** All bundles lie in `build` itself: URLs relative to a source file in a folder of `src` are one level too deep there. */
const flatUrls = {
  name: 'flat-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/(?:app\/|workers\/)?[a-z-]+\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replaceAll(/(?<=new URL\('\.)(?:\.?\/workers)?(\/[a-z-]+)\.ts(?=', import\.meta\.url\))/g, '$1.js')
        .replaceAll(/(?<=new URL\('\.\.)\/\.\.(?=[/'].*import\.meta\.url\))/g, ''),
      loader: 'ts',
    }))
  },
}

const wanted = stampFor(root, SOURCES)
if (!isStamped(out, wanted)) {
  console.error('mailhorn: building the service …')
  await replaceStamped(out, wanted, build).catch(runFromSources)
}

async function build(folder) {
  const { build: bundle } = await import('esbuild')
  const { outputFiles } = await bundle({
    entryPoints: ENTRIES.map(name => join(root, 'src', name)),
    absWorkingDir: root,
    outdir: out,
    entryNames: '[name]',
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    charset: 'ascii',
    sourcemap: 'external',
    sourcesContent: false,
    inject: [join(root, 'src/app/source-maps.ts')],
    external: ['better-sqlite3', 'koffi', 'pg-native'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.filename);",
    },
    plugins: [flatUrls],
    logLevel: 'error',
  })
  for (const { path, text } of outputFiles) {
    const file = join(folder, basename(path, '.map'))
    if (path.endsWith('.map')) writeFileSync(`${file}.places`, placesOf(text))
    else writeFileSync(file, asciiOf(text))
  }
}

/** A single character beyond Latin 1 doubles what the whole text takes in memory; the bundler leaves those of comments and regular expressions. */
function asciiOf(text) {
  const escaped = unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(/[^\0-\x7f]/g, escaped)
}

/** Where each place of a bundle comes from, by paths from the root. */
function placesOf(map) {
  const { sources, places } = sourcePlacesOf(JSON.parse(map))
  return JSON.stringify({ sources: sources.map(path => relative(root, join(out, path))), places })
}

/** Where there is no bundler for this platform, or what it says is wrong. */
function runFromSources(error) {
  console.error(`mailhorn: the service runs from its sources, since it could not be built: ${error.message}`)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  writeFileSync(join(out, 'main.js'), "import '../src/main.ts'\n")
  process.exitCode = 1
}
