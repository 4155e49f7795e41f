/**
 * Runs one delivery: builds the message, finds the route, transmits the message and records the result.
 *
 * In: a claimed delivery, from the shaper. Out: a congestion signal for the shaper, and a finished attempt
 * for the recorder.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Cause } from '../../resources/emails/explanation/cause.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import { whileUnavailable } from '../../store/model/while-unavailable.ts'
import type { MessageMaker } from './message/message.ts'
import { createPreparedMessages, PREPARED_MESSAGE_BYTES_MAX } from './message/prepared.ts'
import { type AttemptResult, resultWithoutHost, signalOf } from './outcome/attempt-result.ts'
import { type FinishFacts, finishOf } from './outcome/finish.ts'
import type { Recorder } from './recorder.ts'
import { countedDestination, type Router, SIMULATOR_ROUTE } from './route.ts'
import { type PipelineSlot, PipelineSlotLost } from './sessions/pipeline.ts'
import type { JudgeCongestion } from './shaping/congestion-feedback.ts'
import type { EgressSource } from './shaping/source-ips.ts'
import type { SlowDeliveryTimer } from './slow-delivery-timer.ts'
import { type TransmitOptions, transmit } from './transport.ts'

export interface DeliveryRunnerOptions {
  clock: Clock
  transport: TransmitOptions
  router: Router
  maker: MessageMaker
  /** Called when the result of an attempt is stored. */
  onStored(delivery: ClaimedDelivery, result: AttemptResult): Promise<void>
  onError(error: unknown, delivery?: ClaimedDelivery): void
}

/** Result of an attempt with the facts that are recorded beside it. */
interface Attempted extends Pick<FinishFacts, 'message' | 'destination'> {
  result: AttemptResult
}

interface DeliveryRunner {
  /** Builds the message while other deliveries are in progress, so that this one starts without delay. */
  prepare(delivery: ClaimedDelivery): void
  /**
   * Resolves when the attempt has ended; the result is recorded in the background.
   * @returns false when the delivery lost its slot in the pipeline: nothing was sent and nothing is recorded
   */
  deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot?: PipelineSlot,
  ): Promise<boolean>
}

export function createDeliveryRunner(
  options: DeliveryRunnerOptions,
  recorder: Recorder,
  slow: SlowDeliveryTimer,
  stopping: AbortSignal,
): DeliveryRunner {
  const { clock, router, maker, onError } = options
  const prepared = createPreparedMessages(clock, maker)
  let lastBytes = 0

  const attemptOf = async (
    delivery: ClaimedDelivery,
    source: EgressSource,
    startedAt: number,
    slot?: PipelineSlot,
  ): Promise<Attempted> => {
    const message =
      (await prepared.take(delivery, startedAt)) ?? (await makeWhenAnswered(delivery, startedAt))
    if ('reason' in message) return untransmitted('failed', message.reason)
    lastBytes = message.sizeBytes
    delivery.source = undefined
    const route = delivery.simulated ? SIMULATOR_ROUTE : await router.routeOf(delivery.domain)
    const result = await transmit(options.transport, route, delivery, message, source, slot)
    return { result, message, destination: countedDestination(route) }
  }

  /**
   * While the store is unavailable nothing can be read. The attempt waits, because the delivery has not
   * failed.
   */
  const makeWhenAnswered = (delivery: ClaimedDelivery, startedAt: number) =>
    whileUnavailable(
      clock,
      () => maker.make(delivery, startedAt),
      () => !stopping.aborted,
      stopping,
    )

  return {
    prepare(delivery) {
      if (lastBytes <= PREPARED_MESSAGE_BYTES_MAX) prepared.make(delivery)
    },
    async deliver(delivery, source, judge, slot) {
      await recorder.room()
      const startedAt = clock.now()
      const watched = slow.begin(delivery, startedAt)
      try {
        const attempted = await attemptOf(delivery, source, startedAt, slot).catch(error => {
          if (error instanceof PipelineSlotLost) return undefined
          onError(error, delivery)
          return untransmitted('deferred', 'an internal error')
        })
        if (!attempted) return false
        const { result, message, destination } = attempted
        judge(signalOf(result), result.text)
        const facts = { startedAt, finishedAt: clock.now(), message, destination }
        recorder
          .record(finishOf(delivery, result, facts, options.transport.random))
          .then(good => (good ? options.onStored(delivery, result) : undefined))
          .catch(error => onError(error, delivery))
        return true
      } finally {
        slow.end(watched)
      }
    },
  }
}

/** Nothing was transmitted, because the email has no message or an internal error occurred. */
function untransmitted(kind: 'failed' | 'deferred', reason: string): Attempted {
  const cause: Cause = kind === 'failed' ? { code: 'not_sendable', by: reason } : { code: 'internal_error' }
  return { result: resultWithoutHost(kind, 'unknown', reason, cause), message: null, destination: null }
}
