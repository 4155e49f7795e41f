/**
 * Decides which delivery status notifications a change of a delivery makes due (RFC 3461 §4.1, §5.2), and
 * stores them in the transaction of the change. `pipeline/delivery/dsn/` sends them.
 */
import { type Id, idTime } from '../../lib/ids.ts'
import { type DsnRequest, type NotifyWord, requestFor } from '../../protocols/smtp/dsn.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { DeliveryStatus, DsnAction, DsnNoticeRow, EmailRow } from '../../store/model/schema.ts'
import { readStoredDsn } from '../emails/dsn.ts'
import type { EventData, EventType } from './types.ts'

/** Topic of announcements: a notification is due. */
export const DSN_DUE = 'dsn'
/** A sender that asked for it is told of a delay once, this time after the email was accepted. */
const DELAY_MS = 4 * 3_600_000
const RETENTION_MS = 30 * 24 * 3_600_000

/** What the notification says about the delivery. */
export interface DsnFacts {
  /** Reply of the last host, or reason of this side. */
  text: string
  /** Host that replied; null if there is none. */
  host: string | null
  /** Enhanced status code; null if the text has to tell. */
  status: string | null
}

interface Change {
  ordinal: number
  recipient: string
  event: { type: EventType; data: EventData } | null
  set: { status: DeliveryStatus; lastReply?: string | null; lastMxHost?: string | null }
  at: number
}

type Email = Pick<EmailRow, 'accountId' | 'id' | 'dsn' | 'scheduledAt'>

/** Costs nothing for emails without a request. */
export async function noteForDsn(
  tx: Tx,
  changed: readonly { email: Email; changes: readonly Change[] }[],
): Promise<void> {
  for (const { email, changes } of changed) {
    const request = readStoredDsn(email.dsn)
    if (request === null || request === 'notice') continue
    const due = changes.flatMap(change => noticeOf(email, request, change) ?? [])
    if (due.length === 0) continue
    await tx.db
      .insertInto('dsnNotices')
      .values(due)
      .onConflict(conflict => conflict.columns(['emailId', 'ordinal', 'action']).doNothing())
      .execute()
    tx.announce(DSN_DUE, null)
  }
}

const WANTED_BY: Record<DsnAction, NotifyWord> = {
  delivered: 'SUCCESS',
  relayed: 'SUCCESS',
  failed: 'FAILURE',
  delayed: 'DELAY',
}

function noticeOf(email: Email, request: DsnRequest, change: Change): DsnNoticeRow | undefined {
  const found = actionOf(email, change)
  const notify = requestFor(request, change.recipient)?.notify
  if (!found || !notify?.includes(WANTED_BY[found.action])) return undefined
  const { ordinal, at } = change
  const { accountId, id: emailId } = email
  return {
    emailId,
    ordinal,
    action: found.action,
    accountId,
    facts: JSON.stringify(found.facts),
    at,
    sentAt: null,
  }
}

function actionOf(
  { id, scheduledAt }: Email,
  { event, set, at }: Change,
): { action: DsnAction; facts: DsnFacts } | undefined {
  const { delivery, bounce, failed, suppressed, delay } = (event?.data ?? {}) as Record<
    string,
    Record<string, string | null>
  >
  switch (event?.type) {
    case 'email.delivered': {
      const host = delivery?.mx_host ?? null
      return {
        action: host === null ? 'delivered' : 'relayed',
        facts: { text: delivery?.reply ?? '', host, status: null },
      }
    }
    case 'email.bounced':
      return {
        action: 'failed',
        facts: {
          text: bounce?.message ?? '',
          host: bounce?.mx_host ?? null,
          status: bounce?.enhanced_code ?? null,
        },
      }
    case 'email.failed':
      return { action: 'failed', facts: { text: failed?.reason ?? '', host: null, status: '5.4.7' } }
    case 'email.suppressed':
      return { action: 'failed', facts: { text: suppressed?.message ?? '', host: null, status: '5.7.1' } }
  }
  const isReported = event?.type === 'email.delivery_delayed' && set.status !== 'delivery_delayed'
  const isLate = set.status === 'delivery_delayed' && at - (scheduledAt ?? idTime(id)) >= DELAY_MS
  if (!isReported && !isLate) return undefined
  const text = set.lastReply ?? delay?.reply ?? ''
  return { action: 'delayed', facts: { text, host: set.lastMxHost ?? null, status: null } }
}

export const dsnCommands = {
  /** Marks a notification as queued, and deletes old ones. */
  dsnNoticeSent: command<{ emailId: Id; ordinal: number; action: DsnAction; at: number }, void>(
    async (tx, { emailId, ordinal, action, at: sentAt }) => {
      await tx.db
        .updateTable('dsnNotices')
        .set({ sentAt })
        .where('emailId', '=', emailId)
        .where('ordinal', '=', ordinal)
        .where('action', '=', action)
        .execute()
      await tx.db
        .deleteFrom('dsnNotices')
        .where('at', '<', sentAt - RETENTION_MS)
        .execute()
    },
  ),
}
