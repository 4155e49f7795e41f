/**
 * Readiness of the service: every part has started, none is stopping, and the store accepts writes. Called by
 * `GET /ready`.
 */
import { type Clock, within } from '../lib/clock.ts'
import { type Run, StorageUnavailable } from '../store/command.ts'
import type { settingCommands } from '../store/settings.ts'

interface Readiness {
  started(): void
  stopping(): void
  /** @returns names of what is missing; empty when the service is ready */
  notReady(): Promise<string[]>
}

/** Time for which the result of a write is reused, however many callers ask. */
const WRITE_REUSE_MS = 1_000
/** Time after which a store counts as not accepting writes. */
const WRITE_MS_MAX = 5_000

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
      if (now - written.at > WRITE_REUSE_MS) written = { at: now, good: writes() }
      return (await within(clock, WRITE_MS_MAX, written.good)) ? [] : ['database']
    },
  }
}
