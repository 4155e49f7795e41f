/**
 * Holds, releases, retries and cancels queued mail, selected by domain, account, broadcast or email. Large
 * amounts of mail are handled in small steps, between which other commands run.
 *
 * In: selectors. Out: commands to the writer. Called by the HTTP API, the command line and `broadcasts`.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import type { IdSource } from '../../lib/ids.ts'
import type { DomainBan } from '../../resources/domains/banned.ts'
import type { Run } from '../../store/model/command.ts'
import type { MailSelector } from '../../store/model/schema/steering.ts'
import { type Db, DELIVERY_CLASS } from '../../store/model/schema.ts'
import type { AdminAction, adminCommands } from './admin-commands.ts'
import type { domainBanCommands } from './domain-bans.ts'
import type { holdCommands, NewHold } from './hold.ts'
import { ANY_MAIL, coversQueueKey } from './hold-rows.ts'
import { type DueQueueKey, stepDueQueueKeys } from './queue-key-rows.ts'
import type { ServiceMode, serviceModeCommands } from './service-mode.ts'
import type { QueuePosition, StepInput } from './waiting-mail.ts'

export type QueueAdminCommands = typeof holdCommands &
  typeof adminCommands &
  typeof serviceModeCommands &
  typeof domainBanCommands

export interface QueueAdmin {
  /** The first part of the selector that does not exist; undefined when all parts do. */
  unknownIn(selector: MailSelector): Promise<'account' | 'broadcast' | 'email' | undefined>
  /** Creates a hold. It also covers mail that is queued later. */
  hold(selector: MailSelector, reason: string | null): Promise<{ hold: NewHold; isNew: boolean }>
  /** Releases the hold with exactly this selector; undefined when there is none. */
  release(selector: MailSelector): Promise<NewHold | undefined>
  /** Makes deferred mail due now. */
  retry(selector: MailSelector, choice?: RecipientChoice): Promise<Progress>
  /** Cancels mail that waits or is held. */
  cancel(selector: MailSelector, choice?: RecipientChoice): Promise<Progress>
  /**
   * Returns held mail without a hold to the queue. Call this at the start, because a release may have been
   * interrupted.
   */
  recover(): Promise<void>
  /** Switches the mode of the service. Mail that was held while the service was read-only is queued again. */
  switchMode(mode: ServiceMode['mode'], reason: string | null): Promise<void>
  /** Bans a domain: its queued mail is held, and new email from it is refused. Returns a ban that exists. */
  ban(domain: string, reason: string | null): Promise<{ ban: DomainBan; isNew: boolean }>
  /** Lifts a ban, and returns the held mail to the queue. False when the domain is not banned. */
  unban(domain: string): Promise<boolean>
  /** Returns mail to the queue after a hold with this selector has ended. */
  resume(selector: MailSelector): Promise<void>
}

/** Narrows a selector to one recipient, and says who decides. */
type RecipientChoice = Pick<StepInput, 'address' | 'by'>

export interface Progress {
  deliveries: number
  /** The time limit was reached and more mail may be left; the caller repeats the call. */
  hasMore: boolean
}

interface QueueAdminOptions {
  db: Db
  run: Run<QueueAdminCommands>
  clock: Clock
  newId: IdSource
}

/** A command handles no more deliveries than this, so that it does not delay other commits. */
const DELIVERIES_PER_STEP_MAX = 200
/** Queue keys that are announced by one command. */
const QUEUE_KEYS_PER_STEP_MAX = 500
/** A call returns after this time, even if more mail is left. */
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
    choice: RecipientChoice = {},
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
          ...choice,
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
      const times = { createdAt, releasedAt: null }
      return run('putHold', { ...selector, ...times, id: newId(createdAt), reason, origin: 'operator' })
    },
    async release(selector) {
      const hold = await run('releaseHold', { selector, now: clock.now() })
      if (!hold) return undefined
      await resume(selector)
      return hold
    },
    async switchMode(mode, reason) {
      const former = await run('setServiceMode', { mode, reason, since: clock.now() })
      if (former.mode === 'read-only' && mode !== 'read-only') await resume(ANY_MAIL)
    },
    ban: (domain, reason) => run('banDomain', { domain, reason, createdAt: clock.now() }),
    async unban(domain) {
      const isLifted = await run('liftDomainBan', { domain, now: clock.now() })
      if (isLifted) await resume({ ...ANY_MAIL, senderDomain: domain })
      return isLifted
    },
    retry: (selector, choice) => walk('retryWaiting', selector, placesOf(db, selector, 'deferred'), choice),
    cancel: (selector, choice) => walk('cancelWaiting', selector, placesOf(db, selector, 'all'), choice),
  }
}

async function* placesOf(
  db: Db,
  selector: MailSelector,
  mail: 'deferred' | 'all',
): AsyncGenerator<QueuePosition> {
  const { emailId } = selector
  if (emailId) return yield { kind: 'email', emailId }
  for await (const queueKeys of queueKeysOf(db, selector))
    for (const queueKey of queueKeys)
      if (mail === 'all' || queueKey.class === DELIVERY_CLASS.retry) yield { kind: 'queueKey', queueKey }
  if (mail === 'all') yield { kind: 'held' }
}

/** Queue keys that may contain selected mail, in batches. The event loop runs between two batches. */
async function* queueKeysOf(db: Db, selector: MailSelector): AsyncGenerator<DueQueueKey[]> {
  let batch: DueQueueKey[] = []
  let steps = 0
  for await (const queueKey of stepDueQueueKeys(db, selector.domain)) {
    if (coversQueueKey(selector, queueKey)) batch.push(queueKey)
    if (++steps % QUEUE_KEYS_PER_STEP_MAX !== 0) continue
    await yieldToEventLoop()
    yield batch
    batch = []
  }
  yield batch
}

async function unknownIn(db: Db, { accountId, broadcastId, emailId }: MailSelector) {
  const account = accountId && db.selectFrom('accounts').select('id').where('id', '=', accountId)
  if (account && !(await account.executeTakeFirst())) return 'account'
  const broadcast = broadcastId && db.selectFrom('broadcasts').select('id').where('id', '=', broadcastId)
  if (broadcast && !(await broadcast.executeTakeFirst())) return 'broadcast'
  const email = emailId && db.selectFrom('deliveries').select('ordinal').where('emailId', '=', emailId)
  return email && !(await email.limit(1).executeTakeFirst()) ? 'email' : undefined
}
