/**
 * What the host gives us: room on the disk, a disk that keeps what it is told, files for us alone, and files
 * that may be open at once.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { filesForOthers, isForOthers, type StoredFiles } from '../../store/file-modes.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'

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

/** Whether other users of the machine can read what is stored. */
export function filePermissions(files: StoredFiles): Examination {
  const check = 'file_permissions'
  const { dataDir } = files
  return {
    check,
    async examine() {
      if (!existsSync(dataDir)) return [unknownFinding(check, dataDir, 'There is no data folder yet.')]
      const open = filesForOthers(files)
      if (open.length > 0) {
        const advice = `Run chmod 700 ${dataDir} and chmod go-rwx ${open.join(' ')}: mail and keys are in them.`
        const text = `Other users of this machine can open ${open.join(', ')}.`
        return [bad('failed', check, dataDir, text, advice)]
      }
      if (!isForOthers(dataDir)) return [good(check, dataDir, 'The data folder is for its owner alone.')]
      const text = 'Other users of this machine can look into the data folder, but not read mail or keys.'
      return [
        bad(
          'warning',
          check,
          dataDir,
          text,
          `Run chmod 700 ${dataDir}, unless another program needs a file in it.`,
        ),
      ]
    },
  }
}

interface OpenFilesOptions {
  /** As the system has it; undefined where it does not say. */
  limit: number | undefined
  /** Deliveries that are to be under way at once, and how many may be with that limit. */
  wanted: number
  allowed: number
  /** To the API and the dashboard. */
  requests: number
}

export function openFiles({ limit, wanted, allowed, requests }: OpenFilesOptions): Examination {
  const check = 'open_files'
  return {
    check,
    async examine(): Promise<DoctorFinding[]> {
      if (limit === undefined)
        return [unknownFinding(check, null, 'The system does not say how many files may be open.')]
      const files = Number.isFinite(limit) ? `${limit} files` : 'Any number of files'
      const text = `${files} may be open: enough for ${allowed} deliveries at once (delivery.connections is ${wanted}) and for ${requests} connections to each HTTP listener.`
      if (allowed >= wanted) return [good(check, null, text)]
      const advice = 'Raise the limit (LimitNOFILE=, ulimit -n), or lower delivery.connections.'
      return [bad('warning', check, null, text, advice)]
    },
  }
}
