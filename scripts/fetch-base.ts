/**
 * Makes the file system of the image's base, `debian:13-slim`, from Debian's packages for the tests: it has
 * the essential packages and apt, as the image of Debian has. Beside it goes a small archive of the packages
 * that the Dockerfile installs, because tests have no network. Does nothing where both are there.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SUITE = 'trixie'
const MIRROR = 'http://deb.debian.org/debian'
/** Installed with what they need. */
const INSTALLED = 'libpq5'
/** Unpacked in part. */
const DOWNLOADED = 'postgresql-client-17'
const cache = fileURLToPath(new URL('../node_modules/.cache/bases', import.meta.url))

if (!existsSync(join(cache, SUITE)))
  try {
    makeBase()
  } catch (error) {
    // the tests that need it are skipped then, and say so
    console.error(`mailhorn: the base of the image cannot be made: ${(error as Error).message}`)
  }

function makeBase() {
  console.error(`mailhorn: fetching the base of the image (Debian ${SUITE}) …`)
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'new-'))
  try {
    const root = join(folder, 'root')
    const packages = join(root, 'packages')
    run('debootstrap', '--variant=minbase', SUITE, root, MIRROR)
    mkdirSync(packages)
    cpSync('/etc/resolv.conf', join(root, 'etc/resolv.conf'), { dereference: true })
    const apt = (...args: string[]) =>
      run('chroot', root, 'env', '-C', '/packages', 'apt-get', '-o', 'APT::Sandbox::User=root', ...args)
    apt('update')
    const plan = apt('install', '-s', '--no-install-recommends', INSTALLED)
    apt('download', ...[...plan.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!), DOWNLOADED)
    // what the image of Debian has not
    for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'etc/resolv.conf'])
      rmSync(join(root, path), { recursive: true })
    writeFileSync(join(packages, 'Packages'), indexOf(packages))
    writeFileSync(join(packages, 'sources.list'), 'deb [trusted=yes] file:/packages ./\n')
    writeFileSync(
      join(packages, 'apt.conf'),
      'Dir::Etc { SourceList "/packages/sources.list"; SourceParts "-"; };\n',
    )
    renameSync(packages, join(folder, 'packages'))
    renameSync(folder, join(cache, SUITE))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lists packages as archives of Debian do. */
function indexOf(folder: string): string {
  return readdirSync(folder)
    .map(name => {
      const file = join(folder, name)
      const bytes = readFileSync(file)
      const hash = createHash('sha256').update(bytes).digest('hex')
      return `${run('dpkg-deb', '-f', file).trim()}\nFilename: ./${name}\nSize: ${bytes.length}\nSHA256: ${hash}\n`
    })
    .join('\n')
}

/** @throws with the end of its output when the program fails */
function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (status === 0) return stdout
  const end = `${stdout}${stderr}`.trim().split('\n').slice(-3).join('; ')
  throw new Error(`${program} failed: ${error?.message ?? end}`)
}
