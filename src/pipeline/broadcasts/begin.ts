/**
 * The beginning of a sending: what the emails say and who is a member are settled. From then on nobody's
 * change of the segment, the template or the draft counts.
 */

import type { Id } from '../../lib/ids.ts'
import { audienceMembers, type MemberPage, segmentMembers } from '../../resources/contacts/members.ts'
import type { EncodedContent } from '../../resources/emails/content.ts'
import { shareContent } from '../../resources/emails/content-rows.ts'
import { command, type Tx } from '../../store/command.ts'
import type { BroadcastRow, Json } from '../../store/schema.ts'
import { type BroadcastKey, domainOf, findSendingDomain, lockBroadcast, setBroadcast } from './state.ts'

interface BeginInput extends BroadcastKey {
  now: number
  /** Of which `sent` was made: it may have been changed meanwhile, and is begun with what it says then. */
  contentId: number
  previewText: string | null
  /** What its emails have in common; null where that is what its author has written. */
  sent: EncodedContent | null
  /** Its subject, likewise. */
  sentSubject: string | null
  /** Names of values that each email keeps, JSON. */
  variables: Json | null
}

/** Members who are seen to together: one transaction each. */
const PAGE_MEMBERS = 250
/** Members looked for by one command. */
const FOUND_AT_ONCE = 1_000

export const beginCommands = {
  /** A broadcast that is due begins, or fails when what it is about is gone. */
  beginBroadcast: command<BeginInput, void>(async (tx, input) => {
    const { now, sent, sentSubject, variables } = input
    const row = await lockBroadcast(tx, input)
    const isDue = row?.status === 'scheduled' || (row?.status === 'sending' && row.sentContentId === null)
    if (!row || !isDue || row.nextAt === null || row.nextAt > now) return
    if (row.contentId !== input.contentId || row.previewText !== input.previewText) return
    const fault = await broadcastFaultOf(tx, row)
    if (fault) return failBroadcast(tx, row, fault, now)
    const [segment] = row.segmentId
      ? await tx.rows.find('segments', [{ audienceId: row.audienceId, id: row.segmentId }], ['filters'])
      : []
    await setBroadcast(tx, input, {
      status: 'sending',
      startedAt: row.startedAt ?? now,
      sentContentId: await contentOf(tx, row, sent),
      sentSubject,
      variables,
      filters: segment?.filters ?? null,
      toContactId: await lastContactOf(tx, row.audienceId),
      nextAt: now,
    })
  }),

  /** Finds some more of its members, and keeps them in pages. */
  findMembers: command<BroadcastKey & { now: number }, void>(async (tx, input) => {
    const row = await lockBroadcast(tx, input)
    if (row?.status !== 'sending' || row.sentContentId === null || row.countedAt !== null) return
    const fault = await broadcastFaultOf(tx, row)
    if (fault) return failBroadcast(tx, row, fault, input.now)
    const page = await membersAfter(tx, row)
    const ids = page.members.map(({ id }) => id).filter(id => order(id, row.toContactId) <= 0)
    await keepPages(tx, input.id, ids)
    const isLast = page.next === null || order(page.next, row.toContactId) >= 0
    await setBroadcast(tx, input, {
      lastContactId: page.next,
      memberCount: row.memberCount + ids.length,
      countedAt: isLast ? input.now : null,
      nextAt: input.now,
    })
  }),
}

/** Why a broadcast cannot go on. */
interface Fault {
  /** As its account reads it. */
  message: string
  /** It may be mended, and the broadcast resumed. */
  isPassing: boolean
}

/** Part of a command: nothing more of it is sent, unless it is resumed; what is in the queue goes its way. */
export async function failBroadcast(
  tx: Tx,
  key: BroadcastKey,
  { message, isPassing }: Fault,
  now: number,
): Promise<void> {
  if (!isPassing) await tx.db.deleteFrom('broadcastPages').where('broadcastId', '=', key.id).execute()
  await setBroadcast(tx, key, { status: 'failed', error: message, nextAt: null, updatedAt: now })
}

/** Why it cannot be sent now. */
export async function broadcastFaultOf(tx: Tx, row: BroadcastRow): Promise<Fault | undefined> {
  const gone = await goneOf(tx, row)
  if (gone) return { message: gone, isPassing: false }
  if (await findSendingDomain(tx, row.accountId, row.sender)) return undefined
  const name = domainOf(row.sender)
  return { message: `The ${name} domain is no longer verified.`, isPassing: true }
}

/** What of all that it is about has been deleted. */
async function goneOf(tx: Tx, row: BroadcastRow): Promise<string | undefined> {
  const { accountId, audienceId, segmentId, topicId } = row
  const [audience] = await tx.rows.find('audiences', [{ accountId, id: audienceId }], ['id'])
  if (!audience) return 'Its audience has been deleted.'
  if (segmentId && row.sentContentId === null) {
    const [segment] = await tx.rows.find('segments', [{ audienceId, id: segmentId }], ['id'])
    if (!segment) return 'Its segment has been deleted.'
  }
  const [topic] = topicId ? await tx.rows.find('topics', [{ accountId, id: topicId }], ['id']) : []
  return topicId && !topic ? 'Its topic has been deleted.' : undefined
}

async function contentOf(tx: Tx, { contentId }: BroadcastRow, sent: EncodedContent | null): Promise<number> {
  if (!sent) {
    await shareContent(tx, contentId)
    return contentId
  }
  const [id] = await tx.rows.reserve('contents', 1)
  await tx.rows.insert('contents', [{ id: id!, ...sent, refs: 1 }])
  return id!
}

/** No contact comes before nobody. */
function order(id: Id, last: Id | null): number {
  return last === null ? 1 : Buffer.compare(id, last)
}

async function lastContactOf({ db }: Tx, audienceId: Id): Promise<Id | null> {
  const last = await db
    .selectFrom('contacts')
    .select('id')
    .where('audienceId', '=', audienceId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.id ?? null
}

function membersAfter({ db }: Tx, row: BroadcastRow): Promise<MemberPage> {
  const { audienceId, filters, lastContactId } = row
  return filters === null
    ? audienceMembers(db, { id: audienceId }, lastContactId, FOUND_AT_ONCE)
    : segmentMembers(db, { audienceId, filters }, lastContactId, FOUND_AT_ONCE)
}

async function keepPages({ db, rows }: Tx, broadcastId: Id, ids: readonly Id[]): Promise<void> {
  const last = await db
    .selectFrom('broadcastPages')
    .select('number')
    .where('broadcastId', '=', broadcastId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  let number = last?.number ?? 0
  for (let at = 0; at < ids.length; at += PAGE_MEMBERS)
    await rows.insert('broadcastPages', [
      { broadcastId, number: ++number, ids: Buffer.concat(ids.slice(at, at + PAGE_MEMBERS)) },
    ])
}
