/**
 * Main script of the single executable: unpacks the program that the executable contains, and starts the
 * service, the operator's command line, or a child process of the service from there. It does what
 * `bin/mailhorn` does for an installed package.
 */
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { getAsset, getRawAsset } from 'node:sea'
import { ensureUnpacked, UnpackFault, unpackFolder } from './unpack.ts'

const SETTINGS_FILE = '/etc/mailhorn.env'
/** Still names this executable when another version has replaced its file. */
const OWN_IMAGE = '/proc/self/exe'
/** The C library reads how it is to use memory only when a program starts. */
const MEMORY = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '1048576' }

const index = getAsset('index', 'utf8')
const version = createHash('sha256').update(index).digest('hex').slice(0, 32)
const args = process.argv.slice(2)

void start()

async function start() {
  if (process.send && basename(dirname(dirname(args[0] ?? ''))) === version) {
    await import(args[0]!) // the service has forked itself, see lib/worker-process.ts
    return
  }
  readSettings()
  process.env.MAILHORN_BASE_FOLDER ??= dirname(process.execPath)
  const isService = args[0] === 'serve' && args[1] !== '--help' && args[1] !== '-h'
  if (isService) prepareService(args.slice(1))
  const folder = unpack()
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'node_modules/.cache/mailhorn')
  enableCompileCache()
  if (existsSync(OWN_IMAGE)) process.execPath = OWN_IMAGE
  await import(join(folder, 'build', isService ? 'main.js' : 'cli.js'))
}

/**
 * Reads the settings of the installation, if this user may. Variables that are set already take precedence.
 */
function readSettings() {
  try {
    accessSync(SETTINGS_FILE, constants.R_OK)
  } catch {
    return // there are none, or they belong to another user
  }
  process.loadEnvFile(SETTINGS_FILE)
}

function prepareService(options: readonly string[]) {
  if (options.length > 1 || (options.length === 1 && options[0] !== '--no-migrate'))
    end('serve takes no option but --no-migrate; settings are environment variables', 2)
  if (options.length === 1) process.env.MAILHORN_DATABASE_MIGRATE = 'false'
  if (Object.keys(MEMORY).every(name => process.env[name])) return
  const environment = { ...MEMORY, ...process.env } as Record<string, string>
  process.execve!(process.execPath, [process.execPath, ...args], environment)
}

/** @returns the folder with the program */
function unpack(): string {
  try {
    const folder = join(unpackFolder(process.env), version)
    ensureUnpacked(folder, JSON.parse(index), () => Buffer.from(getRawAsset('files')))
    return folder
  } catch (error) {
    if (!(error instanceof UnpackFault)) throw error
    return end(error.message, 1)
  }
}

function end(message: string, code: number): never {
  process.stderr.write(`mailhorn: ${message}\n`)
  process.exit(code)
}
