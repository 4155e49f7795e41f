/**
 * Whether the service can take work: everything has started, nothing is stopping, and the store takes writes.
 */
import { type Clock, within } from '../lib/clock.ts'
import { type Run, StorageUnavailable } from '../store/command.ts'
import type { settingCommands } from '../store/settings.ts'

interface Readiness {
  started(): void
  stopping(): void
  /** What is missing, by name; empty when the service is ready. */
  notReady(): Promise<string[]>
}

/** A write is good for so long, however often anybody asks. */
const WRITE_GOOD_FOR_MS = 1_000
/** A store that takes longer takes no writes, as far as those are concerned who wait for them. */
const WRITE_LIMIT_MS = 5_000

export function createReadiness(run: Run<typeof settingCommands>, clock: Clock): Readiness {
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  let written = { at: Number.NEGATIVE_INFINITY, good: Promise.resolve(false) }

  const writes = async () => {
    try {
      await run('putSetting', { key: 'last_ready_at', value: String(clock.now()) })
      return true
    } catch (error) {
      if (error instanceof StorageUnavailable) return false
      throw error
    }
  }

  return {
    started() {
      phase = 'running'
    },
    stopping() {
      phase = 'stopping'
    },
    async notReady() {
      if (phase !== 'running') return [phase]
      const now = clock.monotonic()
      if (now - written.at > WRITE_GOOD_FOR_MS) written = { at: now, good: writes() }
      return (await within(clock, WRITE_LIMIT_MS, written.good)) ? [] : ['database']
    },
  }
}
