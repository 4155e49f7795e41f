/** Deletes deliveries of deleted webhooks, and deliveries that have waited for too long, in small steps. */
import type { Clock } from '../../lib/clock.ts'
import { firstIdAt, type Id } from '../../lib/ids.ts'
import { inSteps } from '../../lib/sweeper.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { webhookDispatchCommands } from './dispatch-commands.ts'
import { FAILING_MS_MAX } from './retry.ts'

interface SweepOptions {
  db: Db
  run: Run<Pick<typeof webhookDispatchCommands, 'dropWebhookDeliveries'>>
  clock: Clock
  /** Time since which this process delivers events, on the monotonic clock in ms. */
  servingSince: number
}

const DELIVERIES_PER_STEP_MAX = 500

/**
 * Yields after each step. Deliveries of enabled webhooks are kept until the process has run for the whole
 * time, because they may have waited while the service was stopped.
 */
export async function* sweepWebhookDeliveries(options: SweepOptions): AsyncGenerator<void> {
  const { db, run, clock, servingSince } = options
  const before = firstIdAt(clock.now() - FAILING_MS_MAX)
  const keepsEnabled = clock.monotonic() - servingSince < FAILING_MS_MAX
  for (let webhookId = await nextWebhook(db, new Uint8Array()); webhookId; ) {
    const of = { webhookId, before, keepsEnabled }
    yield* inSteps(DELIVERIES_PER_STEP_MAX, limit => run('dropWebhookDeliveries', { ...of, limit }))
    webhookId = await nextWebhook(db, webhookId)
  }
}

/** Webhooks that have deliveries, in the order of their ids. */
async function nextWebhook(db: Db, after: Id): Promise<Id | undefined> {
  const row = await db
    .selectFrom('webhookDeliveries')
    .select('webhookId')
    .where('webhookId', '>', after)
    .orderBy('webhookId')
    .limit(1)
    .executeTakeFirst()
  return row?.webhookId
}
