/**
 * Installs the linters and client generators that `test/api/clients` runs on the OpenAPI document, into a
 * folder of their own, since no other test needs them. Does nothing if they are there. Without a network the
 * tests are skipped, except in CI.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = join(root, 'test/api/clients/tools.json')
const folder = join(root, 'node_modules/.cache/openapi-tools')
const installed = join(folder, 'installed.json')

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(wanted, 'utf8')) install()

function install() {
  console.error('mailhorn: installing the tools that read the OpenAPI document …')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  copyFileSync(wanted, join(folder, 'package.json'))
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock']
  const { status } = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
  if (status === 0) copyFileSync(wanted, installed)
  else console.error('mailhorn: the tools cannot be installed; test/api/clients is skipped')
}
