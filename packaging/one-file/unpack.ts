/**
 * The files that the single executable unpacks: the built program and its native modules. They lie in a
 * private folder, are compared with their hashes at each start, and are written anew where they differ.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

export interface PackedFile {
  path: string
  bytes: number
  sha256: string
}

/** The files cannot be unpacked. The message is one line for the operator. */
export class UnpackFault extends Error {}

const OWNER_ONLY = 0o700
const WRITABLE_BY_OTHERS = 0o002
const STICKY = 0o1000
const ACCESS_OF_OTHERS = 0o077

/**
 * Returns the folder below which the files of each version have a folder: the cache that systemd gives the
 * service, or else that of the user.
 *
 * @throws UnpackFault
 */
export function unpackFolder({ CACHE_DIRECTORY, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string {
  if (CACHE_DIRECTORY) return resolve(CACHE_DIRECTORY.split(':')[0]!)
  return resolve(XDG_CACHE_HOME || join(homeFolder(), '.cache'), 'mailhorn')
}

/** `sudo` may leave the home of another user in the environment. */
function homeFolder(): string {
  try {
    return process.geteuid!() === 0 ? userInfo().homedir : homedir()
  } catch {
    throw new UnpackFault('this user has no home folder to unpack the program into; set XDG_CACHE_HOME')
  }
}

/**
 * @param files what the folder must contain
 * @param packed returns the compressed contents of the files, one after the other
 * @throws UnpackFault
 */
export function ensureUnpacked(folder: string, files: readonly PackedFile[], packed: () => Buffer): void {
  try {
    makeFolder(folder)
    requirePrivate(folder)
    const isIntact = files.map(file => isUnpacked(folder, file))
    if (isIntact.every(Boolean)) return
    const contents = zstdDecompressSync(packed())
    let offset = 0
    for (const [i, { path, bytes }] of files.entries()) {
      if (!isIntact[i]) writeWhole(join(folder, path), contents.subarray(offset, offset + bytes))
      offset += bytes
    }
  } catch (error) {
    if (error instanceof UnpackFault || (error as NodeJS.ErrnoException).syscall === undefined) throw error
    const reason = (error as Error).message.replace(/,.*/s, '')
    throw new UnpackFault(
      `the program cannot be unpacked into ${folder} (${reason}); set XDG_CACHE_HOME to a folder that you may write`,
    )
  }
}

/** Makes the folder and those above it. Unlike `recursive`, it names the true reason of a failure. */
function makeFolder(path: string) {
  if (path !== '/') makeFolder(dirname(path))
  try {
    mkdirSync(path, OWNER_ONLY)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/**
 * Nobody but this user and the owner of the file system may replace the folder or change what lies in it.
 * Members of a group that may write a folder above it have been trusted by its owner.
 *
 * @throws UnpackFault
 */
function requirePrivate(folder: string) {
  const user = process.geteuid!()
  const own = lstatSync(folder)
  if (!own.isDirectory() || own.uid !== user || (own.mode & ACCESS_OF_OTHERS) !== 0)
    throw new UnpackFault(`${folder} must be a folder that only you can read or change; remove it`)
  const trusted = [user, 0, statSync('/').uid]
  for (let path = dirname(realpathSync(folder)); ; path = dirname(path)) {
    const { uid, mode } = statSync(path)
    const isOpen = (mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0
    if (isOpen || !trusted.includes(uid))
      throw new UnpackFault(
        `the program is not unpacked into ${folder}, since other users can change ${path}; set XDG_CACHE_HOME to another folder`,
      )
    if (path === '/') return
  }
}

function isUnpacked(folder: string, { path, bytes, sha256 }: PackedFile): boolean {
  const file = join(folder, path)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.size !== bytes) return false
  return createHash('sha256').update(readFileSync(file)).digest('hex') === sha256
}

/** Replaces the file as a whole; a process that has loaded the former one is not disturbed. */
function writeWhole(file: string, content: Buffer) {
  const fresh = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: OWNER_ONLY })
  try {
    const fd = openSync(fresh, 'w', 0o600)
    try {
      writeFileSync(fd, content)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}
