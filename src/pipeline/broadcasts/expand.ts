/**
 * Makes an email for each member of a broadcast, one page of members per transaction. The transaction queues
 * the emails and deletes the page, so that each member gets one email, even after a crash and with several
 * processes.
 */

import type { Id } from '../../lib/ids.ts'
import { domainOf, foldAddress } from '../../protocols/smtp/address.ts'
import type { Quota } from '../../resources/accounts/plans.ts'
import { objectionsTo } from '../../resources/contacts/objections.ts'
import { type LinkTermsIds, linkTermsFor } from '../../resources/emails/link-terms.ts'
import { countedForBroadcast } from '../../resources/events/broadcast-counts.ts'
import { recordSkipped, type SkippedMember } from '../../resources/events/broadcast-outcomes.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { BroadcastPageRow, BroadcastRow, ContactRow } from '../../store/model/schema.ts'
import { ID_BYTES, idAt } from '../../store/model/search-index.ts'
import { takeRoom } from '../accept/quota.ts'
import { type EmailDecision, storeEmails } from '../accept/store-emails.ts'
import { broadcastFaultOf, failBroadcast } from './begin.ts'
import { type EmailTerms, emailMaker } from './emails.ts'
import { delayAfter, portionOf } from './rate.ts'
import { type BroadcastKey, findSendingDomain, lockBroadcast, setBroadcast } from './state.ts'

export interface ExpandInput extends BroadcastKey, EmailTerms {
  /** Quota of the account's plan; null is unlimited. */
  quota: Quota | null
  linkTerms: LinkTermsIds
  /** Regions whose domains get delivery feedback. */
  feedbackRegions: string[]
  /**
   * Reason that links do not work outside of this machine; only simulated mail is made then. Null if they
   * work.
   */
  linkFault: string | null
}

/**
 * Number of queued emails of one broadcast from which pages are expanded slowly, so that the queue does not
 * grow without need. Expansion never stops, or one slow destination would delay all others.
 */
export const QUEUED_EMAILS_SLOW_MIN = 100_000
/** Delay between two pages while expansion is slow. */
const SLOW_PAGE_DELAY_MS = 1_000
/** Delay between two checks whether the last email has been handed over; it grows with the time waited. */
const COMPLETION_CHECK_MS_MIN = 500
const COMPLETION_CHECK_MS_MAX = 60_000

type Contact = Pick<ContactRow, 'id' | 'email' | 'firstName' | 'lastName' | 'unsubscribed' | 'properties'>

export function expandCommandsWith(slowFrom: number) {
  return {
    /**
     * Expands the next page of members, or a portion of it. After the last page, marks the broadcast as sent
     * once it is.
     */
    expandBroadcast: command<ExpandInput, void>(
      async (tx, input) => {
        const row = await lockBroadcast(tx, input)
        if (row?.status !== 'sending' || row.countedAt === null) return
        const { emailsPerHour } = row
        // another process may have made this portion already
        if (emailsPerHour !== null && row.nextAt !== null && row.nextAt > input.now) return
        const page = await firstPage(tx, row)
        if (!page) return complete(tx, row, input.now)
        const fault = await broadcastFaultOf(tx, row)
        if (fault) return failBroadcast(tx, row, fault, input.now)
        const all = idsOf(page)
        const ids = all.slice(0, portionOf(all.length, emailsPerHour))
        const emails = await expandPage(tx, row, input, ids)
        if (!emails)
          return failBroadcast(tx, row, { message: input.linkFault!, isTemporary: true }, input.now)
        await keepRest(tx, page, all.slice(ids.length))
        const isFarAhead = (await countQueued(tx, row)) >= slowFrom
        await setBroadcast(tx, row, {
          ...spanWith(row, emails),
          expandedCount: row.expandedCount + ids.length,
          nextAt:
            input.now +
            Math.max(isFarAhead ? SLOW_PAGE_DELAY_MS : 0, delayAfter(emails.length, emailsPerHour)),
        })
      },
      { weigh: () => WEIGHT },
    ),
  }
}

/** Weight of the command: a page of emails that share content costs as much as 100 usual requests. */
const WEIGHT = 100

