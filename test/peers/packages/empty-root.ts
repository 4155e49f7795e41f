/**
 * A file system with what a small server has, copied from the Debian packages of this machine, and without
 * Node: what is installed there must bring it along.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningMta, startMta } from '../../kit/debian-root.ts'

const PACKAGES = [
  ...['base-passwd', 'coreutils', 'dash', 'passwd', 'sed', 'libc6', 'libstdc++6', 'libgcc-s1'],
  ...[
    'libselinux1',
    'libpcre2-8-0',
    'libacl1',
    'libattr1',
    'libgmp10',
    'libaudit1',
    'libaudit-common',
    'libcap-ng0',
  ],
  ...['libsemanage2', 'libsepol2', 'libbz2-1.0', 'libcrypt1', 'libpam0g', 'libssl3'],
]
const MERGED = ['bin', 'sbin', 'lib', 'lib64']

export interface EmptyRoot {
  path: string
  /** Runs a program in it to its end, as root. @throws with what it printed when it fails */
  run(program: string, ...args: string[]): string
  /** Runs a program of this machine on it to its end. @throws with what it printed when it fails */
  runOutside(program: string, ...args: string[]): string
  /** Installs a Debian package of ours, whose dependencies are there. @returns what was printed */
  installPackage(file: string): string
  /** Starts a program in it that goes on, as a user of it. */
  start(user: string, env: Record<string, string>, program: string, ...args: string[]): RunningMta
  close(): void
}

/** @param enter command that enters the network namespace of its programs; none for that of the test */
export function openEmptyRoot(enter: readonly string[] = []): EmptyRoot {
  const path = mkdtempSync(join(tmpdir(), 'empty-root-'))
  chmodSync(path, 0o755)
  for (const folder of ['usr', 'dev', 'proc', 'etc', 'run', 'root', 'var/lib', 'tmp'])
    mkdirSync(join(path, folder), { recursive: true })
  chmodSync(join(path, 'tmp'), 0o1777)
  for (const name of MERGED) {
    mkdirSync(join(path, 'usr', name), { recursive: true })
    symlinkSync(`usr/${name}`, join(path, name))
  }
  finish([
    'sh',
    '-c',
    'dpkg -L "$@" | sort -u | tar -C / --no-recursion --keep-directory-symlink -cf - -T - 2>/dev/null | tar -C "$0" --keep-directory-symlink -xf -',
    path,
    ...PACKAGES,
  ])
  for (const name of ['passwd', 'group'])
    if (!existsSync(join(path, 'etc', name)))
      cpSync(`/usr/share/base-passwd/${name}.master`, join(path, 'etc', name))
  writeFileSync(join(path, 'etc/shadow'), '')
  const inside = (args: readonly string[]) => [
    ...enter,
    ...[
      'unshare',
      '--mount',
      'sh',
      '-c',
      'mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec "$@"',
      path,
    ],
    ...args,
  ]
  return {
    path,
    run: (program, ...args) => finish(inside(['chroot', path, program, ...args])),
    runOutside: (program, ...args) => finish([program, ...args]),
    installPackage(file) {
      mkdirSync(join(path, 'var/lib/dpkg/updates'), { recursive: true })
      for (const name of ['status', 'available']) appendFileSync(join(path, 'var/lib/dpkg', name), '')
      mkdirSync(join(path, 'var/lib/dpkg/info'))
      return finish(['dpkg', `--root=${path}`, '--force-depends', '-i', file])
    },
    start(user, env, program, ...args) {
      const as = ['chroot', `--userspec=${user}:${user}`, path, ...withEnv(env)]
      const [first, ...rest] = inside([...as, program, ...args])
      return startMta(first!, rest)
    },
    close: () => rmSync(path, { recursive: true }),
  }
}

function withEnv(env: Record<string, string>): string[] {
  return ['/usr/bin/env', '-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)]
}

/** @throws Error with the output when the program fails */
function finish([program, ...args]: readonly string[]): string {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
  const { status, stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`${program} ${args.at(-1)} ended with ${status}: ${stdout}${stderr}`)
  return stdout + stderr
}
