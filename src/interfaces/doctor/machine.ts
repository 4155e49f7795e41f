/** Checks of the host: free disk space, sync latency, file permissions and the open files limit. */
import { randomUUID } from 'node:crypto'
import { existsSync, type StatsFs } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { ServiceMode } from '../../pipeline/queue/service-mode.ts'
import { filesForOthers, isForOthers, type StoredFiles } from '../../store/opening/file-modes.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'

interface SpaceOptions {
  folder: string
  /** Reads how much of the disk of a folder is free. */
  read?(folder: string): Promise<Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>>
}

const MB_BYTES = 1024 * 1024
const GB_BYTES = 1024 * MB_BYTES
const FEW_BYTES = GB_BYTES
const NO_BYTES = 200 * MB_BYTES
const FEW_SHARE = 0.05
const SAMPLE_COUNT = 5
const SLOW_SYNC_MS = 100

export function diskSpace({ folder, read = statfs }: SpaceOptions): Examination {
  const check = 'disk_space'
  return {
    check,
    async examine() {
      const { bavail, blocks, bsize } = await read(folder)
      const free = bavail * bsize
      const percent = blocks === 0 ? 0 : Math.floor((bavail / blocks) * 100)
      const text = `${sizeText(free)} of ${sizeText(blocks * bsize)} free (${percent} %).`
      const advice =
        'Free disk space or shorten the retention of plans. Email is not accepted when the disk is full.'
      if (free < NO_BYTES) return [bad('failed', check, folder, text, advice)]
      if (free < FEW_BYTES || bavail < blocks * FEW_SHARE)
        return [bad('warning', check, folder, text, advice)]
      return [good(check, folder, text)]
    },
  }
}

interface ServiceOptions {
  isRunning: boolean
  version: string
  /** Data folder. */
  folder: string
  /** Mode of the service; undefined without a database. */
  mode: ServiceMode | undefined
}

/** Tells which installation is examined. Without its service, the settings are those of the command. */
export function serviceState({ isRunning, version, folder, mode }: ServiceOptions): Examination {
  const check = 'service'
  return {
    check,
    examine: async () =>
      isRunning
        ? [modeFinding(folder, version, mode)]
        : [
            bad(
              'warning',
              check,
              folder,
              'No service is running with this data folder. The checks use the settings of this command.',
              'Start the service, for example with `systemctl start mailhorn`, or name its data folder with --data-dir.',
            ),
          ],
  }
}

function modeFinding(folder: string, version: string, mode: ServiceMode | undefined): DoctorFinding {
  const running = `Version ${version} is running`
  if (!mode || mode.mode === 'normal') return good('service', folder, `${running}.`)
  const effect =
    mode.mode === 'draining'
      ? 'is draining, so it accepts no new email'
      : 'is read-only, so it refuses changes and sends nothing'
  const reason = mode.reason === null ? '' : ` Reason: ${mode.reason}.`
  return bad(
    'warning',
    'service',
    folder,
    `${running} and ${effect}.${reason}`,
    'When the maintenance is over, run `mailhorn mode normal`.',
  )
}

/** Rounds down, so that a disk never seems to have more room than it has. */
function sizeText(bytes: number): string {
  const gigabytes = bytes / GB_BYTES
  if (gigabytes < 1) return `${Math.floor(bytes / MB_BYTES)} MB`
  return `${gigabytes < 10 ? Math.floor(gigabytes * 10) / 10 : Math.floor(gigabytes)} GB`
}

/** Measures fsync latency, which every accepted email waits for. */
export function diskSync({ folder, clock }: { folder: string; clock: Clock }): Examination {
  const check = 'disk_sync'
  return {
    check,
    async examine() {
      const path = join(folder, `doctor-${randomUUID()}.tmp`)
      const file = await open(path, 'wx', 0o600)
      const times: number[] = []
      try {
        for (let i = 0; i < SAMPLE_COUNT; i++) {
          const beganAt = clock.monotonic()
          await file.write(Buffer.alloc(4_096), 0, 4_096, i * 4_096)
          await file.sync()
          times.push(clock.monotonic() - beganAt)
        }
      } finally {
        await file.close()
        await rm(path, { force: true })
      }
      const median = times.sort((a, b) => a - b)[Math.floor(SAMPLE_COUNT / 2)]!
      const text = `fsync latency is ${median.toFixed(1)} ms (median).`
      if (median < SLOW_SYNC_MS) return [good(check, folder, text)]
      return [
        bad(
          'warning',
          check,
          folder,
          text,
          'Move data_dir to a faster disk: every accepted email waits for fsync.',
        ),
      ]
    },
  }
}

/** Checks whether other users of the host can read stored data. */
export function filePermissions(files: StoredFiles): Examination {
  const check = 'file_permissions'
  const { dataDir } = files
  return {
    check,
    async examine() {
      if (!existsSync(dataDir))
        return [unknownFinding(check, dataDir, 'The data directory does not exist yet.')]
      const open = filesForOthers(files)
      if (open.length > 0) {
        const advice = `Run chmod 700 ${dataDir} and chmod go-rwx ${open.join(' ')}: these files contain emails and keys.`
        const text = `Other users of this host can read ${open.join(', ')}.`
        return [bad('failed', check, dataDir, text, advice)]
      }
      if (!isForOthers(dataDir))
        return [good(check, dataDir, 'Only the owner can access the data directory.')]
      const text = 'Other users of this host can list the data directory, but cannot read emails or keys.'
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
  /** Limit of the operating system; undefined if it is not known. */
  limit: number | undefined
  /** Configured number of concurrent deliveries, and the number that the limit allows. */
  wanted: number
  allowed: number
  /** Maximum number of connections of each HTTP listener. */
  requests: number
}

export function openFiles({ limit, wanted, allowed, requests }: OpenFilesOptions): Examination {
  const check = 'open_files'
  return {
    check,
    async examine(): Promise<DoctorFinding[]> {
      if (limit === undefined)
        return [unknownFinding(check, null, 'The open files limit could not be determined.')]
      const files = Number.isFinite(limit)
        ? `The open files limit is ${limit}`
        : 'There is no open files limit'
      const text = `${files}: sufficient for ${allowed} concurrent deliveries (delivery.connections is ${wanted}) and ${requests} connections per HTTP listener.`
      if (allowed >= wanted) return [good(check, null, text)]
      const advice = 'Raise the limit (LimitNOFILE=, ulimit -n), or lower delivery.connections.'
      return [bad('warning', check, null, text, advice)]
    },
  }
}
