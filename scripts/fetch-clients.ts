/**
 * Installs the programs of others that test/api and test/program run, as test/clients locks them, into a
 * folder of their own: SDKs, linters and client generators. Does nothing where they are there.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'test/clients')
const target = join(root, 'node_modules/.cache/clients')
/** A failed installation removes the folder, so that a folder that has it is whole. */
const LOCK = 'package-lock.json'

if (!isInstalled()) install()

function isInstalled(): boolean {
  const installed = join(target, LOCK)
  return existsSync(installed) && readFileSync(installed).equals(readFileSync(join(source, LOCK)))
}

function install() {
  console.error('mailhorn: fetching clients of the API …')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const file of ['package.json', LOCK]) copyFileSync(join(source, file), join(target, file))
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, { cwd: target, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status === 0) return
  rmSync(target, { recursive: true })
  throw new Error('npm ci failed; see the messages above')
}
