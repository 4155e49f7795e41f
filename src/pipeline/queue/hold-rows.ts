/**
 * Holds, of the operator and of paused broadcasts: what they keep in the queue, and how long they have kept
 * it.
 */
import { CompiledQuery } from 'kysely'
import { type Id, sameId } from '../../lib/ids.ts'
import type { QueueKey } from '../../store/command.ts'
import type { MailSelector, QueueHoldRow } from '../../store/schema/steering.ts'
import type { Db, EmailRow } from '../../store/schema.ts'

/** What is asked about a delivery. */
export interface HeldMail {
  domain: string
  accountId: Id
  emailId: Id
  /** Undefined where its email is gone. */
  email: Pick<EmailRow, 'broadcastId' | 'createdAt' | 'scheduledAt'> | undefined
}

/** The holds there are, those that have been released not long ago included. */
export interface Holds {
  /** There is none, and has been none lately. */
  isEmpty: boolean
  /** All mail of the queue key is held. */
  holdsQueueKey(queueKey: QueueKey): boolean
  holdsMail(mail: HeldMail): boolean
  /** For how long the mail has been held since it entered the queue, up to `now`, ms. */
  heldMs(mail: HeldMail, now: number): number
}

/** Read with every claim: nothing is put together anew. */
const ALL_HOLDS = CompiledQuery.raw(
  'select id, domain, account_id, broadcast_id, email_id, reason, is_pause, created_at, released_at from queue_holds',
) as CompiledQuery<QueueHoldRow>

export async function listHolds(db: Db): Promise<QueueHoldRow[]> {
  return (await db.executeQuery(ALL_HOLDS)).rows
}

/** The operator's in force, the oldest first. */
export function listActiveHolds(db: Db): Promise<QueueHoldRow[]> {
  return db
    .selectFrom('queueHolds')
    .selectAll()
    .where('releasedAt', 'is', null)
    .where('isPause', '=', 0)
    .orderBy('id')
    .execute()
}

export function holdsOf(rows: readonly QueueHoldRow[]): Holds {
  const active = rows.filter(({ releasedAt }) => releasedAt === null)
  const wholeQueueKeys = active.filter(({ broadcastId, emailId }) => broadcastId === null && emailId === null)
  return {
    isEmpty: rows.length === 0,
    holdsQueueKey: queueKey => wholeQueueKeys.some(hold => coversQueueKey(hold, queueKey)),
    holdsMail: mail => active.some(hold => isAbout(hold, mail)),
    heldMs(mail, now) {
      const since = mail.email?.scheduledAt ?? mail.email?.createdAt ?? now
      return unionMs(
        rows
          .filter(hold => isAbout(hold, mail))
          .map(({ createdAt, releasedAt }) => [Math.max(createdAt, since), releasedAt ?? now]),
      )
    },
  }
}

/** Whether mail of the queue key may be meant: `broadcastId` and `emailId` are left aside. */
export function coversQueueKey(
  { domain, accountId }: MailSelector,
  queueKey: Pick<QueueKey, 'domain' | 'accountId'>,
): boolean {
  return (domain === null || domain === queueKey.domain) && isNullOr(accountId, queueKey.accountId)
}

/** As far as it can be told without the email. */
export function mayBeAbout(
  selector: MailSelector,
  mail: Pick<HeldMail, 'domain' | 'accountId' | 'emailId'>,
): boolean {
  return coversQueueKey(selector, mail) && isNullOr(selector.emailId, mail.emailId)
}

export function isAbout(selector: MailSelector, mail: HeldMail): boolean {
  return (
    mayBeAbout(selector, mail) &&
    (selector.broadcastId === null || isNullOr(selector.broadcastId, mail.email?.broadcastId ?? null))
  )
}

export function isSameSelector(a: MailSelector, b: MailSelector): boolean {
  return a.domain === b.domain && SELECTING_IDS.every(name => isSameOrNull(a[name], b[name]))
}

const SELECTING_IDS = ['accountId', 'broadcastId', 'emailId'] as const

function isSameOrNull(a: Id | null, b: Id | null): boolean {
  return a === null || b === null ? a === b : sameId(a, b)
}

function isNullOr(wanted: Id | null, id: Id | null): boolean {
  return wanted === null || (id !== null && sameId(wanted, id))
}

/** Of times that may overlap. */
function unionMs(times: readonly (readonly [from: number, to: number])[]): number {
  let sum = 0
  let coveredTo = Number.NEGATIVE_INFINITY
  for (const [from, to] of times.toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, coveredTo))
    coveredTo = Math.max(coveredTo, to)
  }
  return sum
}
