/**
 * Moves scheduled emails into the queue at their scheduled time: the command, and the timer that runs it on
 * the main thread.
 */

import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import { type Id, idKey, sameId } from '../../lib/ids.ts'
import { type ConsentBook, openConsentBook } from '../../resources/contacts/consent.ts'
import { acceptsMail, SENDING_COLUMNS, sendingDisabled } from '../../resources/domains/status.ts'
import { senderDomain } from '../../resources/emails/email-rows.ts'
import { type Cause, storedCause } from '../../resources/emails/explanation/cause.ts'
import { suppressedEvent, unsubscribed } from '../../resources/events/email-events.ts'
import { type DeliveryChange, moveEmails, recordDeliveries } from '../../resources/events/record.ts'
import { command, type Run, type Tx } from '../../store/model/command.ts'
import { DELIVERY_STATE, type DeliveryStatus, type EmailRow } from '../../store/model/schema.ts'
import { isReadOnly } from './service-mode.ts'

type DueEmail = Pick<EmailRow, 'accountId' | 'id' | 'sender' | 'domainId' | 'broadcastId' | 'topicId'>

export const releaseCommands = {
  /**
   * Queues scheduled emails that are due, the earliest first, at most `limit`. An email fails if its domain
   * may not send any more or its topic was deleted; recipients who have opted out of the topic are
   * suppressed. A queued email can no longer be canceled.
   * @returns the time at which the next email is due, in ms since the epoch; null when none is scheduled, or
   * while the service is read-only
   */
  releaseScheduled: command<{ now: number; limit: number }, number | null>(async (tx, { now, limit }) => {
    if (await isReadOnly(tx.db)) return null
    const due = await tx.db
      .selectFrom('emails')
      .select(['accountId', 'id', 'sender', 'domainId', 'broadcastId', 'topicId'])
      .where('status', '=', 'scheduled')
      .where('scheduledAt', '<=', now)
      .orderBy('scheduledAt')
      .limit(limit)
      .execute()
    const domains = await sendingDomains(tx, due)
    const topicEmails = await topicEmailsOf(tx, due)
    const consent = await openConsentBook(tx, topicEmails)
    const faults = due.map((email, i) => faultOf(email, domains[i], consent))
    const sendable = due.filter((_, i) => faults[i] === undefined)
    await moveEmails(
      tx,
      due.map(email => ({ email: { ...email, status: 'scheduled' }, set: { status: 'queued' } })),
    )
    await moveToCurrentDomain(tx, due, domains)
    const isSendable = new Set(sendable.map(({ id }) => idKey(id)))
    await suppressOptedOut(
      tx,
      topicEmails.filter(({ emailId }) => isSendable.has(idKey(emailId))),
      consent,
      now,
    )
    for (const queueKey of await tx.queue.release(
      sendable.map(({ id }) => id),
      now,
    ))
      tx.announce('due', { ...queueKey, at: now })
    for (const [i, email] of due.entries()) if (faults[i]) await fail(tx, email, faults[i], now)
    const { nextAt } = await tx.db
      .selectFrom('emails')
      .select(eb => eb.fn.min('scheduledAt').as('nextAt'))
      .where('status', '=', 'scheduled')
      .executeTakeFirstOrThrow()
    return nextAt
  }),
}

/** The domain of an email, null for an email without one, or the reason why the domain may not send. */
type SendingDomain = Id | null | string

async function sendingDomains(tx: Tx, emails: readonly DueEmail[]): Promise<SendingDomain[]> {
  const keys = emails.map(({ accountId, sender }) => ({ accountId, name: senderDomain(sender) }))
  const rows = await tx.rows.find('domains', keys, ['id', ...SENDING_COLUMNS])
  return emails.map(({ domainId }, i) => {
    if (domainId === null) return null
    const [row, { name }] = [rows[i], keys[i]!]
    if (row && acceptsMail(row)) return row.id
    return (row && sendingDisabled(name, row)) ?? `The ${name} domain is no longer verified.`
  })
}

/**
 * Updates emails whose domain was deleted and registered again, because the new domain has other DKIM keys.
 */
async function moveToCurrentDomain(tx: Tx, emails: readonly DueEmail[], domains: readonly SendingDomain[]) {
  const moved = emails.flatMap(({ accountId, id, domainId: former }, i) => {
    const domainId = domains[i]
    return domainId && typeof domainId !== 'string' && former && !sameId(domainId, former)
      ? [{ accountId, id, domainId }]
      : []
  })
  await tx.rows.update('emails', ['accountId', 'id'], moved)
}

