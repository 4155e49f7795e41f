/** A control group that limits the memory of a process and its children, as on a small machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface MemoryCgroup {
  /** Moves a process into the group. Its later children follow. */
  take(pid: number): void
  /** Removes the group. Its processes must have ended, or move to the group above. */
  close(): void
}

const ROOT = '/sys/fs/cgroup'
/** Files of version 2 and version 1 that limit memory. */
const VERSIONS = [
  { folder: ROOT, marker: 'cgroup.controllers', limit: 'memory.max' },
  { folder: join(ROOT, 'memory'), marker: 'memory.limit_in_bytes', limit: 'memory.limit_in_bytes' },
]

/** Returns undefined where no such group can be made: without root, or without control groups. */
export function makeMemoryCgroup(limitBytes: number): MemoryCgroup | undefined {
  for (const { folder, marker, limit } of VERSIONS) {
    const group = join(folder, `mailhorn-test-${process.pid}-${Date.now()}`)
    try {
      if (!existsSync(join(folder, marker))) continue
      mkdirSync(group)
      writeFileSync(join(group, limit), String(limitBytes))
      return {
        take: pid => writeFileSync(join(group, 'cgroup.procs'), String(pid)),
        close() {
          for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
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
