/**
 * Runs one delivery: builds the message, finds the route, transmits the message and records the result.
 *
 * In: a claimed delivery, from the shaper. Out: a congestion signal for the shaper, and a finished attempt
 * for the recorder.
 */
import { type Clock, sleep } from '../../lib/clock.ts'
import { type ClaimedDelivery, StorageUnavailable } from '../../store/model/command.ts'
import { countedDestination, countedResult } from './counted-result.ts'
import type { MessageMaker } from './message/message.ts'
import { createPreparedMessages, PREPARED_MESSAGE_BYTES_MAX } from './message/prepared.ts'
import { type AttemptResult, finishOf } from './outcome/finish.ts'
import type { Recorder } from './recorder.ts'
import { type Router, SIMULATOR_ROUTE } from './route.ts'
import { type PipelineSlot, PipelineSlotLost } from './sessions/pipeline.ts'
import type { JudgeCongestion } from './shaping/congestion-feedback.ts'
import type { EgressSource } from './shaping/source-ips.ts'
import type { SlowDeliveryTimer } from './slow-delivery-timer.ts'
import { brokenInside, failedBeforeTransfer, type TransmitOptions, transmit } from './transport.ts'

export interface DeliveryRunnerOptions extends TransmitOptions {
  clock: Clock
  router: Router
  maker: MessageMaker
  /** Called when the result of an attempt is stored. */
  onStored(delivery: ClaimedDelivery, result: AttemptResult): Promise<void>
  onError(error: unknown, delivery?: ClaimedDelivery): void
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

const STORE_RETRY_MS = 1_000

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
  ) => {
    const message =
      (await prepared.take(delivery, startedAt)) ?? (await makeWhenAnswered(delivery, startedAt))
    if ('reason' in message)
      return { ...failedBeforeTransfer(message.reason), message: null, destination: null }
    lastBytes = message.sizeBytes
    delivery.source = undefined
    const route = delivery.simulated ? SIMULATOR_ROUTE : await router.routeOf(delivery.domain)
    const destination = countedDestination(route)
    return { ...(await transmit(options, route, delivery, message, source, slot)), message, destination }
  }

  /**
   * While the store is unavailable nothing can be read. The attempt waits, because the delivery has not
   * failed.
   */
  const makeWhenAnswered = async (delivery: ClaimedDelivery, startedAt: number) => {
    for (;;)
      try {
        return await maker.make(delivery, startedAt)
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || stopping.aborted) throw error
        await sleep(clock, STORE_RETRY_MS, stopping)
      }
  }

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
          return { ...brokenInside(), message: null, destination: null }
        })
        if (!attempted) return false
        const { result, signal, message, destination } = attempted
        judge(signal, result.text)
        const finish = finishOf(
          delivery,
          result,
          { startedAt, finishedAt: clock.now(), message },
          options.random,
        )
        const counted = destination === null ? undefined : countedResult(destination, result, finish)
        recorder
          .record(counted ? { ...finish, destination: counted } : finish)
          .then(good => (good ? options.onStored(delivery, result) : undefined))
          .catch(error => onError(error, delivery))
        return true
      } finally {
        slow.end(watched)
      }
    },
  }
}
