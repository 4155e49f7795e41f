/**
 * A file system of its own for one of Debian's mail servers: they exclude each other, have fixed places and
 * users, and cannot be installed side by side. Its packages come from `scripts/fetch-mtas.ts`, the libraries
 * of this machine are added.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../node_modules/.cache/mtas', import.meta.url))
const certificates = fileURLToPath(new URL('./certs', import.meta.url))

export interface DebianRootOptions {
  package: string
  /** Programs that will run in it; those it has not are copied from here. */
  programs: readonly string[]
  /**
   * Names of the system users it expects; each gets a group of the same name. The first one's may read
   * `/certs/key.pem`.
   */
  users: readonly string[]
}

export interface DebianRoot {
  /** Returns the path outside of the root for a path inside it. */
  outside(path: string): string
  write(path: string, text: string): void
  /** Empty where there is no such file. */
  read(path: string): string
  folder(path: string, options?: { user?: string; mode?: number }): void
  /** Runs a program to its end. @throws with what it printed when it fails */
  run(program: string, ...args: string[]): string
  /** Starts a program that goes on; what it prints is its log. */
  start(program: string, ...args: string[]): RunningMta
  close(): void
}

export interface RunningMta {
  log(): string
  hasEnded(): boolean
  /** Exit code; null while it runs, and when a signal has ended it. */
  code(): number | null
  end(signal?: NodeJS.Signals): Promise<void>
}

/** @throws when the package has not been fetched, or this is not root */
export function openDebianRoot({ package: name, programs, users }: DebianRootOptions): DebianRoot {
  const packages = packageFolder(name)
  if (process.getuid?.() !== 0) throw new Error(`${name} can be started by root alone`)
  const root = mkdtempSync(join(tmpdir(), `${name}-`))
  chmodSync(root, 0o755)
  cpSync(packages, root, { recursive: true, verbatimSymlinks: true })
  const outside = (path: string) => join(root, path)
  for (const program of programs) addProgram(root, program)
  for (const folder of ['etc', 'tmp', 'var/run']) mkdirSync(outside(folder), { recursive: true })
  const ids = new Map(users.map((user, i) => [user, FIRST_ID + i]))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(outside(path)), { recursive: true })
    writeFileSync(outside(path), text)
  }
  write(
    'etc/passwd',
    lines('root:x:0:0::/:/bin/sh', ids, (user, id) => `${user}:x:${id}:${id}::/:/bin/sh`),
  )
  write(
    'etc/group',
    lines('root:x:0:', ids, (user, id) => `${user}:x:${id}:`),
  )
  cpSync(certificates, outside('certs'), { recursive: true })
  chownSync(outside('certs/key.pem'), 0, FIRST_ID)
  chmodSync(outside('certs/key.pem'), 0o640)
  return {
    outside,
    write,
    read: path => (existsSync(outside(path)) ? readFileSync(outside(path), 'utf8') : ''),
    folder(path, { user, mode = 0o755 } = {}) {
      mkdirSync(outside(path), { recursive: true })
      chmodSync(outside(path), mode)
      if (user !== undefined) chownSync(outside(path), ids.get(user)!, ids.get(user)!)
    },
    run(program, ...args) {
      const { status, stdout, stderr } = spawnSync('chroot', [root, program, ...args], { encoding: 'utf8' })
      if (status !== 0) throw new Error(`${program} ended with ${status}: ${stdout}${stderr}`)
      return stdout + stderr
    },
    start: (program, ...args) => startMta('chroot', [root, program, ...args]),
    close: () => rmSync(root, { recursive: true }),
  }
}

/** Returns the folder that contains the unpacked package. @throws when it has not been fetched */
export function packageFolder(name: string): string {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  throw new Error(
    `${name} is not there: node scripts/fetch-mtas.ts gets it from Debian, where there is a network`,
  )
}

const FIRST_ID = 100

function lines(
  first: string,
  ids: ReadonlyMap<string, number>,
  line: (user: string, id: number) => string,
): string {
  return [first, ...[...ids].map(([user, id]) => line(user, id)), ''].join('\n')
}

/** Adds a program, with the libraries that it needs and its package does not contain. */
function addProgram(root: string, program: string) {
  const inside = join(root, program)
  if (!existsSync(inside)) add(root, program)
  const own = globSync(join(root, 'usr/lib/*-linux-gnu')).join(':')
  const env = { ...process.env, LD_LIBRARY_PATH: own }
  const { stdout } = spawnSync('ldd', [inside], { encoding: 'utf8', env })
  for (const [, library] of stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm))
    if (!library!.startsWith(root) && !existsSync(join(root, library!))) add(root, library!)
}

function add(root: string, path: string) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  copyFileSync(path, join(root, path))
  chmodSync(join(root, path), 0o755)
}

/** Starts a program that goes on, and collects what it prints. */
export function startMta(command: string, args: readonly string[]): RunningMta {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  let ended = false
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      log += chunk
    })
  const closed = new Promise<void>(resolve => {
    child.once('error', error => {
      log += `${error}`
    })
    child.once('close', () => {
      ended = true
      resolve()
    })
  })
  return {
    log: () => log,
    hasEnded: () => ended,
    code: () => child.exitCode,
    end(signal) {
      child.kill(signal)
      return closed
    },
  }
}
