/**
 * Members become emails, a page of them in one transaction: with its commit their emails are in the queue and
 * their page is gone, so that whatever dies, and however many processes are at it, each member is seen to
 * once.
 */

import type { Id } from '../../lib/ids.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Quota } from '../../resources/accounts/plans.ts'
import { objectionsTo } from '../../resources/contacts/objections.ts'
import { type LinkTermsIds, linkTermsFor } from '../../resources/emails/link-terms.ts'
import {
  countedForBroadcast,
  countForBroadcast,
  type SkipReason,
} from '../../resources/events/broadcast-counts.ts'
import { command, type Tx } from '../../store/command.ts'
import type { BroadcastPageRow, BroadcastRow, ContactRow } from '../../store/schema.ts'
import { ID_BYTES, idAt } from '../../store/search-index.ts'
import { takeRoom } from '../accept/quota.ts'
import { type EmailDecision, storeEmails } from '../accept/store-emails.ts'
import { broadcastFaultOf, failBroadcast } from './begin.ts'
import { type EmailTerms, emailMaker } from './emails.ts'
import { type BroadcastKey, findSendingDomain, lockBroadcast, setBroadcast } from './state.ts'

export interface ExpandInput extends BroadcastKey, EmailTerms {
  /** What the account's plan lets it send; null is any number. */
  quota: Quota | null
  linkTerms: LinkTermsIds
  /** Regions whose domains get delivery feedback. */
  feedbackRegions: string[]
  /** Why links work for nobody outside; null where they work: then only simulated mail is made. */
  linkFault: string | null
}

/**
 * Emails of one broadcast that wait in the queue, beyond which more come slowly: a queue that is far behind
 * is not buried. Never not at all, or one slow site among many would keep the others waiting.
 */
export const LOOK_AHEAD = 100_000
const SLOW_MS = 1_000
/** How often it is looked whether the last email has been handed over, at first; then rarer. */
const LOOK_MS = 500
const RAREST_LOOK_MS = 60_000

type Contact = Pick<ContactRow, 'id' | 'email' | 'firstName' | 'lastName' | 'unsubscribed' | 'properties'>

export function expandCommandsWith(lookAhead: number) {
  return {
    /** Sees to the next page of members; or tells the end. */
    expandBroadcast: command<ExpandInput, void>(
      async (tx, input) => {
        const row = await lockBroadcast(tx, input)
        if (row?.status !== 'sending' || row.countedAt === null) return
        const page = await firstPage(tx, row)
        if (!page) return endOf(tx, row, input.now)
        const fault = await broadcastFaultOf(tx, row)
        if (fault) return failBroadcast(tx, row, fault, input.now)
        const emails = await seeTo(tx, row, input, idsOf(page))
        if (!emails) return failBroadcast(tx, row, { message: input.linkFault!, isPassing: true }, input.now)
        await tx.db
          .deleteFrom('broadcastPages')
          .where('broadcastId', '=', row.id)
          .where('number', '=', page.number)
          .execute()
        const isFarAhead = (await countWaiting(tx, row)) >= lookAhead
        await setBroadcast(tx, row, {
          ...spanWith(row, emails),
          expandedCount: row.expandedCount + page.ids.length / ID_BYTES,
          nextAt: input.now + (isFarAhead ? SLOW_MS : 0),
        })
      },
      { weigh: () => WEIGHT },
    ),
  }
}

/** Of a page of emails that keep no content of their own, in usual requests. */
const WEIGHT = 100

export const expandCommands = expandCommandsWith(LOOK_AHEAD)

/** Emails of it in the queue that have not been handed over. */
function countWaiting(tx: Tx, { accountId, id: broadcastId }: BroadcastRow): Promise<number> {
  return countedForBroadcast(tx, { accountId, broadcastId }, 'status.queued')
}

/** All members have been seen to: it is sent once the last email has been handed over. */
async function endOf(tx: Tx, row: BroadcastRow, now: number): Promise<void> {
  const expandedAt = row.expandedAt ?? now
  if ((await countWaiting(tx, row)) === 0)
    return setBroadcast(tx, row, { status: 'sent', sentAt: now, expandedAt, nextAt: null, updatedAt: now })
  const waitMs = Math.min(RAREST_LOOK_MS, Math.max(LOOK_MS, (now - expandedAt) / 20))
  await setBroadcast(tx, row, { expandedAt, nextAt: now + Math.ceil(waitMs) })
}

