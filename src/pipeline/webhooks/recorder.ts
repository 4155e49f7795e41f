/** Stores how attempts ended; while nothing can be stored, again and again. */
import type { Clock } from '../../lib/clock.ts'
import { sleep } from '../../lib/clock.ts'
import { type Run, StorageUnavailable } from '../../store/command.ts'
import type { webhookCommands } from './commands.ts'
import type { WebhookAttempt, webhookDispatchCommands } from './dispatch-commands.ts'

interface RecorderOptions {
  run: Run<
    Pick<typeof webhookDispatchCommands, 'finishWebhookAttempt'> &
      Pick<typeof webhookCommands, 'disableFailingWebhook'>
  >
  clock: Clock
  /** An attempt that failed is to be followed by another. */
  onRetry(attempt: WebhookAttempt, at: number): void
  /** There is room again. */
  onRoom(): void
  onError(error: unknown): void
}

interface WebhookRecorder {
  /**
   * Resolves when it is stored, or cannot be.
   * @param until epoch ms: from then on somebody else may have the lease
   */
  record(attempt: WebhookAttempt, until: number): Promise<void>
  /** So many wait to be stored that no further attempt should begin. */
  isFull(): boolean
  /** Resolves when all is stored, or cannot be: what then is not recorded is tried again after its lease. */
  stop(): Promise<void>
}

const UNSTORED_MAX = 1_000
const RETRY_MS = 1_000

export function createWebhookRecorder({
  run,
  clock,
  onRetry,
  onRoom,
  onError,
}: RecorderOptions): WebhookRecorder {
  const waiting = new Set<Promise<void>>()
  let isStopping = false

  const store = async (attempt: WebhookAttempt, until: number): Promise<void> => {
    try {
      const effect = await run('finishWebhookAttempt', attempt)
      if (effect === 'failing') await run('disableFailingWebhook', { id: attempt.webhookId, at: clock.now() })
      else if (effect === 'recorded' && attempt.nextAt !== null) onRetry(attempt, attempt.nextAt)
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || isStopping || clock.now() >= until) throw error
      await sleep(clock, RETRY_MS)
      return store(attempt, until)
    }
  }

  return {
    record(attempt, until) {
      const storing = store(attempt, until)
        .catch(onError)
        .then(() => {
          waiting.delete(storing)
          if (waiting.size === UNSTORED_MAX - 1) onRoom()
        })
      waiting.add(storing)
      return storing
    },
    isFull: () => waiting.size >= UNSTORED_MAX,
    async stop() {
      isStopping = true
      await Promise.all(waiting)
    },
  }
}
