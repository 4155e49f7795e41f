/**
 * Delivers queued events to webhook endpoints. Each endpoint has a window of concurrent requests, which grows
 * with successes and shrinks with failures, so that no endpoint delays another. Failing endpoints are
 * suspended and probed in turn. Deliveries stay in the database until their endpoint has capacity.
 *
 * The folder as a whole: `resources/events/outbox.ts` queues deliveries and announces them; the webhook
 * worker (`workers/webhook.ts`) runs one dispatcher, which leases deliveries, sends them (`attempt.ts`) and
 * stores the results (`recorder.ts`). The HTTP API manages webhooks through `webhooks.ts`. The sweepers of
 * `sweep.ts` and `notices.ts` delete old deliveries, and notify users of disabled webhooks.
 */
import { type Id, idKey } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import type { Run } from '../../store/model/command.ts'
import { ATTEMPT_MS_MAX, attemptWebhook, type WebhookAttemptOptions } from './attempt.ts'
import type { webhookCommands } from './commands.ts'
import type { webhookDispatchCommands } from './dispatch-commands.ts'
import {
  adjustWindow,
  type Endpoint,
  holdsExpiredLease,
  isFailing,
  isIdleEndpoint,
  isProbing,
  newEndpoint,
  type Ready,
} from './endpoint.ts'
import { createProbes } from './probes.ts'
import { createWebhookRecorder } from './recorder.ts'
import { signingOf } from './signature.ts'
import { createWebhookSlots } from './slots.ts'

interface DispatcherOptions extends WebhookAttemptOptions {
  run: Run<typeof webhookDispatchCommands & Pick<typeof webhookCommands, 'disableFailingWebhook'>>
  secrets: SecretKeys
  onError(error: unknown): void
}

