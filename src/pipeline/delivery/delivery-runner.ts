/**
 * Runs one delivery: builds the message, finds the route, attempts the delivery and records the result.
 *
 * In: a claimed delivery, from the slot runner. Out: a congestion signal for its path, and a finished attempt
 * for the recorder.
 */
import type { Clock } from '../../lib/clock.ts'
import type { ClaimedDelivery } from '../../store/model/command.ts'
import { whileUnavailable } from '../../store/model/while-unavailable.ts'
import { type AttemptOptions, attempt } from './attempt.ts'
import type { LargeMessages } from './message/large-messages.ts'
import type { MessageMaker, NoMessage, OutgoingMessage } from './message/message.ts'
import {
  createPreparedMessages,
  PREPARED_MESSAGE_BYTES_MAX,
  type PreparedMessages,
} from './message/prepared.ts'
import { type AttemptResult, signalOf } from './outcome/attempt-result.ts'
import { type FinishFacts, finishOf } from './outcome/finish.ts'
import { internalError, notSendable } from './outcome/result-without-host.ts'
import type { Recorder } from './recorder.ts'
import { countedDestination, type Router, SIMULATOR_ROUTE } from './route.ts'
import { type PipelineSlot, PipelineSlotLost } from './sessions/pipeline.ts'
import type { JudgeCongestion } from './shaping/congestion-feedback.ts'
import type { EgressSource } from './shaping/source-ips.ts'
import type { SlowDeliveryTimer } from './slow-delivery-timer.ts'

export interface DeliveryRunnerOptions {
  clock: Clock
  transport: AttemptOptions
  router: Router
  maker: MessageMaker
  largeMessages: LargeMessages
  recorder: Recorder
  slow: SlowDeliveryTimer
  /** Ends the wait for a store that is unavailable. */
  stopping: AbortSignal
  /** Called when the result of an attempt is stored. */
  onStored(delivery: ClaimedDelivery, result: AttemptResult): Promise<void>
  onError(error: unknown, delivery?: ClaimedDelivery): void
}

/** Result of an attempt with the facts that are recorded beside it. */
interface Attempted extends Pick<FinishFacts, 'message' | 'destination'> {
  result: AttemptResult
}

export class DeliveryRunner {
  readonly #options: DeliveryRunnerOptions
  readonly #prepared: PreparedMessages
  /** Size of the last message. */
  #lastBytes = 0

  constructor(options: DeliveryRunnerOptions) {
    this.#options = options
    this.#prepared = createPreparedMessages(options.clock, options.maker)
  }

  /** Builds the message while other deliveries are in progress, so that this one starts without delay. */
  prepare(delivery: ClaimedDelivery): void {
    if (this.#lastBytes <= PREPARED_MESSAGE_BYTES_MAX) this.#prepared.make(delivery)
  }

  /**
   * Resolves when the attempt has ended; the result is recorded in the background.
   * @returns false when the delivery lost its slot in the pipeline: nothing was sent and nothing is recorded
   */
  async deliver(
    delivery: ClaimedDelivery,
    source: EgressSource,
    judge: JudgeCongestion,
    slot?: PipelineSlot,
  ): Promise<boolean> {
    const { clock, recorder, slow } = this.#options
    await recorder.room()
    const startedAt = clock.now()
    const watched = slow.begin(delivery, startedAt)
    try {
      const attempted = await this.#attempt(delivery, source, startedAt, slot)
      if (!attempted) return false
      const { result, message, destination } = attempted
      judge(signalOf(result), result.text)
      this.#record(delivery, result, { startedAt, finishedAt: clock.now(), message, destination })
      return true
    } finally {
      slow.end(watched)
    }
  }

  /** @returns undefined when the delivery lost its slot in the pipeline */
  async #attempt(
    delivery: ClaimedDelivery,
    source: EgressSource,
    startedAt: number,
    slot?: PipelineSlot,
  ): Promise<Attempted | undefined> {
    const { transport, router, onError } = this.#options
    let leave: (() => void) | undefined
    try {
      let message = await this.#prepared.take(delivery, startedAt)
      if (!message) {
        leave = await this.#awaitMemory(delivery)
        message = await this.#make(delivery, startedAt)
      }
      if ('reason' in message)
        return { result: notSendable(message.reason), message: null, destination: null }
      this.#lastBytes = message.sizeBytes
      delivery.source = undefined
      const route = delivery.simulated ? SIMULATOR_ROUTE : await router.routeOf(delivery.domain)
      const result = await attempt(transport, route, delivery, message, source, slot)
      return { result, message, destination: countedDestination(route) }
    } catch (error) {
      if (error instanceof PipelineSlotLost) return undefined
      onError(error, delivery)
      return { result: internalError(), message: null, destination: null }
    } finally {
      leave?.()
    }
  }

  async #awaitMemory(delivery: ClaimedDelivery): Promise<() => void> {
    const { largeMessages, maker } = this.#options
    const memoryBytes = await this.#whileUnavailable(() => maker.memoryOf(delivery))
    return largeMessages.enter(delivery.domain, memoryBytes)
  }

  #make(delivery: ClaimedDelivery, startedAt: number): Promise<OutgoingMessage | NoMessage> {
    return this.#whileUnavailable(() => this.#options.maker.make(delivery, startedAt))
  }

  /**
   * While the store is unavailable nothing can be read. The attempt waits, because the delivery has not
   * failed.
   */
  #whileUnavailable<T>(read: () => Promise<T>): Promise<T> {
    const { clock, stopping } = this.#options
    return whileUnavailable(clock, read, () => !stopping.aborted, stopping)
  }

  #record(delivery: ClaimedDelivery, result: AttemptResult, facts: FinishFacts): void {
    const { recorder, transport, onStored, onError } = this.#options
    recorder
      .record(finishOf(delivery, result, facts, transport.random))
      .then(good => (good ? onStored(delivery, result) : undefined))
      .catch(error => onError(error, delivery))
  }
}
