/**
 * Makes a checkout ready to run: installs the locked dependencies, and builds the service and the dashboard, when they are missing or stale.
 * Plain JavaScript without dependencies, because it runs before them and on whatever Node the host has.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE_MAJOR = 24
const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'node_modules', '.installed-lock')
const runtime = join(root, 'node_modules', '.bin', 'node')

const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
/** Names the process that prepares this checkout. */
const lock = join(root, '.setup-lock')
const LOCK_LOOK_MS = 200

takeLock()
if (installedLock() !== wanted) install()
if (!existsSync(runtime)) requireHostNode()
build('service')
if (!build('dashboard'))
  console.error('mailhorn: the dashboard could not be built; all else works without it')

function installedLock() {
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined
}

/**
 * Waits until no other process prepares the checkout. A folder that cannot be written needs no lock, since nothing can
 * be installed there.
 */
function takeLock() {
  const own = `${lock}-${process.pid}`
  try {
    writeFileSync(own, `${process.pid}`)
  } catch {
    return
  }
  process.once('exit', () => rmSync(own, { force: true }))
  for (let isTold = false; ; isTold = true) {
    try {
      linkSync(own, lock) // atomic, and complete from the start
      process.once('exit', () => rmSync(lock, { force: true }))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') return
    }
    if (isPreparing(holderOf(lock))) {
      if (!isTold) console.error('mailhorn: another process is preparing this checkout; waiting …')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_LOOK_MS)
    } else removeStale(own)
  }
}

/** Takes the lock of a killed process away; a lock that another process has taken meanwhile is put back. */
function removeStale(own) {
  const taken = `${own}-stale`
  try {
    renameSync(lock, taken)
    if (isPreparing(holderOf(taken))) linkSync(taken, lock)
  } catch {
    // another process was faster
  }
  rmSync(taken, { force: true })
}

/** @returns the process id in a lock; 0 when the lock is gone */
function holderOf(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0
  }
}

/** Whether a process runs this script. After `kill -9` none does, or another program has the id. */
function isPreparing(pid) {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('setup.js')
  } catch {
    return true // the system has no /proc
  }
}

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
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE_MAJOR) return
  console.error(
    `mailhorn: this platform has no bundled runtime, and Node ${process.versions.node} is too old: ` +
      `please install Node ${OLDEST_NODE_MAJOR} or newer`,
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
