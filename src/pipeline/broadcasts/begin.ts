/**
 * The commands that start a due broadcast: the first fixes its content, the second finds its members. Later
 * changes of the segment, the template or the draft have no effect.
 */

import type { Id } from '../../lib/ids.ts'
import { audienceMembers, type MemberPage, segmentMembers } from '../../resources/contacts/members.ts'
import type { EncodedContent } from '../../resources/emails/content.ts'
import { shareContent } from '../../resources/emails/content-rows.ts'
import { senderDomain } from '../../resources/emails/email-rows.ts'
import { command, type Tx } from '../../store/model/command.ts'
import type { BroadcastRow, Json } from '../../store/model/schema.ts'
import { type BroadcastKey, findSendingDomain, lockBroadcast, setBroadcast } from './state.ts'

interface BeginInput extends BroadcastKey {
  now: number
  /** Content that `sent` was made from. If the broadcast has changed meanwhile, the command does nothing. */
  contentId: number
  previewText: string | null
  /** Content shared by all emails; null when it equals the content that the author has written. */
  sent: EncodedContent | null
  /** Subject shared by all emails; null when it equals the written one. */
  sentSubject: string | null
  /** Names of the variables whose values each email stores, as JSON. */
  variables: Json | null
}

/** Members whose emails are made in one transaction. */
const MEMBERS_PER_PAGE = 250
/** Members that one command finds at most. */
const MEMBERS_PER_COMMAND_MAX = 1_000

export const beginCommands = {
  /** Starts a broadcast that is due, or fails it when its audience, segment, topic or domain is missing. */
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
      undoUntil: null,
      startedAt: row.startedAt ?? now,
      sentContentId: await contentOf(tx, row, sent),
      sentSubject,
      variables,
      filters: segment?.filters ?? null,
      toContactId: await lastContactOf(tx, row.audienceId),
      nextAt: now,
    })
  }),

  /** Finds the next members and stores them in pages. */
  findMembers: command<BroadcastKey & { now: number }, void>(async (tx, input) => {
    const row = await lockBroadcast(tx, input)
    if (row?.status !== 'sending' || row.sentContentId === null || row.countedAt !== null) return
    const fault = await broadcastFaultOf(tx, row)
    if (fault) return failBroadcast(tx, row, fault, input.now)
    const page = await membersAfter(tx, row, input.now)
    const ids = page.members.map(({ id }) => id).filter(id => order(id, row.toContactId) <= 0)
    await storePages(tx, input.id, ids)
    const isLast = page.next === null || order(page.next, row.toContactId) >= 0
    await setBroadcast(tx, input, {
      lastContactId: page.next,
      memberCount: row.memberCount + ids.length,
      countedAt: isLast ? input.now : null,
      nextAt: input.now,
    })
  }),
}

/** Reason for which a broadcast cannot continue. */
interface Fault {
  /** Message for the account. */
  message: string
  /** Whether the cause can be fixed, and the broadcast resumed. */
  isTemporary: boolean
}

/** Runs inside a command. No further emails are made unless it is resumed; queued emails are still sent. */
export async function failBroadcast(
  tx: Tx,
  key: BroadcastKey,
  { message, isTemporary }: Fault,
  now: number,
): Promise<void> {
  if (!isTemporary) await tx.db.deleteFrom('broadcastPages').where('broadcastId', '=', key.id).execute()
  await setBroadcast(tx, key, {
    status: 'failed',
    error: message,
    undoUntil: null,
    nextAt: null,
    updatedAt: now,
  })
}

/** Why the broadcast cannot be sent now; undefined when it can. */
export async function broadcastFaultOf(tx: Tx, row: BroadcastRow): Promise<Fault | undefined> {
  const missing = await missingPartOf(tx, row)
  if (missing) return { message: missing, isTemporary: false }
  if (await findSendingDomain(tx, row.accountId, row.sender)) return undefined
  const name = senderDomain(row.sender)
  return { message: `The ${name} domain is no longer verified.`, isTemporary: true }
}

/** Message that names a deleted audience, segment or topic; undefined when all exist. */
async function missingPartOf(tx: Tx, row: BroadcastRow): Promise<string | undefined> {
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

/** Compares contact ids; null sorts before every id. */
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

function membersAfter({ db }: Tx, row: BroadcastRow, now: number): Promise<MemberPage> {
  const { audienceId, filters, lastContactId, startedAt } = row
  return filters === null
    ? audienceMembers(db, { id: audienceId }, lastContactId, MEMBERS_PER_COMMAND_MAX)
    : segmentMembers(db, { audienceId, filters }, startedAt ?? now, lastContactId, MEMBERS_PER_COMMAND_MAX)
}

async function storePages({ db, rows }: Tx, broadcastId: Id, ids: readonly Id[]): Promise<void> {
  const last = await db
    .selectFrom('broadcastPages')
    .select('number')
    .where('broadcastId', '=', broadcastId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()
  let number = last?.number ?? 0
  for (let at = 0; at < ids.length; at += MEMBERS_PER_PAGE)
    await rows.insert('broadcastPages', [
      { broadcastId, number: ++number, ids: Buffer.concat(ids.slice(at, at + MEMBERS_PER_PAGE)) },
    ])
}