export const expandCommands = expandCommandsWith(QUEUED_EMAILS_SLOW_MIN)

/** Returns the number of its emails in the queue that have not been handed over. */
function countQueued(tx: Tx, { accountId, id: broadcastId }: BroadcastRow): Promise<number> {
  return countedForBroadcast(tx, { accountId, broadcastId }, 'status.queued')
}

/** Runs after the last page. The broadcast is sent once its last email has been handed over. */
async function complete(tx: Tx, row: BroadcastRow, now: number): Promise<void> {
  const expandedAt = row.expandedAt ?? now
  if ((await countQueued(tx, row)) === 0)
    return setBroadcast(tx, row, { status: 'sent', sentAt: now, expandedAt, nextAt: null, updatedAt: now })
  const waitMs = Math.min(COMPLETION_CHECK_MS_MAX, Math.max(COMPLETION_CHECK_MS_MIN, (now - expandedAt) / 20))
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

/** Deletes a page, or keeps the members that the rate of the broadcast leaves for later. */
async function keepRest(
  { db, rows }: Tx,
  { broadcastId, number }: BroadcastPageRow,
  rest: readonly Id[],
): Promise<void> {
  if (rest.length > 0)
    return rows.update(
      'broadcastPages',
      ['broadcastId', 'number'],
      [{ broadcastId, number, ids: Buffer.concat(rest) }],
    )
  await db
    .deleteFrom('broadcastPages')
    .where('broadcastId', '=', broadcastId)
    .where('number', '=', number)
    .execute()
}

function idsOf({ ids }: BroadcastPageRow): Id[] {
  return Array.from({ length: ids.length / ID_BYTES }, (_, i) => idAt(ids, i))
}

/** First and last id of all emails. Ids are not ascending when several processes make them. */
function spanWith({ firstEmailId, lastEmailId }: BroadcastRow, emails: readonly Id[]) {
  const ids = [...emails, ...(firstEmailId ? [firstEmailId] : []), ...(lastEmailId ? [lastEmailId] : [])]
  const sorted = ids.sort(Buffer.compare)
  return { firstEmailId: sorted[0] ?? null, lastEmailId: sorted.at(-1) ?? null }
}

/**
 * Makes an email for each member, or records the member as skipped.
 * @returns the ids of the emails; undefined if links would not work, in which case nothing is done
 */
async function expandPage(
  tx: Tx,
  row: BroadcastRow,
  input: ExpandInput,
  ids: readonly Id[],
): Promise<Id[] | undefined> {
  const { accountId, id: broadcastId } = row
  const { eligible, skipped } = await selectEligible(tx, row, ids)
  const isSimulated = ({ email }: Contact) => input.simulatorDomains.has(domainOf(email))
  if (input.linkFault !== null && !eligible.every(isSimulated)) return undefined
  const request = { sender: { accountId }, now: input.now, quota: input.quota }
  const count = await takeRoom(tx, request, eligible.length)
  skipped.push(...eligible.slice(count).map(({ email }) => ({ email, reason: 'quota' as const })))
  await recordSkipped(tx, { accountId, broadcastId }, skipped, input.now)
  const decided = await makeEmails(tx, row, input, eligible.slice(0, count))
  await storeEmails(tx, decided)
  return decided.map(({ email }) => email.row.id)
}

async function makeEmails(
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

/** Checks consent at the time of expansion, not at the time at which the members were found. */
async function selectEligible(
  tx: Tx,
  { accountId, audienceId, topicId }: BroadcastRow,
  ids: readonly Id[],
): Promise<{ eligible: Contact[]; skipped: SkippedMember[] }> {
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
  const skipped: SkippedMember[] = found
    .filter(contact => contact === undefined)
    .map(() => ({ email: null, reason: 'deleted' }))
  const eligible = contacts.filter((contact, i) => {
    const reason = objectionOf(contact) ?? (suppressions[i] ? 'suppressed' : undefined)
    if (reason) skipped.push({ email: contact.email, reason })
    return reason === undefined
  })
  return { eligible, skipped }
}
