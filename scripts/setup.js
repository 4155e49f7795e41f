/**
 * Makes a checkout ready to run: installs the locked dependencies, and builds the service and the dashboard, when they are missing or stale.
 * Plain JavaScript without dependencies, because it runs before them and on whatever Node the host has.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = [22, 19]
const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules', '.installed-lock')
const runtime = join(root, 'node_modules', '.bin', 'node')

const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined

if (installed !== wanted) install()
if (!existsSync(runtime)) requireHostNode()
build('service')
if (!build('dashboard'))
  console.error('mailhorn: the dashboard could not be built; all else works without it')

/** Installs exactly what the lockfile says; no dependency needs an install script, so none is run. */
function install() {
  console.error('mailhorn: installing dependencies …')
  const npm = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  })
  if (npm.status !== 0) {
    console.error('mailhorn: npm ci failed; see the messages above')
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
}

/** Where the pinned runtime has no build for this platform, the host's own Node must be recent enough. */
function requireHostNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  console.error(
    `mailhorn: this platform has no bundled runtime, and Node ${process.versions.node} is too old: ` +
      `please install Node ${OLDEST_NODE.join('.')} or newer`,
  )
  process.exit(1)
}

/** The service runs from its sources where it could not be built, and without its dashboard. Both say so. */
function build(part) {
  const node = existsSync(runtime) ? runtime : process.execPath
  const { status } = spawnSync(node, [join(root, 'scripts', `build-${part}.js`)], {
    cwd: root,
    stdio: ['ignore', process.stderr, process.stderr],
  })
  return status === 0
}
