/**
 * Entry of the thread that brings events to webhooks: hosts of strangers, their certificates and their
 * replies stay on it.
 */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type ClockSeat, createAdjustableClock } from '../lib/adjustable-clock.ts'
import { every, systemClock } from '../lib/clock.ts'
import { collectGarbageWhenIdle } from '../lib/idle-gc.ts'
import type { Id } from '../lib/ids.ts'
import { createLog, type LogLevel } from '../lib/log.ts'
import { createSecretKeys } from '../lib/secret-keys.ts'
import { throttledLog } from '../lib/throttled-log.ts'
import { WEBHOOK_CHANGED } from '../pipeline/webhooks/commands.ts'
import { Dispatcher } from '../pipeline/webhooks/dispatcher.ts'
import { stepDueWebhooks } from '../pipeline/webhooks/webhook-rows.ts'
import { createResolver } from '../protocols/dns/resolver.ts'
import { createOutbound } from '../protocols/http-client/outbound.ts'
import { WEBHOOK_DUE } from '../resources/events/outbox.ts'
import { MISSED } from '../store/command.ts'
import { openReader, type StoreLocation } from '../store/dialect.ts'
import { createWriterClient } from '../store/writer/client.ts'
import type { ServiceCommands } from './commands.ts'

export interface WebhookThreadData {
  location: StoreLocation
  writer: MessagePort
  secret: Uint8Array
  /** The provider host. */
  mailHost: string
  resolvers: readonly string[]
  /** PEM of the authorities to trust, in place of the runtime's. */
  authorities: string[] | undefined
  allowLoopback: boolean
  allowInsecureLoopback: boolean
  clockSeat: ClockSeat | null
  logLevel: LogLevel
}

/** What has become due is announced; this is for what was missed, and for leases of those that are gone. */
const LOOK_EVERY_MS = 30_000
const GRACE_MS = 5_000
/** Ends of attempts are stored together. */
const PATIENCE_MS = 5

collectGarbageWhenIdle()

const data = workerData as WebhookThreadData
const adjustable = data.clockSeat ? createAdjustableClock(data.clockSeat) : undefined
const clock = adjustable ?? systemClock
const log = createLog(data.logLevel).child({ thread: 'webhooks' })
const writer = createWriterClient<ServiceCommands>(data.writer, {
  clock,
  lazyMs: { finishWebhookAttempt: PATIENCE_MS },
})
const { db } = openReader(data.location)
const resolver = createResolver({ servers: data.resolvers, clock })
const { allowLoopback, allowInsecureLoopback, authorities } = data
const outbound = createOutbound({
  ...{ resolver, clock, allowLoopback, allowInsecureLoopback, keepAlive: true },
  ...(authorities && { authorities }),
})
const failed = throttledLog(
  { log, clock },
  'error',
  'webhook_dispatch_failed',
  'Deliveries to a webhook could not be processed; retrying',
)
const dispatcher = new Dispatcher({
  run: writer.run,
  ...{ clock, outbound, random: Math.random, mailHost: data.mailHost },
  secrets: createSecretKeys(data.secret),
  onError: error => failed({ err: error }),
})

const look = async () => {
  for await (const { webhookId, at } of stepDueWebhooks(db)) dispatcher.note(webhookId, at)
}
const unseen = throttledLog(
  { log, clock },
  'warn',
  'webhook_lookup_failed',
  'Due webhook deliveries could not be looked up',
)
const lookAgain = () => {
  look().catch(error => unseen({ err: error }))
}
writer.on(WEBHOOK_DUE, ids => {
  for (const id of ids) dispatcher.note(id as Id, clock.now())
})
writer.on(WEBHOOK_CHANGED, ids => {
  for (const id of ids) dispatcher.changed(id as Id)
})
writer.on(MISSED, lookAgain)
const looking = every(clock, LOOK_EVERY_MS, lookAgain)
lookAgain()

parentPort!.once('message', async () => {
  looking.cancel()
  await dispatcher.stop(GRACE_MS)
  outbound.close()
  resolver.close()
  writer.close()
  await db.destroy()
  adjustable?.close()
  parentPort!.close()
})
parentPort!.postMessage('ready')
