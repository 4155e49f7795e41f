/**
 * Sends emails about alerts through a smart host when this service does not deliver them: they could not be
 * queued, have failed, or wait for too long, such as behind a closed port 25 or while the service is
 * read-only. Called by the machine watch.
 */
import { hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { Cause } from '../../resources/emails/explanation/cause.ts'
import { type Db, DELIVERY_STATE, type DeliveryStatus } from '../../store/model/schema.ts'
import { ANY_MAIL } from '../queue/hold-rows.ts'
import type { QueueAdmin } from '../queue/queue-admin.ts'
import type { MailedOperator, OperatorMail } from './operator-mail.ts'
import type { AlertRelay, RelayedMail } from './relay.ts'

export interface AlertFallback {
  /** Takes over what became of a mail to an operator. A mail with the same name is watched once. */
  watch(mail: OperatorMail, operator: Pick<MailedOperator, 'to' | 'emailId'>): void
  /** Sends what this service does not deliver. */
  check(): Promise<void>
}

interface FallbackOptions {
  relay: AlertRelay
  /** Domain of the Message-ID. */
  mailHost: string
  /** Time that the queue has for a delivery. */
  afterMs: number
  db: Db
  queueAdmin: Pick<QueueAdmin, 'cancel'>
  clock: Clock
  log: Log
}

interface Watched extends RelayedMail {
  /** Null when the service could not queue the mail. */
  emailId: Id | null
  watchedAt: number
  nextAt: number
}

const UNDELIVERED: ReadonlySet<DeliveryStatus> = new Set(['bounced', 'failed', 'suppressed'])
const RETRY_MS = 5 * 60_000
/** A condition that lasts is mailed again by then. */
const WATCHED_MS_MAX = 24 * 3_600_000

export function createAlertFallback(options: FallbackOptions): AlertFallback {
  const { mailHost, clock } = options
  /** By Message-ID. */
  const mails = new Map<string, Watched>()
  return {
    watch({ subject, text, name }, { to, emailId }) {
      if (!to) return
      const messageId = `<${hash('sha256', `${name} ${to.address}`, 'hex').slice(0, 32)}@${mailHost}>`
      const now = clock.now()
      if (!mails.has(messageId))
        mails.set(messageId, { to, subject, text, messageId, emailId, watchedAt: now, nextAt: now })
    },
    async check() {
      for (const [messageId, mail] of mails) {
        const now = clock.now()
        if (mail.nextAt > now) continue
        const isOld = now - mail.watchedAt >= WATCHED_MS_MAX
        const result = isOld ? 'over' : await settle(options, mail)
        if (result === 'over') mails.delete(messageId)
        else if (result === 'refused') mail.nextAt = now + RETRY_MS
      }
    },
  }
}

/** @returns `over` when nothing is left to do for the mail, `refused` when the smart host did not take it */
async function settle(options: FallbackOptions, mail: Watched): Promise<'over' | 'waiting' | 'refused'> {
  const { relay, clock, afterMs, log } = options
  const { emailId, to } = mail
  const progress = emailId ? await progressOf(options, emailId, mail) : FAILED
  if (progress === 'over') return 'over'
  if (clock.now() - progress.since < afterMs) return 'waiting'
  const { isTaken, answer } = await relay.send(mail)
  if (!isTaken) {
    log.warn(
      { event: 'operator_mail_relay_failed', to: to.address, answer },
      'An alert could not be mailed through `alerts.smart_host`; retrying in 5 min',
    )
    return 'refused'
  }
  log.warn(
    { event: 'operator_mail_relayed', to: to.address, answer },
    'An alert was mailed through `alerts.smart_host`, since this service did not deliver it',
  )
  if (emailId && progress !== FAILED) await cancel(options, emailId)
  return 'over'
}

/** Time since which the queue may deliver a mail, in ms since the epoch. */
interface Waiting {
  since: number
}

const FAILED: Waiting = { since: 0 }

/** `over`: it was delivered, or canceled by somebody. A database that cannot be read delivers nothing. */
async function progressOf(
  { db, log }: FallbackOptions,
  emailId: Id,
  { watchedAt }: Watched,
): Promise<Waiting | 'over'> {
  try {
    const delivery = await db
      .selectFrom('deliveries')
      .innerJoin('emails', join =>
        join
          .onRef('emails.accountId', '=', 'deliveries.accountId')
          .onRef('emails.id', '=', 'deliveries.emailId'),
      )
      .select(['deliveries.state', 'deliveries.status', 'deliveries.cause', 'emails.createdAt as since'])
      .where('deliveries.emailId', '=', emailId)
      .executeTakeFirst()
    if (!delivery) return 'over'
    const { state, status, cause, since } = delivery
    if (state !== DELIVERY_STATE.done) return { since }
    // a delivery that was tried before it was canceled has the status `failed`
    const isCanceled = cause !== null && (JSON.parse(cause) as Cause).code === 'given_up'
    return UNDELIVERED.has(status) && !isCanceled ? FAILED : 'over'
  } catch (err) {
    log.warn(
      { event: 'operator_mail_unknown', err },
      'Whether an alert was delivered by email cannot be looked up; it counts as waiting',
    )
    return { since: watchedAt }
  }
}

/** The operator has the mail, so it need not come again when the queue moves. */
async function cancel({ queueAdmin, log }: FallbackOptions, emailId: Id): Promise<void> {
  try {
    await queueAdmin.cancel({ ...ANY_MAIL, emailId })
  } catch (err) {
    log.warn(
      { event: 'operator_mail_not_canceled', err },
      'An alert that was mailed through `alerts.smart_host` could not be taken from the queue, and may come twice',
    )
  }
}