function faultOf(
  { accountId, topicId }: DueEmail,
  domain: SendingDomain | undefined,
  consent: ConsentBook,
): string | undefined {
  if (typeof domain === 'string') return domain
  // without the topic, it is not known who has opted out of it
  return topicId && !consent.knows({ accountId, topicId }) ? 'Its topic has been deleted.' : undefined
}

interface TopicEmail {
  accountId: Id
  emailId: Id
  topicId: Id
  recipients: { ordinal: number; address: string }[]
  addresses: string[]
}

/** Returns the emails that belong to a topic, with their recipients. */
async function topicEmailsOf(tx: Tx, emails: readonly DueEmail[]): Promise<TopicEmail[]> {
  const withTopic = emails.flatMap(({ accountId, id: emailId, topicId }) =>
    topicId ? [{ accountId, emailId, topicId }] : [],
  )
  const deliveries = await scheduledOf(
    tx,
    withTopic.map(({ emailId }) => emailId),
  )
  const byEmail = Map.groupBy(deliveries, ({ emailId }) => idKey(emailId))
  return withTopic.map(email => {
    const recipients = byEmail.get(idKey(email.emailId)) ?? []
    return { ...email, recipients, addresses: recipients.map(({ address }) => address) }
  })
}

async function scheduledOf({ db }: Tx, emailIds: readonly Id[]) {
  if (emailIds.length === 0) return []
  return db
    .selectFrom('deliveries')
    .select(['emailId', 'ordinal', 'address'])
    .where('emailId', 'in', emailIds)
    .where('state', '=', DELIVERY_STATE.scheduled)
    .execute()
}

/** Suppresses the deliveries to recipients who have opted out of the topic. */
async function suppressOptedOut(tx: Tx, emails: readonly TopicEmail[], consent: ConsentBook, at: number) {
  const changes = emails.flatMap(({ recipients, ...email }) =>
    recipients.flatMap(({ ordinal, address }) => {
      const message = consent.objectionOf(email, address)
      if (message === null) return []
      const event = suppressedEvent(message)
      const { cause } = unsubscribed(message)
      return [endOf(email, { ordinal, address }, { status: 'suppressed', event, error: message, at, cause })]
    }),
  )
  await recordDeliveries(tx, changes)
}

async function fail(tx: Tx, { accountId, id: emailId }: DueEmail, reason: string, at: number) {
  const event = { type: 'email.failed' as const, data: { failed: { reason } } }
  const deliveries = await scheduledOf(tx, [emailId])
  await recordDeliveries(
    tx,
    deliveries.map(delivery =>
      endOf({ accountId, emailId }, delivery, {
        status: 'failed',
        event,
        error: reason,
        at,
        cause: { code: 'not_sendable', by: reason },
      }),
    ),
  )
}

/** Returns the end of a delivery that was never queued. */
function endOf(
  { accountId, emailId }: { accountId: Id; emailId: Id },
  { ordinal, address: recipient }: { ordinal: number; address: string },
  {
    status,
    cause,
    ...rest
  }: Pick<DeliveryChange, 'event' | 'error' | 'at'> & {
    status: DeliveryStatus
    cause: Cause
  },
): DeliveryChange {
  const set = { status, state: DELIVERY_STATE.done, cause: storedCause(cause) }
  return { accountId, emailId, ordinal, recipient, handedOverAt: null, set, ...rest }
}

interface ReleaserOptions {
  run: Run<typeof releaseCommands>
  clock: Clock
  onError(error: unknown): void
}

/** Emails that one command queues, so that it does not delay other commits. */
const EMAILS_PER_STEP_MAX = 500
const SLEEP_MS_MAX = 500
const RETRY_MS = 1_000

/** Starts the timer. `note` must be called with the time of each newly scheduled email. */
export function createReleaser({ run, clock, onError }: ReleaserOptions): DueTimer {
  return startDueTimer({
    task: 'release scheduled emails',
    clock,
    work: now => run('releaseScheduled', { now, limit: EMAILS_PER_STEP_MAX }),
    longestSleepMs: SLEEP_MS_MAX,
    afterFailureMs: RETRY_MS,
    onError,
  })
}
