/** What the host gives us: room on the disk, a disk that keeps what it is told, and files that may be open at once. */
import { randomUUID } from 'node:crypto'
import { open, readFile, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { bad, type Examination, type Finding, good, unknown } from './finding.ts'

interface DiskOptions {
  folder: string
  clock: Clock
}

const MB = 1024 * 1024
const FEW_BYTES = 1024 * MB
const NO_BYTES = 200 * MB
const FEW_SHARE = 0.05
const SYNCS = 5
const SLOW_SYNC_MS = 100
const LIMITS_FILE = '/proc/self/limits'
/** Of listeners, databases and whatever else is open. */
const OTHER_FILES = 500

export function diskSpace({ folder }: DiskOptions): Examination {
  const check = 'disk_space'
  return {
    check,
    async examine() {
      const { bavail, blocks, bsize } = await statfs(folder)
      const free = bavail * bsize
      const text = `${Math.round(free / MB)} MB of ${Math.round((blocks * bsize) / MB)} MB are free.`
      const advice = 'Make room, or shorten the retention of plans: without room nothing is accepted.'
      if (free < NO_BYTES) return [bad('failed', check, folder, text, advice)]
      if (free < FEW_BYTES || bavail < blocks * FEW_SHARE)
        return [bad('warning', check, folder, text, advice)]
      return [good(check, folder, text)]
    },
  }
}

/** Every accepted email waits for one. */
export function diskSync({ folder, clock }: DiskOptions): Examination {
  const check = 'disk_sync'
  return {
    check,
    async examine() {
      const path = join(folder, `doctor-${randomUUID()}.tmp`)
      const file = await open(path, 'wx', 0o600)
      const times: number[] = []
      try {
        for (let i = 0; i < SYNCS; i++) {
          const beganAt = clock.monotonic()
          await file.write(Buffer.alloc(4_096), 0, 4_096, i * 4_096)
          await file.sync()
          times.push(clock.monotonic() - beganAt)
        }
      } finally {
        await file.close()
        await rm(path, { force: true })
      }
      const median = times.sort((a, b) => a - b)[Math.floor(SYNCS / 2)]!
      const text = `Writing for good takes ${median.toFixed(1)} ms.`
      if (median < SLOW_SYNC_MS) return [good(check, folder, text)]
      return [
        bad(
          'warning',
          check,
          folder,
          text,
          'Put data_dir on a faster disk: each group of emails waits for it.',
        ),
      ]
    },
  }
}

/** @param connections deliveries that may be under way at once */
export function openFiles({ connections }: { connections: number }): Examination {
  const check = 'open_files'
  return {
    check,
    async examine(): Promise<Finding[]> {
      const limits = await readFile(LIMITS_FILE, 'utf8').catch(() => '')
      const [, soft] = /^Max open files\s+(\S+)/m.exec(limits) ?? []
      if (soft === undefined)
        return [unknown(check, null, 'The system does not say how many files may be open.')]
      const most = soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
      const wanted = connections + OTHER_FILES
      const text = `${soft} files may be open; ${wanted} may be needed (delivery.connections and others).`
      if (most >= wanted) return [good(check, null, text)]
      return [
        bad(
          'warning',
          check,
          null,
          text,
          'Raise the limit (LimitNOFILE=, ulimit -n), or lower delivery.connections.',
        ),
      ]
    },
  }
}
