/**
 * Makes the single executable: the Node runtime, and the tree of `package.ts` to be unpacked at the first
 * start.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, zstdCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import type { PackedFile } from '../packaging/one-file/unpack.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Contents of the tree that the program reads, or that its licenses ask for. */
const PACKED = [
  'build',
  'config',
  'dist',
  'node_modules',
  'package.json',
  'CHANGELOG.md',
  'LICENSE',
  'THIRD-PARTY-LICENSES',
]
const RUNTIME = 'node_modules/.bin/node'
const COMPRESSION = {
  [constants.ZSTD_c_compressionLevel]: 9,
  // The bundles of threads have much in common, and lie some megabytes apart.
  [constants.ZSTD_c_enableLongDistanceMatching]: 1,
  [constants.ZSTD_c_windowLog]: 25,
}
/** Marks in the runtime whether it contains a program (Node's documentation of single executables). */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** @param tree folder that `package.ts` makes */
export async function makeOneFile(tree: string, executable: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-one-file-'))
  const inFolder = (name: string) => join(folder, name)
  try {
    await build({
      entryPoints: [join(root, 'packaging/one-file/start.ts')],
      outfile: inFolder('start.cjs'),
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node24',
      logLevel: 'error',
    })
    const { index, contents } = packedFiles(tree)
    writeFileSync(inFolder('index'), JSON.stringify(index))
    writeFileSync(inFolder('files'), zstdCompressSync(contents, { params: COMPRESSION }))
    const config = {
      main: inFolder('start.cjs'),
      output: inFolder('program'),
      disableExperimentalSEAWarning: true,
      execArgv: ['--max-semi-space-size=16', '--disable-warning=ExperimentalWarning'],
      assets: { index: inFolder('index'), files: inFolder('files') },
    }
    writeFileSync(inFolder('config.json'), JSON.stringify(config))
    runNode('--experimental-sea-config', inFolder('config.json'))
    copyFileSync(join(tree, RUNTIME), executable)
    chmodSync(executable, 0o755)
    const inject = join(root, 'node_modules/postject/dist/cli.js')
    runNode(inject, executable, 'NODE_SEA_BLOB', inFolder('program'), '--sentinel-fuse', FUSE)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function packedFiles(tree: string): { index: PackedFile[]; contents: Buffer } {
  const paths = PACKED.flatMap(path => filesIn(tree, path)).filter(path => path !== RUNTIME)
  const contents = paths.map(path => readFileSync(join(tree, path)))
  const index = paths.map((path, i) => ({
    path,
    bytes: contents[i]!.length,
    sha256: createHash('sha256').update(contents[i]!).digest('hex'),
  }))
  return { index, contents: Buffer.concat(contents) }
}

/** @returns their paths from the tree, in the same order on each machine */
function filesIn(tree: string, path: string): string[] {
  if (!statSync(join(tree, path)).isDirectory()) return [path]
  return readdirSync(join(tree, path))
    .sort()
    .flatMap(name => filesIn(tree, `${path}/${name}`))
}

/**
 * The tool that adds the program to the runtime warns of sections without consequence; its output is shown
 * when it fails.
 */
function runNode(...args: string[]) {
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
