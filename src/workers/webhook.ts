/**
 * Entry of the webhook worker, which delivers events to webhooks. Names, certificates and replies of their
 * hosts are processed in this thread; test events, which are answered at once, are sent by the main thread.
 */

import { workerData } from 'node:worker_threads'
import { every } from '../lib/clock.ts'
import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import type { Id } from '../lib/ids.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { type ServiceMode, ServiceModeWatch } from '../pipeline/queue/service-mode.ts'
import { WEBHOOK_CHANGED } from '../pipeline/webhooks/commands.ts'
import { Dispatcher } from '../pipeline/webhooks/dispatcher.ts'
import { stepDueWebhooks } from '../pipeline/webhooks/webhook-rows.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { WEBHOOK_DUE } from '../resources/events/outbox.ts'
import { MISSED } from '../store/model/command.ts'
import { openStoreThread, type StoreThreadData } from '../store/opening/store-thread.ts'
import type { ServiceCommands } from './commands.ts'

export interface WebhookThreadData extends StoreThreadData {
  secret: Uint8Array
  /** Provider host. */
  mailHost: string
  resolvers: readonly string[]
  /** PEM of the trusted certificate authorities, in place of those of the runtime. */
  authorities: string[] | undefined
  allowLoopback: boolean
  allowInsecureLoopback: boolean
}

/**
 * Interval of looking up due deliveries, in case an announcement was missed, and of ending leases of
 * processes that no longer run.
 */
const LOOKUP_INTERVAL_MS = 30_000
const GRACE_MS = 5_000
/** Time that the result of an attempt waits for others, so that they are stored together. */
const RESULT_DELAY_MS = 5

collectGarbageWhenIdle()

const data = workerData as WebhookThreadData
const { clock, log, writer, db, stack, ready } = openStoreThread<ServiceCommands>('webhooks', data, {
  finishWebhookAttempt: RESULT_DELAY_MS,
})
const resolver = createResolver({ servers: data.resolvers, clock })
stack.defer(resolver.close)
const { allowLoopback, allowInsecureLoopback, authorities } = data
const outbound = createOutbound({
  resolver,
  clock,
  allowLoopback,
  allowInsecureLoopback,
  keepAlive: true,
  authorities,
})
stack.defer(outbound.close)
const failed = throttledLog(
  { log, clock },
  'error',
  'webhook_dispatch_failed',
  'Deliveries to a webhook could not be processed; retrying',
)
const dispatcher = new Dispatcher({
  run: writer.run,
  clock,
  outbound,
  random: Math.random,
  mailHost: data.mailHost,
  secrets: createSecretKeys(data.secret),
  onError: error => failed({ err: error }),
})

stack.defer(() => dispatcher.stop(GRACE_MS))

const poll = async () => {
  for await (const { webhookId, at } of stepDueWebhooks(db)) dispatcher.note(webhookId, at)
}
const unseen = throttledLog(
  { log, clock },
  'warn',
  'webhook_lookup_failed',
  'Due webhook deliveries could not be looked up',
)
const lookAgain = () => {
  poll().catch(error => unseen({ err: error }))
}
writer.on(WEBHOOK_DUE, ids => {
  for (const id of ids) dispatcher.note(id as Id, clock.now())
})
writer.on(WEBHOOK_CHANGED, ids => {
  for (const id of ids) dispatcher.changed(id as Id)
})
writer.on(MISSED, lookAgain)
/** What was leased is released, so that nothing is sent while the service is read-only. */
const followMode = ({ mode }: ServiceMode) => {
  if (mode === 'read-only') return dispatcher.pause()
  dispatcher.resume()
  lookAgain()
}
const serviceMode = await ServiceModeWatch.open(
  { db, on: writer.on },
  { onSwitched: followMode, onError: error => unseen({ err: error }) },
)
followMode(serviceMode.current)
const looking = every(clock, LOOKUP_INTERVAL_MS, lookAgain)

stack.defer(() => looking.cancel())
ready()
