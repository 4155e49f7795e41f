/**
 * The operator's hands on the queue: mail is held and released, tried now, or canceled, by domain, account,
 * broadcast or email. What concerns much mail is done in small steps, between which others write.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/ids.ts'
import type { Run } from '../../store/command.ts'
import type { MailSelector } from '../../store/schema/steering.ts'
import { type Db, DELIVERY_CLASS } from '../../store/schema.ts'
import type { AdminAction, adminCommands } from './admin-commands.ts'
import type { holdCommands, NewHold } from './hold.ts'
import { coversQueueKey } from './hold-rows.ts'
import { type DueQueueKey, stepDueQueueKeys } from './queue-key-rows.ts'
import type { QueuePosition, StepInput } from './waiting-mail.ts'

export type QueueAdminCommands = typeof holdCommands & typeof adminCommands

export interface QueueAdmin {
  /** What the selector names and nothing is; undefined when all of it may be. */
  unknownIn(selector: MailSelector): Promise<'account' | 'broadcast' | 'email' | undefined>
  /** In force when it resolves, for mail that comes later, too. */
  hold(selector: MailSelector, reason: string | null): Promise<{ hold: NewHold; isNew: boolean }>
  /** Undefined where nothing holds just this mail. */
  release(selector: MailSelector): Promise<NewHold | undefined>
  /** Deferred mail is due now. */
  retry(selector: MailSelector): Promise<Progress>
  /** What waits or is held is given up. */
  cancel(selector: MailSelector): Promise<Progress>
  /**
   * Mail kept apart by holds that are no more waits again: to be called at the start, a release may have been
   * cut off.
   */
  recover(): Promise<void>
  /** What a hold of this kind that has just ended kept in the queue goes on. */
  resume(selector: MailSelector): Promise<void>
}

export interface Progress {
  deliveries: number
  /** There may be more: its time is over, and it has to be asked again. */
  hasMore: boolean
}

interface QueueAdminOptions {
  db: Db
  run: Run<QueueAdminCommands>
  clock: Clock
  newId: IdSource
}

/** Deliveries at a time, so that no commit is held up. */
const DELIVERIES_PER_STEP_MAX = 200
/** Queue keys announced at a time. */
const QUEUE_KEYS_PER_STEP_MAX = 500
/** Nobody waits longer for an answer. */
const RESPONSE_MS_MAX = 5_000

export function createQueueAdmin({ db, run, clock, newId }: QueueAdminOptions): QueueAdmin {
  const recover = async () => {
    let after = await run('resumeHeld', { after: null, limit: DELIVERIES_PER_STEP_MAX })
    while (after) after = await run('resumeHeld', { after, limit: DELIVERIES_PER_STEP_MAX })
  }

  const walk = async (
    name: 'retryWaiting' | 'cancelWaiting',
    selector: MailSelector,
    places: AsyncIterable<QueuePosition>,
  ): Promise<Progress> => {
    const endsAt = clock.monotonic() + RESPONSE_MS_MAX
    const now = clock.now()
    let deliveries = 0
    for await (const place of places)
      for (let after: StepInput['after'] = null, isFirst = true; isFirst || after; isFirst = false) {
        if (deliveries > 0 && clock.monotonic() >= endsAt) return { deliveries, hasMore: true }
        const step: AdminAction = await run(name, {
          place,
          selector,
          after,
          limit: DELIVERIES_PER_STEP_MAX,
          now,
        })
        deliveries += step.count
        after = step.after
      }
    return { deliveries, hasMore: false }
  }

  const resume = async (selector: MailSelector) => {
    for await (const queueKeys of queueKeysOf(db, selector)) await run('announceQueueKeys', queueKeys)
    await recover()
  }

  return {
    recover,
    resume,
    unknownIn: selector => unknownIn(db, selector),
    hold(selector, reason) {
      const createdAt = clock.now()
      return run('putHold', { ...selector, id: newId(createdAt), reason, createdAt, releasedAt: null })
    },
    async release(selector) {
      const hold = await run('releaseHold', { selector, now: clock.now() })
      if (!hold) return undefined
      await resume(selector)
      return hold
    },
    retry: selector =>
      walk(
        'retryWaiting',
        selector,
        placesOf(db, selector, queueKey => queueKey.class === DELIVERY_CLASS.retry),
      ),
    cancel: selector =>
      walk(
        'cancelWaiting',
        selector,
        placesOf(db, selector, () => true),
      ),
  }
}

async function* placesOf(
  db: Db,
  selector: MailSelector,
  isWanted: (queueKey: DueQueueKey) => boolean,
): AsyncGenerator<QueuePosition> {
  const { emailId } = selector
  if (emailId) return yield { kind: 'email', emailId }
  for await (const queueKeys of queueKeysOf(db, selector))
    for (const queueKey of queueKeys) if (isWanted(queueKey)) yield { kind: 'queueKey', queueKey }
  yield { kind: 'held' }
}

/** Queue keys with mail that may be meant, some at a time; others get their turn in between. */
async function* queueKeysOf(db: Db, selector: MailSelector): AsyncGenerator<DueQueueKey[]> {
  let some: DueQueueKey[] = []
  let steps = 0
  for await (const queueKey of stepDueQueueKeys(db, selector.domain)) {
    if (coversQueueKey(selector, queueKey)) some.push(queueKey)
    if (++steps % QUEUE_KEYS_PER_STEP_MAX !== 0) continue
    await turn()
    yield some
    some = []
  }
  yield some
}

async function unknownIn(db: Db, { accountId, broadcastId, emailId }: MailSelector) {
  const account = accountId && db.selectFrom('accounts').select('id').where('id', '=', accountId)
  if (account && !(await account.executeTakeFirst())) return 'account'
  const broadcast = broadcastId && db.selectFrom('broadcasts').select('id').where('id', '=', broadcastId)
  if (broadcast && !(await broadcast.executeTakeFirst())) return 'broadcast'
  const email = emailId && db.selectFrom('deliveries').select('ordinal').where('emailId', '=', emailId)
  return email && !(await email.limit(1).executeTakeFirst()) ? 'email' : undefined
}
