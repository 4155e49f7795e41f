/**
 * Fails the waiting, held and scheduled mail of deleted domains, in small steps between which other commands
 * run. A domain stays on the list until all of its mail has failed, so that a crash does not lose any.
 */

import type { Clock } from '../../lib/clock.ts'
import { type Id, sameId } from '../../lib/ids.ts'
import { deletedReason } from '../../resources/domains/deleted.ts'
import { storedCause } from '../../resources/emails/explanation/cause.ts'
import { type DeliveryChange, recordDeliveries } from '../../resources/events/record.ts'
import { command, type Run, type Tx } from '../../store/model/command.ts'
import { type Db, DELIVERY_STATE, type DeletedDomainRow, type DeliveryRow } from '../../store/model/schema.ts'
import { stepDueQueueKeys } from './queue-key-rows.ts'
import { type Mark, type QueuePosition, waitingAt } from './waiting-mail.ts'

interface StepOf<P> {
  domain: DeletedDomainRow
  place: P
  limit: number
  now: number
}

/** Position of the last scheduled email that was read. */
interface ScheduledMark {
  scheduledAt: number
  accountId: Id
  id: Id
}

type Failing = Pick<DeliveryRow, 'emailId' | 'ordinal' | 'accountId' | 'address'>

const weigh = ({ limit }: { limit: number }) => limit

export const deletedDomainCommands = {
  /** @returns the position to continue from; null at the end of the place */
  failWaitingOf: command<StepOf<QueuePosition> & { after: Mark | null }, Mark | null>(
    async (tx, { domain, place, after, limit, now }) => {
      const seen = await waitingAt(tx, place, after, limit)
      const emails = await tx.rows.find(
        'emails',
        seen.map(({ accountId, emailId: id }) => ({ accountId, id })),
        ['domainId'],
      )
      const deleted = seen.filter((_, i) => isOf(domain, emails[i]?.domainId ?? null))
      await fail(tx, domain, deleted, now)
      const last = seen.at(-1)
      return last && seen.length === limit ? last : null
    },
    { weigh },
  ),

  /** @returns the position among scheduled emails to continue from; null at the end */
  failScheduledOf: command<StepOf<ScheduledMark | null>, ScheduledMark | null>(
    async (tx, { domain, place: after, limit, now }) => {
      const seen = await scheduledAfter(tx, after, limit)
      const deleted = seen.filter(
        ({ accountId, domainId }) => sameId(accountId, domain.accountId) && isOf(domain, domainId),
      )
      for (const { id } of deleted) await fail(tx, domain, await scheduledDeliveries(tx, id), now)
      const last = seen.at(-1)
      return last && seen.length === limit ? last : null
    },
    { weigh },
  ),

  forgetDeletedDomain: command<Id, void>(async ({ db }, id) => {
    await db.deleteFrom('deletedDomains').where('id', '=', id).execute()
  }),
}

interface SweepOptions {
  db: Db
  run: Run<typeof deletedDomainCommands>
  clock: Clock
}

const DELIVERIES_PER_STEP_MAX = 200

/** Yields after each step. */
export async function* sweepDeletedDomains({ db, run, clock }: SweepOptions): AsyncGenerator<void> {
  for (const domain of await db.selectFrom('deletedDomains').selectAll().orderBy('id').execute()) {
    for await (const place of placesOf(db, domain)) {
      let after: Mark | null = null
      do {
        after = await run('failWaitingOf', {
          domain,
          place,
          after,
          limit: DELIVERIES_PER_STEP_MAX,
          now: clock.now(),
        })
        yield
      } while (after)
    }
    let after: ScheduledMark | null = null
    do {
      after = await run('failScheduledOf', {
        domain,
        place: after,
        limit: DELIVERIES_PER_STEP_MAX,
        now: clock.now(),
      })
      yield
    } while (after)
    await run('forgetDeletedDomain', domain.id)
  }
}

async function* placesOf(db: Db, { accountId }: DeletedDomainRow): AsyncGenerator<QueuePosition> {
  for await (const queueKey of stepDueQueueKeys(db, null))
    if (sameId(queueKey.accountId, accountId)) yield { kind: 'queueKey', queueKey }
  yield { kind: 'held' }
}

function isOf({ id }: DeletedDomainRow, domainId: Id | null): boolean {
  return domainId !== null && sameId(domainId, id)
}

function scheduledAfter({ db }: Tx, after: ScheduledMark | null, limit: number) {
  let emails = db
    .selectFrom('emails')
    .select(['accountId', 'id', 'domainId', eb => eb.ref('scheduledAt').$notNull().as('scheduledAt')])
    .where('status', '=', 'scheduled')
    .where('scheduledAt', 'is not', null)
  if (after)
    emails = emails.where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('scheduledAt', 'accountId', 'id'),
        '>',
        tuple(after.scheduledAt, after.accountId, after.id),
      ),
    )
  return emails.orderBy('scheduledAt').orderBy('accountId').orderBy('id').limit(limit).execute()
}

function scheduledDeliveries({ db }: Tx, emailId: Id): Promise<Failing[]> {
  return db
    .selectFrom('deliveries')
    .select(['emailId', 'ordinal', 'accountId', 'address'])
    .where('emailId', '=', emailId)
    .where('state', '=', DELIVERY_STATE.scheduled)
    .execute()
}

function fail(tx: Tx, { name }: DeletedDomainRow, deliveries: readonly Failing[], at: number) {
  const reason = deletedReason(name)
  return recordDeliveries(
    tx,
    deliveries.map(
      ({ accountId, emailId, ordinal, address: recipient }): DeliveryChange => ({
        accountId,
        emailId,
        ordinal,
        recipient,
        at,
        event: { type: 'email.failed', data: { failed: { reason } } },
        error: reason,
        handedOverAt: null,
        set: {
          status: 'failed',
          state: DELIVERY_STATE.done,
          cause: storedCause({ code: 'not_sendable', by: reason }),
        },
      }),
    ),
  )
}