const IN_FLIGHT_MAX = 512
/** An attempt starts only while the rest of its lease is longer than the time limit of a request. */
const LEASE_MS = 40_000
const RETRY_MS = 1_000

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #endpoints = new Map<string, Endpoint>()
  readonly #slots = createWebhookSlots<Endpoint>(IN_FLIGHT_MAX, endpoint => this.#pump(endpoint))
  readonly #probes
  readonly #recorder
  readonly #inProgress = new Map<Ready, Promise<void>>()
  readonly #claiming = new Set<Promise<void>>()
  #isStopping = false
  #isPaused = false
  #isCutOff = false

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#probes = createProbes<Endpoint>(options.clock, endpoint => this.#unsuspend(endpoint))
    this.#recorder = createWebhookRecorder({
      run: options.run,
      clock: options.clock,
      onError: options.onError,
      onRetry: ({ webhookId }, at) => this.note(webhookId, at),
      onRoom: () => {
        for (const endpoint of this.#endpoints.values()) this.#pump(endpoint)
      },
    })
  }

  /** Notes that a delivery to the webhook is due at a time, in ms since the epoch. */
  note(webhookId: Id, at: number): void {
    if (this.#isStopping) return
    const key = idKey(webhookId)
    const endpoint = this.#endpoints.get(key) ?? newEndpoint(webhookId)
    this.#endpoints.set(key, endpoint)
    if (at >= endpoint.nextAt) return
    endpoint.nextAt = at
    this.#pump(endpoint)
  }

  /** Releases leases that have not started, because the webhook was changed or deleted. */
  changed(webhookId: Id): void {
    const endpoint = this.#endpoints.get(idKey(webhookId))
    if (endpoint) void this.#releaseReady(endpoint).then(() => this.#unsuspend(endpoint))
    else this.note(webhookId, this.#options.clock.now())
  }

  /** Starts nothing until `resume()`, and releases leases that have not started. Attempts in progress end. */
  pause(): void {
    this.#isPaused = true
    for (const endpoint of this.#endpoints.values()) void this.#releaseReady(endpoint)
  }

  resume(): void {
    this.#isPaused = false
    for (const endpoint of this.#endpoints.values()) this.#pump(endpoint)
  }

  /** Starts nothing more, and waits `graceMs` for attempts in progress. The rest is due again at once. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true
    this.#probes.stop()
    for (const { timer } of this.#endpoints.values()) timer?.cancel()
    const { promise: cut, resolve: cutOff } = Promise.withResolvers<void>()
    const grace = this.#options.clock.timer(graceMs, cutOff)
    await Promise.race([Promise.all(this.#inProgress.values()), cut])
    grace.cancel()
    this.#isCutOff = true
    await Promise.all(this.#claiming)
    for (const { id, ready } of this.#endpoints.values()) await this.#release(id, ready, false)
    for (const ready of this.#inProgress.keys()) await this.#release(ready.target.webhookId, [ready], true)
    await this.#recorder.stop()
  }

  /** Starts deliveries while there is capacity, and leases more. */
  #pump(endpoint: Endpoint): void {
    if (this.#isStopping) return
    if (endpoint.isSuspended || this.#isPaused) {
      this.#slots.leave(endpoint)
      return
    }
    const { ready } = endpoint
    while (ready.length > 0 && endpoint.inFlight < endpoint.window && !this.#recorder.isFull()) {
      if (!this.#slots.take(endpoint)) break
      this.#start(endpoint, ready.shift()!)
    }
    if (ready.length === 0) this.#slots.leave(endpoint)
    if (endpoint.isClaiming) return
    const now = this.#options.clock.now()
    if (endpoint.nextAt > now) this.#wait(endpoint, endpoint.nextAt - now)
    else if (holdsExpiredLease(endpoint, now)) {
      if (ready.length > 0) void this.#releaseReady(endpoint)
    } else if (ready.length <= endpoint.window / 2 && !isProbing(endpoint)) this.#fetch(endpoint)
  }

  #wait(endpoint: Endpoint, waitMs: number): void {
    endpoint.timer?.cancel()
    endpoint.timer = undefined
    if (isIdleEndpoint(endpoint)) this.#endpoints.delete(idKey(endpoint.id))
    else if (waitMs !== Number.POSITIVE_INFINITY)
      endpoint.timer = this.#options.clock.timer(waitMs, () => this.#pump(endpoint))
  }

  #fetch(endpoint: Endpoint): void {
    const claiming = this.#claim(endpoint).then(() => void this.#claiming.delete(claiming))
    this.#claiming.add(claiming)
  }

  async #claim(endpoint: Endpoint): Promise<void> {
    const { run, clock, secrets, onError } = this.#options
    const { id: webhookId, window: limit } = endpoint
    endpoint.isClaiming = true
    endpoint.nextAt = Number.POSITIVE_INFINITY
    const now = clock.now()
    const leaseUntil = now + LEASE_MS
    try {
      const claims = await run('claimWebhookDeliveries', { webhookId, now, until: leaseUntil, limit })
      if (claims) {
        const signing = signingOf(secrets, claims.webhook, now)
        const { url, dialect } = claims.webhook
        const target = { webhookId, url, dialect, signing }
        for (const delivery of claims.deliveries) {
          const ready = { target, delivery, leaseUntil }
          endpoint.ready.push(ready)
          endpoint.held.add(ready)
        }
        endpoint.nextAt = Math.min(endpoint.nextAt, claims.nextAt ?? Number.POSITIVE_INFINITY)
      }
    } catch (error) {
      onError(error)
      endpoint.nextAt = clock.now() + RETRY_MS
    }
    endpoint.isClaiming = false
    if (this.#isStopping || this.#isPaused || endpoint.isSuspended) await this.#releaseReady(endpoint)
    else this.#pump(endpoint)
  }

  #start(endpoint: Endpoint, ready: Ready): void {
    endpoint.inFlight++
    const trying = this.#attempt(endpoint, ready)
      .catch(error => {
        this.#options.onError(error)
        endpoint.held.delete(ready)
      })
      .then(() => {
        this.#inProgress.delete(ready)
        endpoint.inFlight--
        this.#slots.free()
        this.#pump(endpoint)
      })
    this.#inProgress.set(ready, trying)
  }

  async #attempt(endpoint: Endpoint, ready: Ready): Promise<void> {
    const { clock } = this.#options
    const { target, delivery, leaseUntil } = ready
    if (clock.now() + ATTEMPT_MS_MAX >= leaseUntil) return this.#releaseUnstarted(endpoint, [ready])
    const ended = await attemptWebhook(this.#options, target, delivery)
    if (this.#isCutOff && !ended.success) return
    adjustWindow(endpoint, ended.success)
    if (ended.success) this.#unsuspend(endpoint)
    else if (isFailing(endpoint)) this.#suspend(endpoint)
    void this.#recorder.record(ended, leaseUntil).then(() => this.#forget(endpoint, [ready]))
  }

  #suspend(endpoint: Endpoint): void {
    endpoint.isSuspended = true
    this.#probes.join(endpoint)
    void this.#releaseReady(endpoint)
  }

  #unsuspend(endpoint: Endpoint): void {
    if (!endpoint.isSuspended || this.#isStopping) return
    endpoint.isSuspended = false
    this.#probes.leave(endpoint)
    this.#pump(endpoint)
  }

  #releaseReady(endpoint: Endpoint): Promise<void> {
    return this.#releaseUnstarted(endpoint, endpoint.ready.splice(0))
  }

  /** Releases leases that have not started. The deliveries keep their place in the order. */
  async #releaseUnstarted(endpoint: Endpoint, ready: readonly Ready[]): Promise<void> {
    await this.#release(endpoint.id, ready, false)
    this.#forget(endpoint, ready)
    this.note(endpoint.id, this.#options.clock.now())
  }

  #forget(endpoint: Endpoint, ready: readonly Ready[]): void {
    for (const one of ready) endpoint.held.delete(one)
    this.#pump(endpoint)
  }

  async #release(webhookId: Id, ready: readonly Ready[], begun: boolean): Promise<void> {
    if (ready.length === 0) return
    const { run, clock, onError } = this.#options
    const leased = ready.map(({ delivery: { id, attempt, dueAt } }) => ({
      id,
      attempt,
      begun,
      nextAt: begun ? clock.now() : dueAt,
    }))
    await run('releaseWebhookDeliveries', { webhookId, leased }).catch(onError)
  }
}
