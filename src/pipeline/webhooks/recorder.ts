/** Stores the results of attempts, and retries while the database is unavailable. */
import type { Clock } from '../../lib/clock.ts'
import type { Run } from '../../store/model/command.ts'
import { whileUnavailable } from '../../store/model/while-unavailable.ts'
import type { webhookCommands } from './commands.ts'
import type { WebhookAttempt, webhookDispatchCommands } from './dispatch-commands.ts'

interface RecorderOptions {
  run: Run<
    Pick<typeof webhookDispatchCommands, 'finishWebhookAttempt'> &
      Pick<typeof webhookCommands, 'disableFailingWebhook'>
  >
  clock: Clock
  /** Called with the time of the next attempt after a failed one. */
  onRetry(attempt: WebhookAttempt, at: number): void
  /** Called when results can be stored again. */
  onRoom(): void
  onError(error: unknown): void
}

interface WebhookRecorder {
  /**
   * Resolves when the result has been stored, or cannot be.
   * @param until is the end of the lease in ms since the epoch
   */
  record(attempt: WebhookAttempt, until: number): Promise<void>
  /** Whether too many results wait to be stored for another attempt to start. */
  isFull(): boolean
  /** Resolves when no result waits. A delivery whose result was not stored is tried again after its lease. */
  stop(): Promise<void>
}

const UNSTORED_MAX = 1_000

export function createWebhookRecorder({
  run,
  clock,
  onRetry,
  onRoom,
  onError,
}: RecorderOptions): WebhookRecorder {
  const waiting = new Set<Promise<void>>()
  let isStopping = false

  const store = async (attempt: WebhookAttempt): Promise<void> => {
    const effect = await run('finishWebhookAttempt', attempt)
    if (effect === 'failing') await run('disableFailingWebhook', { id: attempt.webhookId, at: clock.now() })
    else if (effect === 'recorded' && attempt.nextAt !== null) onRetry(attempt, attempt.nextAt)
  }

  return {
    record(attempt, until) {
      const mayRetry = () => !isStopping && clock.now() < until
      const storing = whileUnavailable(clock, () => store(attempt), mayRetry)
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
