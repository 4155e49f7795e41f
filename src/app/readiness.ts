/**
 * Readiness of the service: every part has started, none is stopping, the store accepts writes, and the disk
 * has room for mail. Called by `GET /readyz`.
 */
import { type Clock, within } from '../lib/clock.ts'
import { type Commands, type Run, StorageUnavailable } from '../store/model/command.ts'
import type { StoreLocation } from '../store/opening/dialect.ts'
import { isDiskFull as hasNoRoom } from '../store/opening/disk-room.ts'
import type { Store } from '../store/opening/open.ts'
import type { settingCommands } from '../store/reading/settings.ts'

export interface Readiness {
  started(): void
  stopping(): void
  /** @returns names of what is missing; empty when the service is ready */
  notReady(): Promise<string[]>
  /** Tells whether a disk of the service has no room for mail. */
  isDiskFull(): Promise<boolean>
}

interface ReadinessOptions {
  store: {
    run: Run<typeof settingCommands>
    unavailableAt: Store<Commands>['unavailableAt']
    location: StoreLocation
  }
  dataDir: string
  /** Reads the free bytes of the disk of a folder. */
  freeBytes?(folder: string): Promise<number>
  clock: Clock
}

/** Time for which the result of a write is reused, however many callers ask. */
const WRITE_REUSE_MS = 1_000
/** Time after which a store counts as not accepting writes. */
const WRITE_MS_MAX = 5_000
/**
 * Time for which a command that could not be stored counts. A small write, such as the one below, may find
 * room where mail finds none.
 */
const FAILURE_COUNTS_MS = 10_000

export function createReadiness({
  store: { run, unavailableAt, location },
  dataDir,
  freeBytes,
  clock,
}: ReadinessOptions): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let tried = { at: Number.NEGATIVE_INFINITY, missing: Promise.resolve<string[]>([]) }

  const writes = async () => {
    try {
      await run('putSetting', { key: 'last_ready_at', value: String(clock.now()) })
      return true
    } catch (error) {
      if (error instanceof StorageUnavailable) return false
      throw error
    }
  }
  const hasFailed = () =>
    clock.monotonic() - (unavailableAt() ?? Number.NEGATIVE_INFINITY) < FAILURE_COUNTS_MS
  const isDiskFull = () => hasNoRoom({ dataDir, location, ...(freeBytes && { freeBytes }) })
  const missing = async () => {
    const [isWritten, isFull] = await Promise.all([writes(), isDiskFull()])
    return [...(isWritten ? [] : ['database']), ...(isFull ? ['disk space'] : [])]
  }

  return {
    isDiskFull,
    started() {
      phase = 'running'
    },
    stopping() {
      phase = 'stopping'
    },
    async notReady() {
      if (phase !== 'running') return [phase]
      const now = clock.monotonic()
      if (now - tried.at > WRITE_REUSE_MS) tried = { at: now, missing: missing() }
      const found = (await within(clock, WRITE_MS_MAX, tried.missing)) ?? ['database']
      return found.length === 0 && hasFailed() ? ['database'] : found
    },
  }
}
