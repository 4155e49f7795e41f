/**
 * Reads holds, of the operator and of paused broadcasts, and determines which mail they cover and for how
 * long mail has been held.
 */
import { CompiledQuery } from 'kysely'
import { type Id, sameId } from '../../lib/ids.ts'
import { isWithinDomain } from '../../protocols/dns/name.ts'
import { senderDomain } from '../../resources/emails/email-rows.ts'
import type { QueueKey } from '../../store/model/command.ts'
import type { MailSelector, QueueHoldRow } from '../../store/model/schema/steering.ts'
import type { Db, EmailRow } from '../../store/model/schema.ts'

/** The columns of a delivery that holds select by. */
export interface HeldMail {
  domain: string
  accountId: Id
  emailId: Id
  /** Undefined when the email has been deleted. */
  email: Pick<EmailRow, 'broadcastId' | 'createdAt' | 'scheduledAt' | 'sender'> | undefined
}

/** Active holds, and those released within the last 30 days. */
export interface Holds {
  isEmpty: boolean
  /** Whether all mail of the queue key is held. */
  holdsQueueKey(queueKey: QueueKey): boolean
  holdsMail(mail: HeldMail): boolean
  /** Time in ms that the mail has been held since it entered the queue, up to `now`. */
  heldMs(mail: HeldMail, now: number): number
}

/** Selects all mail. */
export const ANY_MAIL: MailSelector = { domain: null, accountId: null, broadcastId: null, emailId: null }

/** Compiled once, because each claim runs it. */
const ALL_HOLDS = CompiledQuery.raw(
  'select id, domain, account_id, broadcast_id, email_id, entered_before, sender_domain, reason, origin, is_pause, created_at, released_at from queue_holds',
) as CompiledQuery<QueueHoldRow>

export async function listHolds(db: Db): Promise<QueueHoldRow[]> {
  return (await db.executeQuery(ALL_HOLDS)).rows
}

/** Finds the active hold on this mail that is not listed among the holds of the operator. */
export async function findPause(db: Db, selector: MailSelector): Promise<QueueHoldRow | undefined> {
  return (await listHolds(db)).find(
    hold => hold.releasedAt === null && hold.isPause === 1 && isSameSelector(hold, selector),
  )
}

/** A hold with the names of what it is about. */
export interface NamedHold extends QueueHoldRow {
  accountName: string | null
  broadcastName: string | null
}

/** Active holds of the operator, the oldest first. */
export function listActiveHolds(db: Db): Promise<NamedHold[]> {
  return db
    .selectFrom('queueHolds as hold')
    .leftJoin('accounts as account', 'account.id', 'hold.accountId')
    .leftJoin('broadcasts as broadcast', 'broadcast.id', 'hold.broadcastId')
    .selectAll('hold')
    .select(['account.name as accountName', 'broadcast.name as broadcastName'])
    .where('hold.releasedAt', 'is', null)
    .where('hold.isPause', '=', 0)
    .orderBy('hold.id')
    .execute()
}

export function holdsOf(rows: readonly QueueHoldRow[]): Holds {
  const active = rows.filter(({ releasedAt }) => releasedAt === null)
  const wholeQueueKeys = active.filter(
    ({ broadcastId, emailId, enteredBefore, senderDomain: sender }) =>
      broadcastId === null && emailId === null && (enteredBefore ?? sender ?? null) === null,
  )
  return {
    isEmpty: rows.length === 0,
    holdsQueueKey: queueKey => wholeQueueKeys.some(hold => coversQueueKey(hold, queueKey)),
    holdsMail: mail => active.some(hold => isAbout(hold, mail)),
    heldMs(mail, now) {
      const since = enteredAt(mail) ?? now
      return unionMs(
        rows
          .filter(hold => isAbout(hold, mail))
          .map(({ createdAt, releasedAt }) => [Math.max(createdAt, since), releasedAt ?? now]),
      )
    },
  }
}

/** @returns time at which the mail entered the queue; undefined when its email has been deleted */
function enteredAt({ email }: Pick<HeldMail, 'email'>): number | undefined {
  return email && (email.scheduledAt ?? email.createdAt)
}

/**
 * Whether the selector may match mail of the queue key; what takes the email's row, or
 * its id, is ignored.
 */
export function coversQueueKey(
  { domain, accountId }: MailSelector,
  queueKey: Pick<QueueKey, 'domain' | 'accountId'>,
): boolean {
  return (domain === null || domain === queueKey.domain) && isNullOr(accountId, queueKey.accountId)
}

/** Whether the selector may match the mail; what takes the email's row is ignored. */
export function mayBeAbout(
  selector: MailSelector,
  mail: Pick<HeldMail, 'domain' | 'accountId' | 'emailId'>,
): boolean {
  return coversQueueKey(selector, mail) && isNullOr(selector.emailId, mail.emailId)
}

export function isAbout(selector: MailSelector, mail: HeldMail): boolean {
  return (
    mayBeAbout(selector, mail) &&
    (selector.broadcastId === null || isNullOr(selector.broadcastId, mail.email?.broadcastId ?? null)) &&
    isInTime(selector, mail) &&
    isFrom(selector, mail)
  )
}

function isInTime({ enteredBefore = null }: MailSelector, mail: HeldMail): boolean {
  return enteredBefore === null || (enteredAt(mail) ?? enteredBefore) < enteredBefore
}

/** Mail of an email that was deleted is from no domain. */
function isFrom({ senderDomain: wanted = null }: MailSelector, { email }: HeldMail): boolean {
  return wanted === null || (email !== undefined && isWithinDomain(senderDomain(email.sender), wanted))
}

export function isSameSelector(a: MailSelector, b: MailSelector): boolean {
  if ((a.enteredBefore ?? null) !== (b.enteredBefore ?? null)) return false
  if ((a.senderDomain ?? null) !== (b.senderDomain ?? null)) return false
  return a.domain === b.domain && SELECTING_IDS.every(name => isSameOrNull(a[name], b[name]))
}

const SELECTING_IDS = ['accountId', 'broadcastId', 'emailId'] as const

function isSameOrNull(a: Id | null, b: Id | null): boolean {
  return a === null || b === null ? a === b : sameId(a, b)
}

function isNullOr(wanted: Id | null, id: Id | null): boolean {
  return wanted === null || (id !== null && sameId(wanted, id))
}

/** Total length of intervals that may overlap, in ms. */
function unionMs(times: readonly (readonly [from: number, to: number])[]): number {
  let sum = 0
  let coveredTo = Number.NEGATIVE_INFINITY
  for (const [from, to] of times.toSorted((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, coveredTo))
    coveredTo = Math.max(coveredTo, to)
  }
  return sum
}
