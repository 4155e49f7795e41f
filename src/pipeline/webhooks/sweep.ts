/** Takes away what waits for webhooks that are gone, and what has waited for too long, a little at a time. */
import type { Clock } from '../../lib/clock.ts'
import { firstIdAt, type Id } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import type { Db } from '../../store/schema.ts'
import type { webhookDispatchCommands } from './dispatch-commands.ts'
import { FAILING_FOR_MS } from './retry.ts'

interface SweepOptions {
  db: Db
  run: Run<Pick<typeof webhookDispatchCommands, 'dropWebhookDeliveries'>>
  clock: Clock
  /** Since when this process brings events to endpoints, monotonic ms. */
  servingSince: number
}

const DELIVERIES_PER_STEP_MAX = 500

/** For a sweeper. What has waited because nobody was there to bring it waits on. */
export async function* sweepWebhookDeliveries(options: SweepOptions): AsyncGenerator<void> {
  const { db, run, clock, servingSince } = options
  const before = firstIdAt(clock.now() - FAILING_FOR_MS)
  const sparesEnabled = clock.monotonic() - servingSince < FAILING_FOR_MS
  for (let webhookId = await nextWebhook(db, new Uint8Array()); webhookId; ) {
    let count: number
    do {
      count = await run('dropWebhookDeliveries', {
        ...{ webhookId, before, sparesEnabled, limit: DELIVERIES_PER_STEP_MAX },
      })
      yield
    } while (count === DELIVERIES_PER_STEP_MAX)
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
