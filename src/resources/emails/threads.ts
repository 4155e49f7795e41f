/**
 * Conversations: received messages and emails of one account that refer to each other by their Message-ID,
 * In-Reply-To and References fields (RFC 5322 §3.6.4). A message joins one conversation when it is stored,
 * and stays in it: conversations are never merged, so that no message can cost more than a few look-ups.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Id, idKey } from '../../lib/ids.ts'
import type { Tx } from '../../store/model/command.ts'
import type { EmailRow } from '../../store/model/schema/emails.ts'
import type { ThreadMessageRow } from '../../store/model/schema/inbound.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import { messageIdOf } from './email-rows.ts'

/** What a message tells about its conversation. Message ids are hashed to keys of 16 bytes. */
export interface ThreadRefs {
  /** Key of its Message-ID; null without a legible one. */
  own: Uint8Array | null
  /** Keys of the messages that it may answer, the most likely one first. */
  parents: Uint8Array[]
  /** Key of the message that began the conversation; null if it refers to no other. */
  root: Uint8Array | null
}

/** A message that joins a conversation. */
interface Joining {
  accountId: Id
  id: Id
  refs: ThreadRefs
}

type SentEmail = Pick<EmailRow, 'accountId' | 'id' | 'headers' | 'messageId' | 'sender'>

const MESSAGE_ID = /<[^<>\s]{1,250}>/g
/** Limit of message ids that are looked up, since a stranger decides how many there are. */
const PARENTS_MAX = 20
/** Limit of messages of a conversation that are read, and that are counted. */
export const THREAD_MESSAGES_MAX = 100
const KEY_BYTES = 16
/** Matches stored headers with a field that refers to another message. */
const REFERRING = /"(?:in-reply-to|references)"/i

export const NO_REFS: ThreadRefs = { own: null, parents: [], root: null }

export function threadRefs(
  headers: readonly (readonly [name: string, value: string])[],
  messageId: string | null,
): ThreadRefs {
  const idsIn = (wanted: string) =>
    headers.find(([name]) => name.toLowerCase() === wanted)?.[1].match(MESSAGE_ID) ?? []
  const answered = idsIn('in-reply-to')
  const references = idsIn('references')
  const nearest = [...answered.slice(0, PARENTS_MAX), ...references.slice(-PARENTS_MAX).reverse()]
  const root = references[0] ?? answered[0]
  return {
    own: messageKey(messageId),
    parents: [...new Set(nearest)].slice(0, PARENTS_MAX).map(keyOf),
    root: root === undefined ? null : keyOf(root),
  }
}

/** Returns the key of a Message-ID with angle brackets; null for anything else. */
export function messageKey(messageId: string | null): Uint8Array | null {
  const [id] = messageId?.match(MESSAGE_ID) ?? []
  return id === undefined ? null : keyOf(id)
}

function keyOf(id: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(id).digest().subarray(0, KEY_BYTES))
}

/**
 * Adds a received message to the conversation of a message that it refers to, or begins one.
 *
 * @param answered emails of the account that it may answer, which join the same conversation unless they are
 * in one
 */
export async function joinThread(
  { rows }: Tx,
  message: Joining,
  answered: readonly Pick<EmailRow, 'id' | 'messageId' | 'sender'>[],
): Promise<void> {
  const { accountId, id, refs } = message
  const [known] = await threadsOf(rows.find, [message])
  const thread = known ?? refs.root ?? refs.own ?? id
  const inThreads = await rows.find(
    'threadMessages',
    answered.map(email => ({ accountId, id: email.id })),
    ['id'],
  )
  const joining = answered.filter((_, i) => inThreads[i] === undefined)
  await rows.insert('threadMessages', [
    { accountId, id, thread, message: refs.own },
    ...joining.map(email => ({
      accountId,
      id: email.id,
      thread,
      message: messageKey(messageIdOf(email)),
    })),
  ])
}

/** Adds those of the new emails to conversations that refer to a message in one. */
export async function joinKnownThreads({ rows }: Tx, emails: readonly SentEmail[]): Promise<void> {
  const referring = emails.flatMap(({ accountId, id, headers, ...email }) => {
    if (headers === null || !REFERRING.test(headers)) return []
    const refs = threadRefs(JSON.parse(headers) as [string, string][], messageIdOf({ id, ...email }))
    return [{ accountId, id, refs }]
  })
  const threads = await threadsOf(rows.find, referring)
  const joining = referring.flatMap(({ accountId, id, refs }, i): ThreadMessageRow[] => {
    const thread = threads[i]
    return thread ? [{ accountId, id, thread, message: refs.own }] : []
  })
  await rows.insert('threadMessages', joining)
}

/** Returns for each message the conversation of the first message that it refers to and that is in one. */
async function threadsOf(find: Find, messages: readonly Joining[]): Promise<(Uint8Array | undefined)[]> {
  const keys = messages.flatMap(({ accountId, refs }) =>
    refs.parents.map(message => ({ accountId, message })),
  )
  const found = (await find('threadMessages', keys, ['thread'])).map(row => row?.thread)
  return messages.map(({ refs }) => found.splice(0, refs.parents.length).find(thread => thread !== undefined))
}

/** Returns the number of messages in the conversation of each message, at most `THREAD_MESSAGES_MAX`. */
export async function countThreads(db: Db, accountId: Id, ids: readonly Id[]): Promise<number[]> {
  if (ids.length === 0) return []
  const counted = await db
    .selectFrom('threadMessages as own')
    .select(['own.id', countOf.as('count')])
    .where('own.accountId', '=', accountId)
    .where('own.id', 'in', ids)
    .execute()
  const counts = new Map(counted.map(({ id, count }) => [idKey(id), Number(count)]))
  return ids.map(id => counts.get(idKey(id)) ?? 1)
}

/** Counts no further than the limit, since a stranger decides how long a conversation is. */
const countOf = sql<number>`(select count(*) from (
  select 1 from thread_messages as one
  where one.account_id = own.account_id and one.thread = own.thread limit ${sql.lit(THREAD_MESSAGES_MAX)}) as counted)`
