/** A control group that limits the memory of a process and its children, as on a small machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MemoryCgroup {
  /** Moves a process into the group. Its later children follow. */
  take(pid: number): void
  /** Arguments before those of a program that is to start within the group. */
  launcher: string[]
  /** Anonymous memory of all processes of the group, without the page cache. */
  anonymousBytes(): number
  /** Processes of the group that the system has ended since they needed too much. */
  killCount(): number
  /** Removes the group. Its processes must have ended, or move to the group above. */
  close(): void
}

const ROOT = '/sys/fs/cgroup'
/** Names of version 2 and version 1: folder, files and fields. */
const VERSIONS = [
  {
    folder: ROOT,
    marker: 'cgroup.controllers',
    limit: 'memory.max',
    anonymous: 'anon',
    events: 'memory.events',
  },
  {
    folder: join(ROOT, 'memory'),
    marker: 'memory.limit_in_bytes',
    limit: 'memory.limit_in_bytes',
    anonymous: 'rss',
    events: 'memory.oom_control',
  },
]

/** Returns undefined where no such group can be made: without root, or without control groups. */
export function makeMemoryCgroup(limitBytes: number): MemoryCgroup | undefined {
  for (const { folder, marker, limit, anonymous, events } of VERSIONS) {
    const group = join(folder, `mailhorn-test-${process.pid}-${Date.now()}`)
    const processes = join(group, 'cgroup.procs')
    const read = (file: string, field: string) => {
      const lines = readFileSync(join(group, file), 'utf8').split('\n')
      return Number(lines.find(line => line.startsWith(`${field} `))?.split(' ')[1])
    }
    try {
      if (!existsSync(join(folder, marker))) continue
      mkdirSync(group)
      writeFileSync(join(group, limit), String(limitBytes))
      return {
        take: pid => writeFileSync(processes, String(pid)),
        // `0` is the process that writes, in any namespace
        launcher: ['sh', '-c', `echo 0 >${processes} && exec "$@"`, 'sh'],
        anonymousBytes: () => read('memory.stat', anonymous),
        killCount: () => read(events, 'oom_kill'),
        close() {
          for (const pid of readFileSync(processes, 'utf8').split('\n').filter(Boolean))
            writeFileSync(join(folder, 'cgroup.procs'), pid)
          rmdirSync(group)
        },
      }
    } catch {
      if (existsSync(group) && readdirSync(group).length > 0) rmdirSync(group)
    }
  }
  return undefined
}

/** Why a row that needs such a group cannot be tried here. */
export function withoutMemoryCgroup(): string | undefined {
  const group = makeMemoryCgroup(1024 * 1024 * 1024)
  group?.close()
  return group ? undefined : 'no control group for memory can be made here (it needs root)'
}
