import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/**
 * Installs what `npm pack` makes into an empty folder. The dependencies come from the cache of npm, if they
 * are there.
 */
const test = suite('npm', { limitMs: 240_000 })
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Lists the tarball and its dependencies, in the versions that our lockfile has. */
function lockFor(tarball: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>
  }
  const { '': own, ...modules } = packages
  return JSON.stringify({
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { dependencies: { mailhorn: tarball } },
      'node_modules/mailhorn': { ...own, resolved: tarball },
      ...Object.fromEntries(Object.entries(modules).filter(([, { dev }]) => dev !== true)),
    },
  })
}

test('the npm package starts by npx, and keeps its data in the current folder', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-npm-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
  npm(root, 'pack', '--silent', '--pack-destination', folder)
  const tarball = `file:${globSync(join(folder, 'mailhorn-*.tgz'))[0]}`
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { mailhorn: tarball } }))
  writeFileSync(join(folder, 'package-lock.json'), lockFor(tarball))
  cpSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  npm(folder, 'ci', '--prefer-offline', '--omit=dev', '--ignore-scripts')

  const installed = join(folder, 'node_modules/mailhorn')
  assert.not.ok(existsSync(join(installed, 'src')))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.is(npm(folder, 'exec', '--offline', '--', 'mailhorn', '--version'), `${version}\n`)

  const service = spawn('npx', ['--offline', 'mailhorn', 'serve'], {
    cwd: folder,
    detached: true, // so that npx and what it starts can be ended together
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      MAILHORN_HTTP_LISTEN: '127.0.0.1:0',
      MAILHORN_DNS_LISTEN: '',
      MAILHORN_SMTP_INBOUND_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '',
    },
  })
  let log = ''
  for (const stream of [service.stdout, service.stderr])
    stream.setEncoding('utf8').on('data', text => {
      log += text
    })
  const closed = once(service, 'close')
  await until(() => log.includes('"event":"ready"') || service.exitCode !== null)
  const baseUrl = /"event":"ready","baseUrl":"([^"]+)"/.exec(log)?.[1]
  assert.ok(baseUrl, log)
  assert.is((await fetch(`${baseUrl}/healthz`)).status, 200) // from its next turn on, it listens to signals
  process.kill(-service.pid!, 'SIGTERM')
  await closed
  assert.match(log, /"event":"stopping"/)
  assert.ok(existsSync(join(folder, 'data/mailhorn.db')))
  assert.not.ok(existsSync(join(installed, 'data')))
})

test.run()
