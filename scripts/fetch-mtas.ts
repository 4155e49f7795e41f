/**
 * Fetches Debian's packages of mail servers that exclude each other, or that need not be installed for the
 * tests, and unpacks each with what it lacks here into a folder of its own. Does nothing where they are
 * there.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NAMES = ['exim4-daemon-light', 'opensmtpd', 'postgrey', 'spamd', 'rspamd', 'clamav-daemon']
const cache = fileURLToPath(new URL('../node_modules/.cache/mtas', import.meta.url))

for (const name of NAMES) if (!existsSync(join(cache, name))) fetchPackage(name)

function fetchPackage(name: string) {
  console.error(`mailhorn: fetching ${name} from Debian …`)
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'new-'))
  try {
    if (!download(name, folder)) {
      run('apt-get', ['-qq', 'update'], folder)
      if (!download(name, folder)) throw new Error(`the Debian package ${name} cannot be had`)
    }
    const root = join(folder, 'root')
    for (const file of readdirSync(folder)) {
      if (!file.endsWith('.deb')) continue
      const { ok, output } = run('dpkg-deb', ['-x', file, root], folder)
      if (!ok) throw new Error(`${file} cannot be unpacked: ${output}`)
    }
    renameSync(root, join(cache, name))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Downloads a package with all of its dependencies that are not installed. */
function download(name: string, folder: string): boolean {
  const plan = run('apt-get', ['install', '-s', '--no-install-recommends', name], folder)
  if (!plan.ok) return false
  const lacking = [...plan.output.matchAll(/^Inst (\S+) \((?!\[)/gm)].map(([, lack]) => lack!)
  const sandbox = ['-o', 'APT::Sandbox::User=root'] // its own user may not write here
  const { ok } = run('apt-get', ['-qq', ...sandbox, 'download', ...new Set([name, ...lacking])], folder)
  return ok
}

function run(command: string, args: readonly string[], cwd: string): { ok: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { ok: status === 0, output: `${stdout}${stderr}` }
}