function firstPage({ db }: Tx, { id }: BroadcastRow): Promise<BroadcastPageRow | undefined> {
  return db
    .selectFrom('broadcastPages')
    .selectAll()
    .where('broadcastId', '=', id)
    .orderBy('number')
    .limit(1)
    .executeTakeFirst()
}

function idsOf({ ids }: BroadcastPageRow): Id[] {
  return Array.from({ length: ids.length / ID_BYTES }, (_, i) => idAt(ids, i))
}

/** Several processes may make ids, each in its own order. */
function spanWith({ firstEmailId, lastEmailId }: BroadcastRow, emails: readonly Id[]) {
  const ids = [...emails, ...(firstEmailId ? [firstEmailId] : []), ...(lastEmailId ? [lastEmailId] : [])]
  const sorted = ids.sort(Buffer.compare)
  return { firstEmailId: sorted[0] ?? null, lastEmailId: sorted.at(-1) ?? null }
}

/**
 * Each gets an email, or is skipped and counted. @returns the emails; undefined, and nothing done, where
 * links would not work
 */
async function seeTo(
  tx: Tx,
  row: BroadcastRow,
  input: ExpandInput,
  ids: readonly Id[],
): Promise<Id[] | undefined> {
  const { accountId, id: broadcastId } = row
  const skip = (reason: SkipReason, count: number) =>
    countForBroadcast(tx, { accountId, broadcastId }, `skipped.${reason}`, count)
  const { willing, skipped } = await sift(tx, row, ids)
  const isSimulated = ({ email }: Contact) =>
    input.simulatorDomains.has(email.slice(email.lastIndexOf('@') + 1))
  if (input.linkFault !== null && !willing.every(isSimulated)) return undefined
  for (const [reason, count] of skipped) skip(reason, count)
  const request = { sender: { accountId }, now: input.now, quota: input.quota }
  const count = await takeRoom(tx, request, willing.length)
  skip('quota', willing.length - count)
  const decided = await decide(tx, row, input, willing.slice(0, count))
  await storeEmails(tx, decided)
  return decided.map(({ email }) => email.row.id)
}

async function decide(
  tx: Tx,
  row: BroadcastRow,
  input: ExpandInput,
  contacts: readonly Contact[],
): Promise<EmailDecision[]> {
  const domain = (await findSendingDomain(tx, row.accountId, row.sender))!
  const feedback = input.feedbackRegions.includes(domain.region)
  const linkTermsId = linkTermsFor(input.linkTerms, domain, true)
  const make = emailMaker(row, input)
  return contacts.map(contact => {
    const email = make(contact, tx.newId(input.now))
    return {
      email,
      domainId: domain.id,
      linkTermsId,
      feedback: feedback || email.simulated ? 1 : 0,
      suppressed: [null],
    }
  })
}

/** Consent is asked for now, whatever it was when the members were found. */
async function sift(
  tx: Tx,
  { accountId, audienceId, topicId }: BroadcastRow,
  ids: readonly Id[],
): Promise<{ willing: Contact[]; skipped: Map<SkipReason, number> }> {
  const found = await tx.rows.find(
    'contacts',
    ids.map(id => ({ audienceId, id })),
    ['id', 'email', 'firstName', 'lastName', 'unsubscribed', 'properties'],
  )
  const contacts = found.filter(contact => contact !== undefined)
  const [suppressions, objectionOf] = await Promise.all([
    tx.rows.find(
      'suppressions',
      contacts.map(({ email }) => ({ accountId, email: foldAddress(email) })),
      ['id'],
    ),
    objectionsTo(
      tx,
      { accountId, topicId },
      contacts.map(({ id }) => id),
    ),
  ])
  const skipped = new Map<SkipReason, number>([['deleted', ids.length - contacts.length]])
  const willing = contacts.filter((contact, i) => {
    const reason = objectionOf(contact) ?? (suppressions[i] ? 'suppressed' : undefined)
    if (reason) skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
    return reason === undefined
  })
  return { willing, skipped }
}
